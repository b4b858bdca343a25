// SPDX-License-Identifier: MIT
#include "serve/routes/routes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "fleet/history.h"
#include "serve/http/byte_range.h"
#include "serve/http/coding.h"
#include "serve/routes/openapi.h"
#include "serve/testing/site.h"

namespace fathom::serve {
namespace {

constexpr char kBatch[] =
    R"({"client":"c","seq":1,"rows":[{"node":"f","exec":"a","event":"e","count":5}]})";
constexpr char kRecords[] = R"({"client":"c","seq":1,"records":[{"command":["x"],"runs":[]}]})";

int status(const Response& response) { return response.status; }

class Routes : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(status(site_.ask("POST", "/api/v1/jobs", R"({"name":"j"})")), 201);
  }
  Site site_;
};

TEST_F(Routes, AJobsLife) {
  EXPECT_EQ(status(site_.ask("POST", "/api/v1/jobs", R"({"name":"j"})")), 409);
  EXPECT_EQ(site_.ask("GET", "/api/v1/jobs").body.text,
            "{\"jobs\":[{\"name\":\"j\",\"info\":\"\",\"benchmarks\":0}]}\n");
  EXPECT_EQ(site_.ask("GET", "/api/v1/jobs/j").body.text,
            "{\"name\":\"j\",\"info\":\"\",\"benchmarks\":0}\n");
  EXPECT_EQ(status(site_.ask("DELETE", "/api/v1/jobs/j")), 200);
  EXPECT_EQ(status(site_.ask("DELETE", "/api/v1/jobs/j")), 404);
  EXPECT_EQ(site_.ask("GET", "/api/v1/jobs").body.text, "{\"jobs\":[]}\n");
}

TEST_F(Routes, AProfileAddsUp) {
  for (int sent = 0; sent < 3; ++sent)
    EXPECT_EQ(status(site_.ask("POST", "/api/v1/jobs/j/profile", kBatch)), 200);
  EXPECT_EQ(site_.ask("GET", "/api/v1/jobs/j/profile").body.text,
            "{\"rows\":[{\"node\":\"f\",\"exec\":\"a\",\"event\":\"e\",\"count\":5}]}\n");
  EXPECT_EQ(status(site_.ask("POST", "/api/v1/jobs/j/clear", R"({"what":"profile"})")), 200);
  EXPECT_EQ(site_.ask("GET", "/api/v1/jobs/j/profile").body.text, "{\"rows\":[]}\n");
}

TEST_F(Routes, RecordsAndKinds) {
  EXPECT_EQ(status(site_.ask("POST", "/api/v1/jobs/j/benchmarks", kRecords)), 200);
  EXPECT_EQ(site_.ask("GET", "/api/v1/jobs/j/benchmarks").body.text,
            "{\"records\":[{\"command\":[\"x\"],\"runs\":[]}]}\n");
  EXPECT_EQ(site_.ask("GET", "/api/v1/jobs/j/benchmarks?from=1").body.text, "{\"records\":[]}\n");
  EXPECT_EQ(status(site_.ask("GET", "/api/v1/jobs/j/benchmarks?from=x")), 400);
  EXPECT_EQ(status(site_.ask("GET", "/api/v1/jobs/j/records/loss")), 404);
  EXPECT_EQ(status(site_.ask("POST", "/api/v1/kinds", R"({"name":"loss","schema":{}})")), 201);
  EXPECT_EQ(status(site_.ask("POST", "/api/v1/kinds", R"({"name":"profile","schema":{}})")), 400);
  EXPECT_EQ(site_.ask("GET", "/api/v1/kinds").body.text,
            "{\"kinds\":[{\"name\":\"loss\",\"schema\":{}}]}\n");
  EXPECT_EQ(status(site_.ask("POST", "/api/v1/jobs/j/records/loss",
                             R"({"client":"c","seq":1,"records":[{"x":1}]})")),
            200);
  EXPECT_EQ(site_.ask("GET", "/api/v1/jobs/j/records/loss").body.text,
            "{\"records\":[{\"x\":1}]}\n");
}

