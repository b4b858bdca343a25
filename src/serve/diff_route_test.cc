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
      analysis::compare_sides(side_of({run, a}), side_of({a, run, run}), {});
  const Response told = site.ask("GET", "/api/v1/diff?a=run%0Amany%2Fa&b=many%2Fa%0Arun%0Arun");
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
               {"/api/v1/diff?a=run&b=run%0A", 400},
               {"/api/v1/diff?a=run&b=..%2Frun", 404},
               {"/api/v1/diff?a=run&b=run&by=nothing", 400},
               {"/api/v1/diff?a=run&b=run&top=-1", 400}};
  for (const auto& c : cases) {
    const Response response = site.ask("GET", c.target);
    EXPECT_EQ(response.status, c.status) << c.target << " " << response.body.text;
    EXPECT_TRUE(json::parse(response.body.text).contains("error"));
  }
}

}  // namespace
}  // namespace fathom::serve
