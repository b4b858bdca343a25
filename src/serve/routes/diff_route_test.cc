// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/compare/sides.h"
#include "render/report_text.h"
#include "serve/testing/page_site.h"

namespace fathom::serve {
namespace {

using nlohmann::json;

analysis::ComparedSide side_of(const std::vector<std::string>& paths) {
  analysis::ComparedSide side;
  for (const std::string& path : paths) {
    Result<analysis::Store> store = analysis::Store::open(path);
    EXPECT_TRUE(store);
    if (store) {
      EXPECT_TRUE(analysis::add_run(side, *store, path));
    }
  }
  return side;
}

TEST(DiffRoute, SaysWhatTheCommandPrints) {
  PageSite site;
  const analysis::SidesReport compared =
      analysis::compare_sides(side_of({site.path("run")}), side_of({site.path("many/a")}), {});
  const Response told = site.ask("GET", "/api/v1/diff?a=run&b=many%2Fa");
  EXPECT_EQ(told.status, 200);
  EXPECT_EQ(told.body.text, render::report_text(compared.report, render::Format::kJson, {}));
  EXPECT_NE(told.body.text.find("run_time"), std::string::npos);
}

TEST(DiffRoute, ComparesSetsOfRecordings) {
  PageSite site;
  const std::string run = site.path("run");
  const std::string a = site.path("many/a");
  const analysis::SidesReport compared =
      analysis::compare_sides(side_of({run, a}), side_of({a, run}), {});
  const Response told = site.ask("GET", "/api/v1/diff?a=run%0Amany%2Fa&b=many%2Fa%0Arun");
  EXPECT_EQ(told.status, 200);
  EXPECT_EQ(told.body.text, render::report_text(compared.report, render::Format::kJson, {}));
  EXPECT_NE(told.body.text.find("fewer than 4 runs"), std::string::npos);
}

TEST(DiffRoute, RefusesWhatCannotBeMeant) {
  PageSite site;
  const struct {
    const char* target;
    int status;
  } cases[] = {{"/api/v1/diff", 400},
               {"/api/v1/diff?a=run", 400},
               {"/api/v1/diff?a=run&b=ghost", 404},
               {"/api/v1/diff?a=run&b=run%0Aghost", 404},
               {"/api/v1/diff?a=run&b=%0A%0A", 400},
               {"/api/v1/diff?a=run&b=..%2Frun", 404},
               {"/api/v1/diff?a=run&b=run&by=nothing", 400},
               {"/api/v1/diff?a=run&b=run&top=-1", 400}};
  for (const auto& c : cases) {
    const Response response = site.ask("GET", c.target);
    EXPECT_EQ(response.status, c.status) << c.target << " " << response.body.text;
    EXPECT_TRUE(json::parse(response.body.text).contains("error"));
  }
}

TEST(DiffRoute, ARecordingCountsOnceAndBlankLinesDoNot) {
  PageSite site;
  const std::string a = "/api/v1/diff?a=run&b=many%2Fa";
  const Response once = site.ask("GET", a + "%0Arun");
  const Response often = site.ask("GET", a + "%0A%0Arun%0Amany%2Fa%0Arun%0Arun%0A");
  EXPECT_EQ(once.status, 200);
  EXPECT_EQ(often.status, 200) << often.body.text;
  EXPECT_EQ(often.body.text, once.body.text);
}

TEST(DiffRoute, ASideHasAtMost64Recordings) {
  PageSite site;
  std::string ids;
  for (int at = 0; at < 64; ++at) ids += "ghost" + std::to_string(at) + "%0Aghost0%0A";
  EXPECT_EQ(site.ask("GET", "/api/v1/diff?a=run&b=" + ids).status, 404);
  for (const std::string& sides : {"a=run&b=" + ids + "run", "b=run&a=" + ids + "run"}) {
    const Response response = site.ask("GET", "/api/v1/diff?" + sides);
    EXPECT_EQ(response.status, 400);
    EXPECT_NE(response.body.text.find("names more than 64 recordings"), std::string::npos)
        << response.body.text;
  }
}

// Each of them alone is done in time.
TEST(DiffRoute, AllRecordingsShareOneLimitOfTime) {
  PageSite site({.timeout_ns = 1'000'000'000});
  std::string ids;
  for (int at = 0; at < 60; ++at) {
    const std::string name = "many/r" + std::to_string(at);
    ASSERT_TRUE(analysis::testing::write_sample(site.path(name)));
    ids += name + "%0A";
  }
  const Response response = site.ask("GET", "/api/v1/diff?a=" + ids + "&b=" + ids);
  EXPECT_EQ(response.status, 408) << response.body.text;
  EXPECT_NE(response.body.text.find("--timeout"), std::string::npos) << response.body.text;
}

}  // namespace
}  // namespace fathom::serve