TEST_F(Routes, WhatDoesNotExist) {
  EXPECT_EQ(status(site_.ask("GET", "/api/v1/nothing")), 404);
  EXPECT_EQ(status(site_.ask("GET", "/api/v9/jobs")), 404);
  EXPECT_EQ(status(site_.ask("GET", "/api/v1/jobs/")), 400);
  EXPECT_EQ(status(site_.ask("GET", "/api/v1/jobs/ghost/profile")), 404);
  EXPECT_EQ(status(site_.ask("POST", "/api/v1/jobs/ghost/profile", kBatch)), 404);
  EXPECT_EQ(status(site_.ask("PATCH", "/api/v1/jobs")), 405);
  EXPECT_EQ(status(site_.ask("POST", "/healthz")), 405);
  EXPECT_EQ(status(site_.ask("DELETE", "/api/v1/jobs/j/profile")), 405);
  for (const char* path : {"/api/v1/jobs/..%2ftokens", "/api/v1/jobs/%00", "/%zz", "/%", "*",
                           "http://x/y", "/api/v1/jobs/a%20b/profile"})
    EXPECT_EQ(status(site_.ask("GET", path)), 400) << path;
}

TEST_F(Routes, RolesAndStrangers) {
  const std::string reader = site_.token(Role::kRead);
  const std::string sender = site_.token(Role::kSubmit);
  const std::string owner = site_.token(Role::kAdmin);
  const struct {
    const char* method;
    const char* path;
    const char* body;
    int as_reader, as_sender, as_owner;
  } cases[] = {
      {"GET", "/api/v1/jobs", "", 200, 200, 200},
      {"GET", "/metrics", "", 200, 200, 200},
      {"POST", "/api/v1/jobs/j/profile", kBatch, 403, 200, 200},
      {"POST", "/api/v1/jobs/j/benchmarks", kRecords, 403, 200, 200},
      {"POST", "/api/v1/jobs/j/clear", R"({"what":"profile"})", 403, 403, 200},
      {"POST", "/api/v1/kinds", R"({"name":"k","schema":{}})", 403, 403, 201},
      {"DELETE", "/api/v1/jobs/j", "", 403, 403, 200},
  };
  for (const auto& c : cases) {
    for (const std::string& bad : {std::string(), std::string(64, 'x'), reader.substr(1)}) {
      const Response response = site_.ask_as(bad, c.method, c.path, c.body);
      EXPECT_EQ(response.status, 401) << c.path;
      EXPECT_EQ(response.body.text, site_.ask_as(bad, "GET", "/api/v1/jobs/ghost").body.text);
    }
    EXPECT_EQ(status(site_.ask_as(reader, c.method, c.path, c.body)), c.as_reader) << c.path;
    EXPECT_EQ(status(site_.ask_as(sender, c.method, c.path, c.body)), c.as_sender) << c.path;
    EXPECT_EQ(status(site_.ask_as(owner, c.method, c.path, c.body)), c.as_owner) << c.path;
  }
  EXPECT_EQ(status(site_.ask_as("", "GET", "/healthz")), 200);
}

TEST_F(Routes, CompressedBodies) {
  const auto send = [&](const std::string& body, const std::string& coding) {
    return status(
        site_.ask("POST", "/api/v1/jobs/j/profile", body, {{"Content-Encoding", coding}}));
  };
  for (const Coding coding : {Coding::kGzip, Coding::kZstd}) {
    std::string packed;
    const auto encoder = make_encoder(coding);
    ASSERT_TRUE(encoder->add(kBatch, packed));
    ASSERT_TRUE(encoder->finish(packed));
    EXPECT_EQ(send(packed, std::string(name_of(coding))), 200);
    std::string bomb;
    const auto larger = make_encoder(coding);
    ASSERT_TRUE(larger->add(std::string(70'000'000, ' '), bomb));
    ASSERT_TRUE(larger->finish(bomb));
    EXPECT_EQ(send(bomb, std::string(name_of(coding))), 413);
    EXPECT_EQ(send("rubbish", std::string(name_of(coding))), 400);
  }
  EXPECT_EQ(send(kBatch, "br"), 415);
  EXPECT_EQ(site_.router().budget().left(), site_.router().limits().memory);
}

