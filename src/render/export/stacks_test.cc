// SPDX-License-Identifier: MIT
// What exporters of stacks are made of: spans, spilled text, hashes in place of names, charts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/files.h"
#include "render/export/anonymous_stream.h"
#include "render/export/html_charts.h"
#include "render/export/json_fields.h"
#include "render/export/spans.h"
#include "render/export/stacks.h"
#include "render/export/text_spill.h"

namespace fathom::render {
namespace {

// Events alone.
class EventRows : public EventStream {
 public:
  explicit EventRows(std::vector<ExportEvent> rows) : rows_(std::move(rows)) {}
  [[nodiscard]] std::int64_t start_realtime_ns() const override { return 0; }
  Status processes(const std::function<Status(const ExportProcess&)>&) override { return {}; }
  Status threads(const std::function<Status(const ExportThread&)>&) override { return {}; }
  Status events(EventOrder, const std::function<Status(const ExportEvent&)>& use) override {
    for (const ExportEvent& row : rows_) FATHOM_TRY(use(row));
    return {};
  }
  Status counters(const std::function<Status(const ExportCounter&)>&) override { return {}; }
  Status intervals(IntervalDetail, const std::function<Status(const ExportInterval&)>&) override {
    return {};
  }
  Status samples(const std::function<Status(const ExportSample&)>&) override { return {}; }
  Status table(const std::function<Status(const Table&)>&) override { return {}; }
  Status write_parquet(const std::string&) override { return {}; }

