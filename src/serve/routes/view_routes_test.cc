// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "analysis/filtered_views.h"
#include "render/report_text.h"
#include "serve/testing/page_site.h"

namespace fathom::serve {
namespace {

using nlohmann::json;

json told(const Response& response) {
  EXPECT_EQ(response.status, 200) << response.body.text;
  json value = json::parse(response.body.text, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(value.is_discarded()) << response.body.text;
  return value;
}

std::string header(const Response& response, const std::string& name) {
  for (const Header& one : response.headers) {
    if (one.name == name) return one.value;
  }
  return "";
}

class ViewRoutes : public ::testing::Test {
 protected:
  Response query(const std::string& sql, const std::string& recording = "", int limit = -1) {
    json body = {{"sql", sql}};
    if (!recording.empty()) body["recording"] = recording;
    if (limit >= 0) body["limit"] = limit;
    return site_.ask("POST", "/api/v1/query", body.dump());
  }
  PageSite site_;
};

TEST_F(ViewRoutes, ThePageListsEveryRecording) {
  const json page = told(site_.ask("GET", "/api/v1/page"));
  EXPECT_EQ(page["mode"], "view");
  std::vector<std::string> ids;
  for (const json& one : page["recordings"]) ids.push_back(one["id"]);
  EXPECT_EQ(ids, (std::vector<std::string>{"run", "many", "many/<b>", "many/a"}));
  const json& run = page["recordings"][0];
  EXPECT_EQ(run["command"], (json{"work", "--fast"}));
  EXPECT_EQ(run["state"], "complete");
  EXPECT_EQ(run["wall_ns"], 1'000'000);
  EXPECT_EQ(run["hosts"], json{"here"});
  EXPECT_EQ(page["recordings"][1]["hosts"].size(), 2U);
  EXPECT_EQ(page["recordings"][3]["lost"][0]["count"], 3);
  EXPECT_GT(page["limits"]["timeout_ms"], 0);
  EXPECT_EQ(page["layers"][0], (json{{"name", "app"}, {"light", "#f0b429"}, {"dark", "#d99a00"}}));
}

TEST_F(ViewRoutes, AReportIsWhatTheCommandPrints) {
  Result<analysis::Store> store = analysis::Store::open(site_.path("run"));
  ASSERT_TRUE(store);
  const Result<const analysis::ViewDef*> view =
      analysis::choose_view("functions", {.by = {"name"}});
  ASSERT_TRUE(view);
  const Result<analysis::Report> report = analysis::make_report(**view, *store, {.by = {"name"}});
  ASSERT_TRUE(report);
  EXPECT_EQ(site_.ask("GET", "/api/v1/report/functions?by=name").body.text,
            render::report_text(*report, render::Format::kJson, {}));
  EXPECT_EQ(site_.ask("GET", "/api/v1/report/functions?by=name&recording=run").body.text,
            site_.ask("GET", "/api/v1/report/functions?by=name").body.text);
}

TEST_F(ViewRoutes, AReportOfAPartTellsOfThePart) {
  const std::string all = site_.ask("GET", "/api/v1/report/functions").body.text;
  const json part = told(site_.ask("GET", "/api/v1/report/functions?layers=app"));
  EXPECT_EQ(part.dump().find("pread"), std::string::npos);
  EXPECT_NE(all.find("pread"), std::string::npos);
  for (int again = 0; again < 2; ++again)
    EXPECT_EQ(site_.ask("GET", "/api/v1/report/functions?tid=1234567").status, 200);
  const json where = told(site_.ask("GET", "/api/v1/report/functions?where=name+%3D+'write'"));
  EXPECT_EQ(where.dump().find("pread"), std::string::npos);
  EXPECT_EQ(site_.ask("GET", "/api/v1/report/functions").body.text, all) << "the whole stays whole";
}

TEST_F(ViewRoutes, WhatCannotBeMeantIsRefused) {
  const struct {
    const char* target;
    int status;
  } cases[] = {
      {"/api/v1/report/nothing", 404},
      {"/api/v1/report/functions?by=nothing", 400},
      {"/api/v1/report/functions?top=x", 400},
      {"/api/v1/report/functions?pid=1,x", 400},
      {"/api/v1/report/functions?from=1.5", 400},
      {"/api/v1/report/functions?from=2&to=1", 400},
      {"/api/v1/report/functions?layers=nothing", 400},
      {"/api/v1/report/functions?where=1)+OR+(1", 400},
      {"/api/v1/report/functions?where=name+%3D+(SELECT+content+FROM+read_text('/etc/passwd'))",
       403},
      {"/api/v1/report/functions?recording=..%2Frun", 404},
      {"/api/v1/report/functions?recording=%2Fetc", 404},
      {"/api/v1/export?format=nothing", 400},
      {"/api/v1/export?format=alnair", 400},
      {"/api/v1/export?format=csv&where=no_such_column", 400},
      {"/api/v1/export?format=csv&where=1)%20OR%20(1", 400},
      {"/api/v1/export?format=csv&table=counters&where=true", 400},
      {"/api/v1/schema?recording=ghost", 404}};
  for (const auto& c : cases) {
    const Response response = site_.ask("GET", c.target);
    EXPECT_EQ(response.status, c.status) << c.target << " " << response.body.text;
    EXPECT_TRUE(json::parse(response.body.text).contains("error"));
  }
}

TEST_F(ViewRoutes, AQuestionIsAnsweredWithTypes) {
  const json answer =
      told(query("SELECT name, count(*) AS n FROM events GROUP BY name ORDER BY n"));
  EXPECT_EQ(answer["columns"], json::parse(R"([{"name":"name","type":"VARCHAR"},
                                               {"name":"n","type":"BIGINT"}])"));
  EXPECT_EQ(answer["rows"].back(), json::parse(R"(["pread",100])"));
  EXPECT_EQ(answer["truncated"], false);
  const json cut = told(query("FROM events;", "run", 5));
  EXPECT_EQ(cut["rows"].size(), 5U);
  EXPECT_EQ(cut["truncated"], true);
  EXPECT_EQ(told(query("FROM events", "many"))["rows"].size(), 206U);
  EXPECT_EQ(told(query("FROM events WHERE false"))["rows"], json::array());
}

TEST_F(ViewRoutes, NumbersThatAScriptWouldRoundAreTexts) {
  const json answer =
      told(query("SELECT 9007199254740992, 9007199254740993, -9007199254740993, "
                 "CAST(18446744073709551615 AS UBIGINT), [9007199254740993], {'a': "
                 "9007199254740993}, 0.5, NULL"));
  EXPECT_EQ(answer["rows"][0], json::parse(R"([9007199254740992, "9007199254740993",
    "-9007199254740993", "18446744073709551615", ["9007199254740993"], {"a": "9007199254740993"},
    0.5, null])"));
}

TEST_F(ViewRoutes, StatementsThatDoMoreThanAskAreRefused) {
  for (const char* sql :
       {"COPY events TO '/tmp/x.csv'", "CREATE TABLE t AS SELECT 1", "DROP VIEW events",
        "SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM '/etc/passwd'",
        "ATTACH '/tmp/x.db'", "INSTALL httpfs", "SET memory_limit = '1TB'", "SELECT 1; SELECT 2",
        "PRAGMA database_list", "nonsense", ""}) {
    const Response response = query(sql);
    EXPECT_GE(response.status, 400) << sql;
    EXPECT_LT(response.status, 404) << sql << response.body.text;
  }
  for (const char* body : {"", "{", "[]", R"({"sql":1})", R"({"sql":"SELECT 1","x":1})",
                           R"({"sql":"SELECT 1","limit":-1})", R"({"sql":"SELECT 1","limit":1.5})"})
    EXPECT_EQ(site_.ask("POST", "/api/v1/query", body).status, 400) << body;
}

constexpr char kForYears[] =
    "SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c WHERE "
    "a.range * b.range % 7 = c.range % 11";

TEST(ViewLimits, AQuestionThatTakesTooLongIsEnded) {
  PageSite site({.timeout_ns = 5'000'000'000});
  const Response response = site.ask("POST", "/api/v1/query", json{{"sql", kForYears}}.dump());
  EXPECT_EQ(response.status, 408) << response.body.text;
  EXPECT_EQ(told(site.ask("POST", "/api/v1/query", R"({"sql":"SELECT 1"})"))["rows"][0][0], 1);
}

// A part takes a pass over its events before anything can be asked of it.
TEST(ViewLimits, APartThatTakesTooLongSaysWhatToDo) {
  PageSite site({.timeout_ns = 2'000'000'000});
  const std::string where =
      "&where=(SELECT+count(*)+FROM+range(1000000)+a,range(1000000)+b,range(1000000)+c+WHERE+"
      "a.range*b.range%257=c.range%2511)%3Edur";
  for (const char* target : {"report/functions?top=1", "heatmap?bins=1", "export?format=csv"}) {
    const Response response = site.ask("GET", "/api/v1/" + std::string(target) + where);
    EXPECT_EQ(response.status, 408) << target << response.body.text;
    EXPECT_NE(response.body.text.find("--timeout"), std::string::npos) << response.body.text;
    EXPECT_EQ(header(response, "Retry-After"), "") << "another try would not help";
  }
  // The index of a part is made in the background.
  Response flame;
  do {
    flame = site.ask("GET", "/api/v1/flame?weight=time" + where);
  } while (flame.status == 503);
  EXPECT_EQ(flame.status, 408) << flame.body.text;
}

TEST(ViewLimits, AQuestionEndsWhenItsClientGoes) {
  PageSite site;
  site.gone = std::make_shared<std::atomic<bool>>(false);
  std::thread leaves([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    *site.gone = true;
  });
  EXPECT_EQ(site.ask("POST", "/api/v1/query", json{{"sql", kForYears}}.dump()).status, 503);
  leaves.join();
}

TEST(ViewLimits, QuestionsWaitForTheirTurn) {
  PageSite site({.timeout_ns = 2'000'000'000, .at_once = 1, .waiting = 1});
  std::atomic<int> busy = 0;
  const auto ask = [&] {
    const int status = site.ask("POST", "/api/v1/query", json{{"sql", kForYears}}.dump()).status;
    busy += status == 503 ? 1 : 0;
  };
  std::vector<std::thread> askers;
  for (int i = 0; i < 4; ++i) askers.emplace_back(ask);
  for (std::thread& asker : askers) asker.join();
  EXPECT_GE(busy, 1);
}

TEST(ViewLimits, AnAnswerHasAtMostSoManyRows) {
  PageSite site({.rows = 10});
  const json answer =
      told(site.ask("POST", "/api/v1/query", R"({"sql":"FROM events","limit":1000})"));
  EXPECT_EQ(answer["rows"].size(), 10U);
  EXPECT_EQ(answer["truncated"], true);
}

TEST_F(ViewRoutes, ARecordingThatHasGrownIsReadAgain) {
  EXPECT_EQ(told(query("SELECT count(*) FROM events", "many"))["rows"][0][0], 206);
  ASSERT_TRUE(analysis::testing::write_sample(site_.path("many/c"), {.host = "c"}));
  EXPECT_EQ(told(query("SELECT count(*) FROM events", "many"))["rows"][0][0], 309);
  EXPECT_EQ(told(site_.ask("GET", "/api/v1/page"))["recordings"].size(), 5U);
  EXPECT_EQ(told(query("SELECT count(*) FROM events", "many/c"))["rows"][0][0], 103);
}

TEST_F(ViewRoutes, TheSchemaNamesWhatSqlMay) {
  const json schema = told(site_.ask("GET", "/api/v1/schema"));
  std::map<std::string, json> views;
  for (const json& view : schema) views[view["view"]] = view["columns"];
  ASSERT_TRUE(views.contains("events"));
  EXPECT_EQ(views["events"][0]["help"], "when it began");
  for (const auto& [name, columns] : views) {
    for (const json& column : columns)
      EXPECT_NE(column["help"], "") << name << "." << column["name"];
  }
  EXPECT_EQ(views["events"][0]["type"], "BIGINT");
  for (const auto& [name, columns] : views)
    EXPECT_EQ(query("FROM \"" + name + "\" LIMIT 1").status, 200) << name;
}

TEST_F(ViewRoutes, AnExportIsAFile) {
  const Response file = site_.ask("GET", "/api/v1/export?format=csv&recording=many%2F%3Cb%3E");
  ASSERT_EQ(file.status, 200) << file.body.text;
  EXPECT_EQ(header(file, "Content-Disposition"), "attachment; filename=\"many__b_.csv\"");
  const std::string text = *file.body.file->read_range(0, file.body.length);
  EXPECT_EQ(std::ranges::count(text, '\n'), 104);
  const Response part = site_.ask("GET", "/api/v1/export?format=csv&where=name%3D'write'");
  ASSERT_EQ(part.status, 200) << part.body.text;
  const std::string rows = *part.body.file->read_range(0, part.body.length);
  EXPECT_EQ(std::ranges::count(rows, '\n'), 2) << rows;  // the head and the one write
  for (const char* format : {"perfetto", "speedscope", "chrome", "parquet", "html"}) {
    const Response one = site_.ask("GET", std::string("/api/v1/export?format=") + format);
    EXPECT_EQ(one.status, 200) << format << one.body.text;
    EXPECT_GT(one.body.size(), 0U) << format;
  }
}

TEST_F(ViewRoutes, ChangesOfWhatIsWholeEndAtOnce) {
  const Response response = site_.ask("GET", "/api/v1/changes");
  ASSERT_TRUE(response.ticker);
  EXPECT_EQ(*response.ticker(),
            "data: {\"state\":\"complete\",\"wall_ns\":1000000,\"events\":105}\n\n");
  EXPECT_FALSE(response.ticker());
}

TEST_F(ViewRoutes, ATokenInTheAddressBecomesACookie) {
  const Response first = site_.ask_as("GET", "/?token=own", {});
  EXPECT_EQ(first.status, 303);
  const std::string lead = header(first, "Location");
  ASSERT_TRUE(lead.starts_with("/?key=")) << lead;
  const Header key{"Fathom-Key", lead.substr(6)};
  const std::string set = header(first, "Set-Cookie");
  EXPECT_TRUE(set.ends_with("; Path=/; HttpOnly; SameSite=Strict")) << set;
  EXPECT_EQ(set.find("own"), std::string::npos);
  EXPECT_EQ(set.find(key.value), std::string::npos);
  const Header cookie{"Cookie", set.substr(0, set.find(';'))};
  EXPECT_EQ(site_.ask_as("GET", "/api/v1/page", {cookie, key}).status, 200);
  EXPECT_EQ(site_.ask_as("GET", lead, {cookie}).status, 404) << "these tests have no page";
  EXPECT_EQ(site_.ask_as("GET", lead, {}).status, 401);
  EXPECT_EQ(site_.ask_as("POST", "/login", {}, "token=own").status, 303);
  for (const std::string& wrong :
       {std::string("Cookie: fathom-1=") + std::string(64, 'a'), std::string("fathom-1=")})
    EXPECT_EQ(site_.ask_as("GET", "/api/v1/page", {{"Cookie", wrong}}).status, 401);
}

// Another port of this host is sent the cookie, and can set one.
TEST_F(ViewRoutes, ACookieAloneAnswersNoQuestion) {
  const Response first = site_.ask_as("GET", "/?token=own", {});
  const std::string set = header(first, "Set-Cookie");
  const Header cookie{"Cookie", set.substr(0, set.find(';'))};
  const std::string key = header(first, "Location").substr(6);
  for (const char* target : {"/api/v1/page", "/api/v1/views", "/api/v1/export?format=csv",
                             "/api/v1/changes", "/api/v1/nothing", "/openapi.json"}) {
    const Response refused = site_.ask_as("GET", target, {cookie});
    EXPECT_EQ(refused.status, 401) << target;
    EXPECT_NE(refused.body.text.find("address that fathom printed"), std::string::npos);
    EXPECT_EQ(refused.body.text.find(key), std::string::npos);
    for (const std::string& wrong : {std::string(), key + "x", key.substr(1), std::string(64, '0')})
      EXPECT_EQ(site_.ask_as("GET", target, {cookie, {"Fathom-Key", wrong}}).status, 401);
    EXPECT_EQ(site_.ask_as("GET", target, {{"Fathom-Key", key}}).status, 401)
        << "nor the key alone";
  }
  const std::string link = "/api/v1/export?format=csv&key=";
  EXPECT_EQ(site_.ask_as("GET", link + key, {cookie}).status, 200) << "a link sends no header";
  EXPECT_EQ(site_.ask_as("GET", link + key, {}).status, 401);
  EXPECT_EQ(site_.ask_as("GET", link + std::string(64, '0'), {cookie}).status, 401);
  EXPECT_EQ(site_.ask_as("GET", "/api/v1/page?key=" + key, {cookie}).status, 401);
  const Response planted = site_.ask_as("GET", "/?key=" + std::string(64, '0'), {cookie});
  EXPECT_EQ(planted.status, 303) << "the page keeps the key that it has";
  EXPECT_EQ(header(planted, "Location"), "/");
  const std::string good = cookie.value;
  for (const std::string& both :
       {"fathom-1=x; " + good, good + "; fathom-1=" + std::string(64, 'a')})
    EXPECT_EQ(site_.ask_as("GET", "/api/v1/page", {{"Cookie", both}, {"Fathom-Key", key}}).status,
              200)
        << both;
}

TEST_F(ViewRoutes, AParameterThatNobodyKnowsIsNamed) {
  for (const char* target : {"page", "views", "schema", "changes", "tracks", "timeline", "event",
                             "flame", "heatmap", "offsets", "report/functions", "diff", "export"}) {
    const Response refused = site_.ask("GET", "/api/v1/" + std::string(target) + "?pids=1");
    EXPECT_EQ(refused.status, 400) << target;
    EXPECT_NE(refused.body.text.find("'pids'"), std::string::npos) << refused.body.text;
  }
  const Response flame = site_.ask("GET", "/api/v1/flame?%0d%0a=1");
  EXPECT_NE(flame.body.text.find("takes recording, from, to, host, pid"), std::string::npos)
      << flame.body.text;
  EXPECT_EQ(site_.ask_as("GET", "/api/v1/flame?pids=1", {}).status, 401)
      << "strangers learn nothing";
}

TEST_F(ViewRoutes, AParameterThatStandsTwiceIsNamed) {
  for (const char* target : {"diff?a=run&b=run&a=many", "page?a=1&a=1",
                             "schema?recording=run&b=&a&a", "report/functions?top=1&a=x&%61=y"}) {
    const Response refused = site_.ask("GET", "/api/v1/" + std::string(target));
    EXPECT_EQ(refused.status, 400) << target;
    EXPECT_NE(refused.body.text.find("'a' stands there twice"), std::string::npos)
        << refused.body.text;
  }
  EXPECT_EQ(site_.ask_as("GET", "/api/v1/page?a=1&a=1", {}).status, 401);
  EXPECT_EQ(site_.ask_as("POST", "/login", {}, "token=wrong&token=own").status, 400);
}

TEST_F(ViewRoutes, TheDescriptionHasWhatIsServed) {
  const json paths = told(site_.ask("GET", "/openapi.json"))["paths"];
  for (const char* path : {"/api/v1/page", "/api/v1/flame", "/openapi.json", "/login"})
    EXPECT_TRUE(paths.contains(path)) << path;
  for (const char* path : {"/metrics", "/healthz", "/api/v1/jobs", "/api/v1/events"}) {
    EXPECT_FALSE(paths.contains(path)) << path;
    EXPECT_EQ(site_.ask("GET", path).status, 404) << path;
  }
}

TEST_F(ViewRoutes, APartialRecordingSaysWhy) {
  const std::string manifest = site_.path("run/manifest.json");
  json changed = json::parse(*read_file(manifest));
  changed["state"] = "partial";
  changed["state_reason"] = "the recorder was killed";
  ASSERT_TRUE(write_file_atomic(manifest, changed.dump(), 0600));
  const json run = told(site_.ask("GET", "/api/v1/page"))["recordings"][0];
  EXPECT_EQ(run["state"], "partial");
  EXPECT_EQ(run["state_reason"], "the recorder was killed");
}

TEST_F(ViewRoutes, ACardHasTheExitStatusAndTheCostOfRecording) {
  const std::string manifest = site_.path("run/manifest.json");
  json changed = json::parse(*read_file(manifest));
  changed["exit_status"] = 3;
  changed["overhead_ns"] = 1234;
  ASSERT_TRUE(write_file_atomic(manifest, changed.dump(), 0600));
  json run = told(site_.ask("GET", "/api/v1/page"))["recordings"][0];
  EXPECT_EQ(run["exit"], 3);
  EXPECT_EQ(run["overhead_ns"], 1234);
  changed.erase("exit_status");
  changed.erase("overhead_ns");
  ASSERT_TRUE(write_file_atomic(manifest, changed.dump() + " ", 0600));
  run = told(site_.ask("GET", "/api/v1/page"))["recordings"][0];
  EXPECT_FALSE(run.contains("exit") || run.contains("overhead_ns"));
}

TEST_F(ViewRoutes, ACutFileIsToldOnce) {
  std::filesystem::resize_file(site_.path("run/summary.parquet"), 100);
  std::filesystem::resize_file(site_.path("run/threads.parquet"), 100);
  const json run = told(site_.ask("GET", "/api/v1/page"))["recordings"][0];
  const std::string reason = run["state_reason"];
  EXPECT_TRUE(reason.starts_with("summary.parquet: its end is missing; /")) << reason;
  EXPECT_TRUE(reason.ends_with("run/threads.parquet: its end is missing")) << reason;
  EXPECT_EQ(reason.find("summary", 1), std::string::npos) << reason;
}

TEST_F(ViewRoutes, ADamagedRecordingIsNoFaultOfTheQuestion) {
  std::fstream file(site_.path("run/summary.parquet"),
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4);
  file << std::string(200, '\xff');
  file.close();
  const Response report = site_.ask("GET", "/api/v1/report/functions?recording=run");
  EXPECT_EQ(report.status, 500);
  EXPECT_NE(report.body.text.find("is damaged: summary.parquet cannot be read"), std::string::npos)
      << report.body.text;
}

TEST_F(ViewRoutes, NobodyGetsInWithout) {
  for (const char* target : {"/", "/?token=", "/?token=wrong", "/?token=ow"}) {
    const Response door = site_.ask_as("GET", target, {});
    EXPECT_EQ(door.status, 401) << target;
    EXPECT_TRUE(door.type.starts_with("text/html"));
    EXPECT_EQ(header(door, "Set-Cookie"), "");
    EXPECT_EQ(door.body.text.find("refresh"), std::string::npos);
    EXPECT_NE(header(door, "Content-Security-Policy").find("default-src 'none'"),
              std::string::npos);
  }
  EXPECT_EQ(site_.ask_as("POST", "/login", {}, "token=wrong").status, 401);
  EXPECT_EQ(site_.ask_as("POST", "/login", {}, "%").status, 400);
  EXPECT_EQ(site_.ask_as("GET", "/api/v1/page", {}).status, 401);
  EXPECT_EQ(site_.ask_as("GET", "/api/v1/page", {{"Authorization", "Bearer no"}}).status, 401);
  const Response link = site_.ask_as("GET", "/", {{"Sec-Fetch-Site", "cross-site"}});
  EXPECT_NE(link.body.text.find("refresh"), std::string::npos) << "its cookie comes next time";
  EXPECT_EQ(site_.ask_as("GET", "/?token=own", {{"Host", "evil.example"}}).status, 421);
  EXPECT_EQ(site_.ask_as("POST", "/login", {{"Origin", "http://evil.example"}}, "token=own").status,
            403);
}

}  // namespace
}  // namespace fathom::serve