TEST_F(Routes, AStoreThatFailsAcknowledgesNothing) {
  const struct {
    Code code;
    int status;
  } cases[] = {{Code::kUnavailable, 503}, {Code::kFull, 507}, {Code::kIo, 500}};
  for (const auto& c : cases) {
    site_.store().fail_with(Error{c.code, "gone", ""});
    const Response response = site_.ask("POST", "/api/v1/jobs/j/profile", kBatch);
    EXPECT_EQ(response.status, c.status);
    EXPECT_EQ(response.body.text, "{\"error\":\"gone\"}\n");
  }
  site_.store().fail_with(std::nullopt);
  EXPECT_EQ(site_.metrics().text().find("fathom_batches_total{"), std::string::npos);
}

TEST_F(Routes, ATrendIsWhatTheCommandPrints) {
  const std::string trend = "/api/v1/jobs/j/trend";
  EXPECT_EQ(status(site_.ask("GET", trend)), 404) << "it has no run";
  EXPECT_EQ(status(site_.ask("GET", "/api/v1/jobs/gone/trend")), 404);
  EXPECT_EQ(status(site_.ask("GET", trend + "?kind=%20")), 400);
  nlohmann::json records = nlohmann::json::array();
  for (int i = 0; i < 60; ++i) {
    const double wall = (i < 30 ? 1.0 : 2.0) + (i * 7 % 5) / 1000.0;
    records.push_back({{"command", {"./p"}},
                       {"host", {{"name", "north"}}},
                       {"runs", {{{"wall_s", wall}, {"exit", 0}}}}});
  }
  const nlohmann::json batch = {{"client", "c"}, {"seq", 1}, {"records", records}};
  ASSERT_EQ(status(site_.ask("POST", "/api/v1/jobs/j/benchmarks", batch.dump())), 200);
  const Response response = site_.ask("GET", trend);
  ASSERT_EQ(response.status, 200) << response.body.text;
  const nlohmann::json answer = nlohmann::json::parse(response.body.text);
  ASSERT_EQ(answer["alerts"].size(), 1U) << response.body.text;
  EXPECT_EQ(response.body.text,
            fleet::answer_text(*fleet::trend_of(site_.store(), "j"), render::Format::kJson, {}));
  EXPECT_EQ(status(site_.ask("GET", trend + "?kind=other")), 404);
}