 private:
  std::vector<ExportEvent> rows_;
};

ExportEvent event(std::int64_t tid, std::int64_t ts, std::int64_t dur, std::string_view name,
                  std::int64_t depth) {
  ExportEvent made;
  made.ts = ts;
  made.dur = dur;
  made.pid = 1;
  made.tid = tid;
  made.layer = "app";
  made.name = name;
  made.depth = depth;
  return made;
}

// Writes down what it is told.
class Notes : public SpanListener {
 public:
  Status thread_begins(const ExportEvent& first) override {
    text += "T" + std::to_string(*first.tid) + " ";
    return {};
  }
  Status begin(std::size_t lane, const ExportEvent& event) override {
    text += std::string(event.name) + std::to_string(lane) + "@" + std::to_string(event.ts) + " ";
    return {};
  }
  Status end(std::size_t lane, std::int64_t ts, std::int64_t self) override {
    text +=
        "/" + std::to_string(lane) + "@" + std::to_string(ts) + "=" + std::to_string(self) + " ";
    return {};
  }
  Status thread_ends() override {
    text += ". ";
    return {};
  }
  std::string text;
};

std::string walked(std::vector<ExportEvent> rows) {
  EventRows stream(std::move(rows));
  Notes notes;
  EXPECT_TRUE(walk_spans(stream, notes).has_value());
  return notes.text;
}

TEST(Spans, NestAndCountTheirOwnTime) {
  EXPECT_EQ(walked({event(1, 0, 100, "a", 0), event(1, 10, 20, "b", 1), event(1, 30, 70, "c", 1),
                    event(2, 5, 5, "d", 0)}),
            "T1 a0@0 b0@10 /0@30=20 c0@30 /0@100=70 /0@100=10 . T2 d0@5 /0@10=5 . ");
}

TEST(Spans, WhatOverlapsGoesToAnotherLane) {
  EXPECT_EQ(walked({event(1, 0, 10, "a", 0), event(1, 5, 10, "g", 0), event(1, 20, 1, "b", 0)}),
            "T1 a0@0 g1@5 /0@10=10 /1@15=10 b0@20 /0@21=1 . ");
}

TEST(Spans, AnInstantAtTheEndOfACallIsInsideWhenItsDepthSaysSo) {
  EXPECT_EQ(walked({event(1, 0, 10, "a", 0), event(1, 10, 0, "i", 1)}),
            "T1 a0@0 i0@10 /0@10=0 /0@10=10 . ");
  EXPECT_EQ(walked({event(1, 0, 10, "a", 0), event(1, 10, 0, "i", 0)}),
            "T1 a0@0 /0@10=10 i0@10 /0@10=0 . ");
}

TEST(Stacks, SumsByStack) {
  EventRows stream({event(1, 0, 100, "a", 0), event(1, 10, 20, "b", 1), event(1, 40, 5, "b", 1),
                    event(2, 0, 7, "b", 0)});
  StackProfile profile;
  ASSERT_TRUE(profile.load(stream).has_value());
  ASSERT_EQ(profile.stacks.size(), 1U);
  const StackSums& sums = profile.stacks.begin()->second;
  std::string text;
  for (std::uint32_t node = 1; node < sums.tree.size(); ++node) {
    for (const std::uint32_t frame : sums.tree.path(node))
      text += profile.frames.frames()[frame].text + "<";
    text +=
        std::to_string(sums.sums[node].count) + "x" + std::to_string(sums.sums[node].amount) + " ";
  }
  EXPECT_EQ(text, "a<1x75 b<a<2x25 b<1x7 ");
}

TEST(TextSpill, KeepsItsOrderBeyondMemory) {
  char folder[] = "/tmp/fathom-spill-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = join_path(folder, "out");
  std::string wanted = "[";
  Result<ByteSink> sink = ByteSink::open(path, false);
  ASSERT_TRUE(sink.has_value());
  SinkBuffer buffer(*sink);
  ArraySpill spill;
  for (int i = 0; i < 300; ++i) {
    const std::string item(10'000, static_cast<char>('a' + i % 26));
    spill.item() += item;
    ASSERT_TRUE(spill.spill_if_large().has_value());
    wanted += (i == 0 ? "" : ",") + item;
  }
  EXPECT_EQ(spill.size(), 300U);
  ASSERT_TRUE(spill.move_to(buffer).has_value());
  EXPECT_EQ(spill.size(), 0U);
  ASSERT_TRUE(spill.move_to(buffer).has_value());
  ASSERT_TRUE(buffer.flush().has_value());
  ASSERT_TRUE(sink->finish().has_value());
  EXPECT_TRUE(read_file(path).value() == wanted + "][]");
  ASSERT_TRUE(remove_tree(folder).has_value());
}

TEST(Anonymizer, IsConsistentAndKeepsExtensionsAndFolders) {
  Anonymizer one("key");
  Anonymizer same("key");
  Anonymizer other("another");
  EXPECT_EQ(one.word("alice"), same.word("alice"));
  EXPECT_NE(one.word("alice"), other.word("alice"));
  EXPECT_EQ(one.word(""), "");
  const std::string path(one.path("/home/alice/a.tar"));
  const std::string sibling(one.path("/home/alice/b.tar"));
  EXPECT_EQ(path.find("alice"), std::string::npos);
  EXPECT_TRUE(path.ends_with(".tar")) << path;
  EXPECT_EQ(path.substr(0, path.rfind('/')), sibling.substr(0, sibling.rfind('/')));
  EXPECT_EQ(path, "/" + std::string(one.word("home")) + "/" + std::string(one.word("alice")) + "/" +
                      std::string(one.word("a.tar")) + ".tar");
  EXPECT_EQ(one.text("42"), "42");
  EXPECT_EQ(one.text("-1.5e3"), "-1.5e3");
  EXPECT_EQ(one.text("alice"), one.word("alice"));
  EXPECT_EQ(one.path("/home/alice/.bashrc").find(".bashrc"), std::string_view::npos);
}

TEST(Html, TextCannotBecomeMarkup) {
  EXPECT_EQ(html_text("<a href=\"x\">&\x01"), "&lt;a href=&quot;x&quot;&gt;&amp;\\x01");
}

TEST(Html, MarksCarryTheirNumbers) {
  Table table;
  table.title = "T";
  table.columns = {{"pid"}, {"max", Measure::kBytes}, {"over_time"}};
  table.rows = {{std::int64_t{7}, 4.0, List{Value(1.5), Value(), Value(4.0)}}};
  EXPECT_NE(line_chart(table, 1000).find("data-value=\"1.5,,4\""), std::string::npos);
}

TEST(JsonNumbers, Milliseconds) {
  const std::pair<std::int64_t, const char*> cases[] = {
      {0, "0"}, {1, "0.000001"}, {1'500'000, "1.5"}, {-2'000'000, "-2"}, {1'000'010, "1.00001"}};
  for (const auto& [ns, text] : cases) {
    std::string out;
    append_ms(out, ns);
    EXPECT_EQ(out, text);
  }
}

}  // namespace
}  // namespace fathom::render
