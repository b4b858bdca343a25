// SPDX-License-Identifier: MIT
// The page as a file holds what the routes answer. The numbers are those of the sample recording
// (analysis/testing/sample_recording.h).
#include "serve/page/page_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "serve/page/page_data.h"
#include "serve/testing/page_site.h"

namespace fathom::serve {
namespace {

using nlohmann::json;

constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"fathom-data\">";

class PageFile : public ::testing::Test {
 protected:
  Result<std::string> written(const KnownRecording& recording,
                              std::shared_ptr<const std::atomic<bool>> gone = {}) {
    const std::string path = site_.path("out.html");
    FATHOM_ASSIGN(render::ByteSink sink, render::ByteSink::open(path, /*gzip=*/false));
    FATHOM_TRY(write_page_file({.recording = recording, .gone = std::move(gone)}, sink));
    FATHOM_TRY(sink.finish());
    return read_file(path);
  }
  std::string text(const KnownRecording& recording) {
    Result<std::string> made = written(recording);
    EXPECT_TRUE(made) << made.error().message;
    return made ? *made : "";
  }
  static std::string data_text(const std::string& page) {
    const std::size_t begin = page.find(kBegin) + kBegin.size();
    return page.substr(begin, page.find("</script>", begin) - begin);
  }
  static std::map<std::string, json> answers(const json& data) {
    std::map<std::string, json> all;
    for (const json& one : data["answers"]) all[one["asked"]] = one;
    return all;
  }
  KnownRecording run() const { return {"run", "run", site_.path("run")}; }
  PageSite site_;
};

TEST_F(PageFile, HoldsWhatTheRoutesAnswer) {
  const json data = json::parse(data_text(text(run())));
  const std::map<std::string, json> all = answers(data);
  const std::pair<std::string, std::string> questions[] = {
      {"/report/overview", ""},
      {"/report/files", "?top=1000"},
      {"/report/explain", ""},
      {"/report/time?by=state,cause&top=0", ""},  // sums: all rows
      {"/report/gpu-idle", "?top=1000"},
      {"/heatmap?rows=file&what=bytes&category=all", "&bins=240&top=64"}};
  for (const auto& [asked, detail] : questions) {
    ASSERT_TRUE(all.contains(asked)) << asked;
    EXPECT_EQ(all.at(asked)["status"], 200) << asked;
    EXPECT_EQ(all.at(asked)["answer"],
              json::parse(site_.ask("GET", "/api/v1" + asked + detail).body.text))
        << asked;
  }
  for (const std::string view : {"kernels", "copies"}) {
    const std::string asked = "/report/" + view + "?by=device";
    EXPECT_EQ(all.at(asked)["status"], 200) << asked;
    EXPECT_EQ(all.at(asked)["answer"],
              json::parse(site_.ask("GET", "/api/v1" + asked + "&top=1000").body.text));
  }
  EXPECT_TRUE(data["statements"]["busiest"]["rows"].is_array());
  EXPECT_EQ(all.at("/page")["answer"]["mode"], "file");
  EXPECT_EQ(all.at("/flame?weight=cpu&invert=0")["status"], 404);
  EXPECT_TRUE(data["statements"]["calls"]["rows"].is_array());
}

TEST_F(PageFile, HasEveryEventOfASmallRecording) {
  const json timeline = json::parse(data_text(text(run())))["timeline"];
  EXPECT_EQ(timeline["level"], 0);
  EXPECT_EQ(timeline["left_out"], 0);
  std::int64_t count = 0;
  for (const json& window : timeline["windows"]) {
    for (const json& track : window["tracks"]) {
      for (const json& boxes : track.value("count", json::array())) count += boxes.get<int>();
    }
  }
  EXPECT_GE(count, 103);
}

TEST_F(PageFile, APartIsAllThatItHolds) {
  KnownRecording part = run();
  part.part.layers = {"app"};
  const std::string page = text(part);
  const std::string data = data_text(page);
  EXPECT_EQ(data.find("pread"), std::string::npos);
  EXPECT_NE(data.find("step"), std::string::npos);
  EXPECT_NE(page.find("advice needs the whole run"), std::string::npos);
  EXPECT_TRUE(json::parse(data)["is_part"]);
}

TEST_F(PageFile, ANameCannotBecomeMarkup) {
  const KnownRecording named{"x", "</script><script>alert(1)</script><b>", site_.path("many/<b>")};
  const std::string page = text(named);
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  const std::string data = data_text(page);
  EXPECT_EQ(data.find('<'), std::string::npos);
  EXPECT_EQ(json::parse(data)["recording"], named.name);
  EXPECT_LE(data.size(), 2 * kMostPageData);
}

TEST_F(PageFile, NobodyWaitsForIt) {
  const Result<std::string> made = written(run(), std::make_shared<std::atomic<bool>>(true));
  ASSERT_FALSE(made);
  EXPECT_FALSE(path_exists(site_.path("out.html")));
}

TEST_F(PageFile, ABuildWithoutThePageSaysSo) {
  ::setenv("FATHOM_WEB_DIR", site_.path("many").c_str(), 1);
  const Result<std::string> made = written(run());
  ::unsetenv("FATHOM_WEB_DIR");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::kUnsupported);
  EXPECT_NE(made.error().message.find("has no page"), std::string::npos);
}

}  // namespace
}  // namespace fathom::serve