TEST_F(Routes, NoMemoryLeft) {
  Limits limits;
  limits.memory = 1'000'000;
  limits.free_memory = 1000;
  Site small(limits);
  ASSERT_EQ(status(small.ask("POST", "/api/v1/jobs", R"({"name":"j"})")), 201);
  const Response response = small.ask("POST", "/api/v1/jobs/j/profile", std::string(500'000, ' '));
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.headers[0].name, "Retry-After");
  EXPECT_EQ(small.router().budget().left(), limits.memory);
}

TEST_F(Routes, MetricsTellWhatHappened) {
  (void)site_.ask("POST", "/api/v1/jobs/j/profile", kBatch);
  (void)site_.ask("BREW", "/\"\n{evil}");
  (void)site_.ask_as("bad", "GET", "/api/v1/jobs");
  const std::string text = site_.ask("GET", "/metrics").body.text;
  for (const char* line :
       {"fathom_requests_total{route=\"/api/v1/jobs/{job}/"
        "profile\",method=\"POST\",status=\"200\"} 1\n",
        "fathom_requests_total{route=\"other\",method=\"other\",status=\"404\"} 1\n",
        "fathom_batches_total{kind=\"profile\"} 1\n", "fathom_rows_total{kind=\"profile\"} 1\n",
        "fathom_refusals_total{reason=\"token\"} 1\n", "fathom_store_seconds_count 2\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line;
  EXPECT_EQ(text.find("evil"), std::string::npos);
}

TEST_F(Routes, EventsTellWhatArrivedSecondBySecond) {
  const Response response = site_.ask("GET", "/api/v1/events?job=j");
  ASSERT_TRUE(response.ticker);
  EXPECT_EQ(response.type, "text/event-stream");
  EXPECT_EQ(*response.ticker(), ": nothing\n\n");
  (void)site_.ask("POST", "/api/v1/jobs/j/profile", kBatch);
  EXPECT_EQ(*response.ticker(), ": nothing\n\n") << "the second has not passed";
  ++site_.now;
  EXPECT_EQ(
      *response.ticker(),
      "event: arrived\nid: 1000\ndata: {\"time\":1000,\"arrived\":[{\"job\":\"j\",\"kind\":"
      "\"profile\",\"batches\":1,\"rows\":1,\"count\":5}],\"left_out\":0,\"clients\":[{\"client\":"
      "\"c\",\"job\":\"j\",\"batches\":1,\"rows\":1}],\"clients_left_out\":0}\n\n");
  EXPECT_EQ(*response.ticker(), ": nothing\n\n");
  EXPECT_EQ(status(site_.ask("GET", "/api/v1/events?job=%20")), 400);
}

TEST_F(Routes, AgentsAreThoseThatSentWithWhenTheyDid) {
  EXPECT_EQ(site_.ask("GET", "/api/v1/agents").body.text,
            "{\"now\":1000,\"agents\":[],\"left_out\":0}\n");
  (void)site_.ask("POST", "/api/v1/jobs/j/profile", kBatch);
  site_.now += 70;
  (void)site_.ask("POST", "/api/v1/jobs/j/benchmarks", kRecords);
  (void)site_.ask(
      "POST", "/api/v1/jobs/j/profile",
      R"({"client":"b","seq":1,"rows":[{"node":"f","exec":"a","event":"e","count":5}]})");
  site_.now += 5;
  EXPECT_EQ(site_.ask("GET", "/api/v1/agents").body.text,
            "{\"now\":1075,\"agents\":["
            "{\"client\":\"b\",\"jobs\":[{\"job\":\"j\",\"batches\":1,\"last\":1070}]},"
            "{\"client\":\"c\",\"jobs\":[{\"job\":\"j\",\"batches\":2,\"last\":1070}]}],"
            "\"left_out\":0}\n");
}

// Contents first, then the manifest; read back by ranges.
TEST_F(Routes, RecordingsAreKeptByContent) {
  const std::string hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
  const std::string manifest = R"({"name":"r","files":[{"name":"d/f","size":5,"sha256":")" + hash +
                               R"("},{"name":"g","size":5,"sha256":")" + hash + R"("}]})";
  const std::string one = "/api/v1/recordings/r";
  EXPECT_EQ(site_.ask("POST", one + "/missing", manifest).body.text,
            "{\"missing\":[{\"sha256\":\"" + hash + "\",\"size\":5}]}\n");
  EXPECT_EQ(status(site_.ask("PUT", one, manifest)), 404);
  const auto send = [&](const std::string& name, const std::string& text) {
    const std::vector<Header> headers = {{"Content-Length", std::to_string(text.size())}};
    return status(site_.ask("PUT", "/api/v1/contents/" + name, text, headers));
  };
  EXPECT_EQ(send("x", "hello"), 400);
  EXPECT_EQ(send(hash, "hullo"), 400);
  EXPECT_EQ(status(site_.ask("PUT", "/api/v1/contents/" + hash, "hello")), 400) << "no length";
  EXPECT_EQ(send(hash, "hello"), 201);
  const std::string of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  EXPECT_EQ(send(of_nothing, ""), 201) << "an empty file is one, too";
  EXPECT_EQ(status(site_.ask("PUT", "/api/v1/recordings/other", manifest)), 400);
  for (int again = 0; again < 2; ++again) EXPECT_EQ(status(site_.ask("PUT", one, manifest)), 201);
  EXPECT_EQ(site_.ask("GET", "/api/v1/recordings").body.text, "{\"recordings\":[\"r\"]}\n");
  EXPECT_EQ(nlohmann::json::parse(site_.ask("GET", one).body.text),
            nlohmann::json::parse(manifest));
  const Response part = site_.ask("GET", one + "/files/d%2Ff", "", {{"Range", "bytes=1-2"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body.file->read_range(part.body.offset, part.body.length).value(), "el");
  EXPECT_EQ(part.headers.back().value, "bytes 1-2/5");
  EXPECT_EQ(status(site_.ask("GET", one + "/files/g")), 200);
  EXPECT_EQ(status(site_.ask("GET", one + "/files/g", "", {{"Range", "bytes=5-"}})), 416);
  for (const char* path : {"/files/..%2f..%2ftokens", "/files/x", "/files/d"})
    EXPECT_EQ(status(site_.ask("GET", one + path)), 404) << path;
  EXPECT_EQ(status(site_.ask("GET", "/api/v1/recordings/..%2ftokens")), 400);
  EXPECT_EQ(status(site_.ask("DELETE", one)), 200);
  EXPECT_EQ(status(site_.ask("GET", one)), 404);
}

TEST(ByteRange, WhatIsAskedFor) {
  using Kind = ByteRange::Kind;
  const struct {
    const char* header;
    Kind kind;
    std::uint64_t first, size;
  } cases[] = {{"bytes=0-4", Kind::kPart, 0, 5},   {"bytes=3-100", Kind::kPart, 3, 7},
               {"bytes=3-", Kind::kPart, 3, 7},    {"bytes=-4", Kind::kPart, 6, 4},
               {"bytes=-40", Kind::kPart, 0, 10},  {"bytes=10-", Kind::kBeyond, 10, 0},
               {"bytes=-0", Kind::kBeyond, 10, 0}, {"", Kind::kWhole, 0, 10},
               {"bytes=4-3", Kind::kWhole, 0, 10}, {"bytes=0-1,3-4", Kind::kWhole, 0, 10},
               {"lines=1-2", Kind::kWhole, 0, 10}, {"bytes=-", Kind::kWhole, 0, 10}};
  for (const auto& c : cases) {
    const ByteRange range = parse_range(c.header, 10);
    EXPECT_EQ(range.kind, c.kind) << c.header;
    EXPECT_EQ(range.first, c.first) << c.header;
    EXPECT_EQ(range.size, c.size) << c.header;
  }
}

TEST(Arrivals, ALateWatcherIsToldWhatItMissed) {
  std::int64_t now = 100;
  Arrivals arrivals([&] { return now; });
  Arrivals::Place place = arrivals.now();
  for (; now < 150; ++now) arrivals.add("j", "profile", "c", 1, 1);
  const std::string text = arrivals.since(place, "");
  EXPECT_TRUE(text.starts_with("event: missed\nid: 119\ndata: {\"seconds\":20}\n\n")) << text;
  EXPECT_NE(text.find("\"time\":149"), std::string::npos);
}

// Every path and method is described, and nothing else is.
TEST_F(Routes, AreThoseOfTheDescription) {
  ASSERT_EQ(api_texts().size(), 1U);
  const auto description = nlohmann::json::parse(api_texts()[0].text);
  std::set<std::pair<std::string, std::string>> described, served;
  for (const auto& [path, operations] : description["paths"].items()) {
    for (const auto& [method, operation] : operations.items()) {
      if (method != "parameters") described.insert({path, method});
    }
  }
  for (const Route& route : site_.router().routes()) {
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    served.insert({std::string(route.path), method});
  }
  EXPECT_EQ(described, served);
  EXPECT_EQ(nlohmann::json::parse(site_.ask("GET", "/openapi.json").body.text), description);
}

// What a route takes is what is described, by name.
TEST_F(Routes, TakeWhatTheDescriptionSays) {
  const auto description = nlohmann::json::parse(api_texts()[0].text);
  std::size_t compared = 0;
  for (const Route& route : site_.router().routes()) {
    if (!route.takes) continue;
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    const auto& operation = description["paths"][std::string(route.path)][method];
    std::set<std::string> described, taken(route.takes->begin(), route.takes->end());
    for (const auto& one : operation.value("parameters", nlohmann::json::array()))
      described.insert(one["name"]);
    EXPECT_EQ(described, taken) << route.path;
    ++compared;
  }
  EXPECT_GE(compared, 14U);
}

}  // namespace
}  // namespace fathom::serve
