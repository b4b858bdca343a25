// SPDX-License-Identifier: MIT
// What the page draws, asked as the page does. The numbers are those of the sample recording
// (analysis/testing/sample_recording.h).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>

#include "serve/testing/page_site.h"

namespace fathom::serve {
namespace {

using nlohmann::json;

class CanvasRoutes : public ::testing::Test {
 protected:
  json told(const std::string& target, int status = 200) {
    const Response response = site_.ask("GET", "/api/v1/" + target);
    EXPECT_EQ(response.status, status) << target << ": " << response.body.text;
    return json::parse(response.body.text, nullptr, /*allow_exceptions=*/false);
  }
  // Once the index is there.
  json tracks(const std::string& query = "") {
    for (int patience = 0; patience < 1000; ++patience) {
      json answer = told("tracks" + query);
      if (!answer.contains("building")) return answer["tracks"];
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << "the index is never ready";
    return {};
  }
  json track(const std::string& kind) {
    for (const json& one : tracks()) {
      if (one["kind"] == kind) return one;
    }
    ADD_FAILURE() << "no track of kind " << kind;
    return {};
  }
  Response settled(const std::string& target);
  json ready(const std::string& target);
  static std::string encoded(std::string_view text) {
    std::string out;
    for (const char c : text) out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    return out;
  }
  PageSite site_;
};

TEST_F(CanvasRoutes, TracksAndBoxes) {
  const json all = tracks();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0]["kind"], "host");
  EXPECT_TRUE(all[0]["parent"].is_null());
  const json thread = track("thread");
  EXPECT_EQ(thread["pid"], 10);
  EXPECT_EQ(thread["events"], 103);  // step, 100 reads, a write, an open
  const std::string id = std::to_string(thread["id"].get<std::uint64_t>());
  const json few = told("timeline?from=0&to=1000000&width=10&tracks=" + id);
  const json many = told("timeline?from=0&to=1000000&width=16000&tracks=" + id + "&flows=1");
  for (const json* answer : {&few, &many}) {
    const json& boxes = (*answer)["tracks"][0];
    std::int64_t count = 0;
    for (const json& one : boxes["count"]) count += one.get<std::int64_t>();
    EXPECT_EQ(count, 103);
    for (const char* column : {"depth", "start", "dur", "busy", "name", "layer", "row"})
      EXPECT_EQ(boxes[column].size(), boxes["count"].size()) << column;
  }
  EXPECT_LT(few["tracks"][0]["count"].size(), 40U);
  EXPECT_EQ(many["tracks"][0]["count"].size(), 103U);
  EXPECT_TRUE(many["flows"].empty());
  EXPECT_EQ(many["names"][many["tracks"][0]["name"][0].get<std::size_t>()], "step");
}

TEST_F(CanvasRoutes, OneEvent) {
  const std::string id = std::to_string(track("thread")["id"].get<std::uint64_t>());
  const json boxes = told("timeline?from=0&to=1000000&width=16000&tracks=" + id);
  const json& rows = boxes["tracks"][0]["row"];
  const json event = told(fmt::format("event?row={}", rows[1].get<std::int64_t>()));
  EXPECT_TRUE(event["event"].contains("file") || event["event"]["name"] == "step");
  told("event?row=99999999", 404);
  told("event?row=x", 400);
}

TEST_F(CanvasRoutes, CountersHaveLines) {
  const std::string id = std::to_string(track("counter")["id"].get<std::uint64_t>());
  const json lines = told("timeline?tracks=" + id);
  ASSERT_EQ(lines["tracks"].size(), 1U);
  EXPECT_FALSE(lines["tracks"][0]["t"].empty());
  EXPECT_EQ(lines["tracks"][0]["avg"].size(), lines["tracks"][0]["t"].size());
}

TEST_F(CanvasRoutes, Flames) {
  tracks();
  const json time = told("flame?weight=time&min=0&order=time");
  EXPECT_EQ(time["unit"], "ns");
  EXPECT_EQ(time["nodes"]["parent"][0], -1);
  EXPECT_EQ(time["nodes"]["start"].size(), time["nodes"]["parent"].size());
  const json calls = told("flame?weight=calls&invert=1&min=0");
  EXPECT_EQ(calls["total"], 103);
  EXPECT_FALSE(calls["nodes"].contains("start"));
  EXPECT_EQ(told("flame?weight=calls&layers=app&min=0")["total"], 1);
  told("flame?weight=time&order=time&invert=1", 400);
  told("flame?weight=cpu", 404);  // nothing was sampled
  told("flame?weight=time&min=2", 400);
}

// Asks again while the index of the part is made.
Response CanvasRoutes::settled(const std::string& target) {
  for (int patience = 0; patience < 1000; ++patience) {
    Response response = site_.ask("GET", "/api/v1/" + target);
    if (response.status != 503 && response.body.text.find("\"building\"") == std::string::npos)
      return response;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ADD_FAILURE() << "the index is never ready: " << target;
  return {};
}

json CanvasRoutes::ready(const std::string& target) {
  const Response response = settled(target);
  EXPECT_EQ(response.status, 200) << target << ": " << response.body.text;
  return json::parse(response.body.text, nullptr, /*allow_exceptions=*/false);
}

// Nobody asks again for a recording that has ended: an index of what it was says so.
TEST_F(CanvasRoutes, AnOldIndexSaysThatItIsOld) {
  ASSERT_NE(tracks()[0]["name"], "another");
  ASSERT_TRUE(remove_tree(site_.path("run")));
  ASSERT_TRUE(analysis::testing::write_sample(site_.path("run"), {.host = "another"}));
  EXPECT_EQ(tracks()[0]["name"], "another");
}

TEST_F(CanvasRoutes, OneSelectionForAllPictures) {
  EXPECT_EQ(ready("flame?weight=calls&min=0&where=name%3D'pread'")["total"], 100);
  EXPECT_EQ(ready("flame?weight=calls&min=0&name=pr*&layers=posix")["total"], 100);
  EXPECT_EQ(ready("flame?weight=calls&min=0&where=name%3D'pread'&layers=app")["total"], 0);
  const json left = ready("tracks?where=name%3D'pread'")["tracks"];
  const auto thread =
      std::ranges::find_if(left, [](const json& one) { return one["kind"] == "thread"; });
  ASSERT_NE(thread, left.end());
  EXPECT_EQ((*thread)["events"], 100);
  const std::string id = std::to_string((*thread)["id"].get<std::uint64_t>());
  const json boxes = ready("timeline?width=10&where=name%3D'pread'&tracks=" + id);
  std::int64_t count = 0;
  for (const json& one : boxes["tracks"][0]["count"]) count += one.get<std::int64_t>();
  EXPECT_EQ(count, 100);
  EXPECT_TRUE(ready("timeline?pid=99&tracks=" + id)["tracks"].empty());
  EXPECT_TRUE(ready("tracks?pid=99")["tracks"].empty());
  EXPECT_EQ(ready("tracks?pid=10")["tracks"].size(), tracks().size());
}

TEST_F(CanvasRoutes, AConditionIsNothingElse) {
  for (const char* where :
       {"no_such_column", "1) OR (1", "1; DROP VIEW events", "(SELECT 1", "'"}) {
    for (const char* route : {"flame?weight=time", "tracks?x=1", "timeline?x=1"})
      EXPECT_EQ(settled(route + std::string("&where=") + encoded(where)).status, 400) << where;
  }
  const std::string file = encoded("name IN (SELECT content FROM read_text('/etc/passwd'))");
  EXPECT_EQ(settled("flame?weight=time&where=" + file).status, 403);
}

TEST_F(CanvasRoutes, Maps) {
  const json heat = told("heatmap?rows=file&what=bytes&category=read&bins=10");
  ASSERT_FALSE(heat["rows"].empty());
  EXPECT_EQ(heat["rows"][0]["name"], "/data/in");
  std::int64_t bytes = 0;
  for (const json& cell : heat["cells"][0]) bytes += cell.get<std::int64_t>();
  EXPECT_EQ(bytes, 409'600);
  const json places = told("offsets?file=/data/in&bins=4&offset_bins=8");
  EXPECT_EQ(places["read"].size(), 8U);
  EXPECT_EQ(places["read"][0].size(), 4U);
  told("heatmap?rows=colour", 400);
  told("offsets?file=/nothing", 404);
}

TEST_F(CanvasRoutes, AnotherRecording) {
  std::set<std::string> hosts;
  for (const json& one : tracks("?recording=many")) hosts.insert(one["host"]);
  EXPECT_EQ(hosts, (std::set<std::string>{"a", "b"}));
  told("tracks?recording=none", 404);
  told("timeline?tracks=1,x", 400);
  EXPECT_TRUE(told("timeline?tracks=1,2")["tracks"].empty());
}

}  // namespace
}  // namespace fathom::serve
