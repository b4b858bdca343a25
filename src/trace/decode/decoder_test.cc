// SPDX-License-Identifier: MIT
#include "trace/decode/decoder.h"

#include <gtest/gtest.h>

#include "trace/recording/processes.h"
#include "trace/testing/spool_builder.h"

namespace fathom::trace {
namespace {

using testing::RecordWriter;

constexpr std::uint64_t kKey = 0x1111;

class DecoderTest : public ::testing::Test {
 protected:
  DecoderTest() : schema_(Schema::parse(testing::kSchemaText).value()) {}

  RecordWriter begin(std::uint64_t key = kKey, std::uint64_t pid = 10, std::uint64_t thread = 0,
                     std::uint64_t run = 0) {
    RecordWriter w;
    w.switch_to({key, pid, pid + thread, thread, run, 0, 1000});
    return w;
  }
  Chunk chunk(const RecordWriter& w) { return {w.bytes(), &schema_}; }
  void decode(const std::vector<const RecordWriter*>& writers) {
    std::vector<Chunk> chunks;
    for (const RecordWriter* w : writers) chunks.push_back(chunk(*w));
    decoder().decode(chunks, events_, counters_);
  }
  Decoder& decoder() {
    if (!decoder_)
      decoder_ = std::make_unique<Decoder>(strings_, Clock(FATHOM_TICK_MONOTONIC_NS, {1000, 1000}),
                                           options_);
    return *decoder_;
  }
  std::string text(std::uint32_t code) const {
    return code == kNoString ? "NULL" : std::string(strings_.view(code));
  }
  std::map<std::string, std::string> args(std::size_t row) const {
    std::map<std::string, std::string> map;
    for (std::size_t e = events_.args.begin(row); e < events_.args.end(row); e++) {
      map[text(events_.args.key(e))] = events_.args.value(e);
    }
    return map;
  }
  std::int64_t lost(const std::string& reason) {
    std::int64_t count = 0;
    for (const Loss& loss : decoder().take_sums().losses)
      count += loss.reason == reason ? loss.count : 0;
    return count;
  }

  Schema schema_;
  Strings strings_;
  DecoderOptions options_;
  std::unique_ptr<Decoder> decoder_;
  EventBatch events_;
  CounterBatch counters_;
};

TEST_F(DecoderTest, AKindMayBeNamedByItsSite) {
  RecordWriter w = begin();
  w.string(1, "train.<for 7>").string(2, "model").string(3, "/src/train.py").site(4, 1, 2, 3);
  w.call(testing::kNamed, 1, 2000, 3000, 0, {4, fathom_zigzag(12)});
  w.call(testing::kNamed, 0, 3000, 4000, 0, {99, fathom_zigzag(1)});
  decode({&w});
  ASSERT_EQ(events_.ts.size(), 2U);
  EXPECT_EQ(text(events_.layer[0]), "python");
  EXPECT_EQ(text(events_.name[0]), "train.<for 7>");
  EXPECT_EQ(text(events_.category[0]), "model");
  EXPECT_EQ(args(0), (std::map<std::string, std::string>{
                         {"file", "/src/train.py"}, {"line", "7"}, {"iterations", "12"}}));
  EXPECT_EQ(text(events_.name[1]), "NULL") << "its definition is lost";
  EXPECT_EQ(lost("name not found"), 1);
}

// One call, a read of the one file and a write of the other.
TEST_F(DecoderTest, ACopyIsAReadAndAWrite) {
  RecordWriter w = begin();
  w.path(1, 0, "/from").path(2, 0, "/to");
  w.call(testing::kCopyRange, 0, 2000, 3000, FATHOM_FLAG_FULL, {fathom_zigzag(3), 1, 1, 100, 2});
  w.call(testing::kCopyRange, 0, 3000, 4000, FATHOM_FLAG_FULL | FATHOM_FLAG_SAME, {1, 50, 2});
  w.call(testing::kCopyRange, 0, 4000, 5000, FATHOM_FLAG_SAME, {1, 50, fathom_zigzag(0), 2});
  decode({&w});
  ASSERT_EQ(events_.rows(), 3U);
  EXPECT_EQ(text(events_.file[0]), "/from");
  EXPECT_EQ(args(0), (std::map<std::string, std::string>{{"to", "/to"}}));
  const Decoder::Sums sums = decoder().take_sums();
  std::map<std::string, SummaryRow> rows;
  for (const SummaryRow& row : sums.summary.rows())
    rows[text(row.key.category) + " " + text(row.key.file)] = row;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows["read /from"].calls, 3);
  EXPECT_EQ(rows["read /from"].bytes, 150);
  EXPECT_EQ(rows["read /from"].access.consecutive, 2);
  EXPECT_EQ(rows["write /to"].calls, 0);
  EXPECT_EQ(rows["write /to"].bytes, 150);
  EXPECT_EQ(rows["write /to"].last, 3000);
}

// Each process names the end that it uses; the number in brackets brings the two together, whoever
// comes first.
TEST_F(DecoderTest, APipeHasTheOtherUsersName) {
  RecordWriter writer = begin(0x1, 10);
  writer.process(0, 10, 1, 0, 1000, FATHOM_ATTACH_PRELOAD);
  writer.string(1, "exe").string(2, "/bin/seq").meta(1, 2).string(3, "pipe to [4711]");
  writer.call(testing::kRead, 0, 2000, 3000, FATHOM_FLAG_FULL, {fathom_zigzag(1), 3, 0, 100});
  RecordWriter reader = begin(0x2, 11);
  reader.process(0, 11, 1, 0, 1000, FATHOM_ATTACH_PRELOAD);
  reader.string(1, "exe").string(2, "/bin/sort").meta(1, 2).string(3, "pipe from [4711]");
  reader.string(4, "socket 127.0.0.1:5432").string(5, "pipe from [9]");
  for (const std::uint64_t file : {3, 4, 5})
    reader.call(testing::kRead, 0, 2000, 3000, FATHOM_FLAG_FULL, {fathom_zigzag(0), file, 0, 100});
  decoder().define(chunk(writer));
  decoder().define(chunk(reader));
  decode({&writer, &reader});
  ASSERT_EQ(events_.rows(), 4U);
  const char* const peers[] = {"pipe to sort (pid 11)", "pipe from seq (pid 10)",
                               "socket 127.0.0.1:5432", "pipe"};
  for (std::size_t row = 0; row < 4; row++) {
    EXPECT_EQ(text(events_.file[row]), "NULL");
    EXPECT_EQ(args(row), (std::map<std::string, std::string>{{"peer", peers[row]}}));
  }
  const Decoder::Sums sums = decoder().take_sums();
  ASSERT_EQ(sums.summary.rows().size(), 4U);
  EXPECT_EQ(text(sums.summary.rows()[0].key.peer), peers[0]);
  EXPECT_TRUE(std::ranges::none_of(
      sums.losses, [](const Loss& loss) { return loss.reason == "name not found"; }));
}

TEST_F(DecoderTest, CallsOfADevice) {
  RecordWriter w = begin();
  w.string(1, "_Z3addv");
  w.call(testing::kCopy, 0, 2000, 3000, FATHOM_FLAG_FULL,
         {fathom_zigzag(1), 7, 4096, 2, 1, 4, 2, 1, 1});
  w.call(testing::kCopy, 0, 3000, 4000, FATHOM_FLAG_ERROR,
         {2, fathom_zigzag(-1), 0, 4096, 0, 0, 0, 0, 0, 0});
  w.call(testing::kCopy, 0, 4000, 5000, FATHOM_FLAG_ERROR,
         {600, fathom_zigzag(0), 7, 1, 9, 99, 1, 1, 1, 0});
  w.call(testing::kCopy, 0, 5000, 6000, FATHOM_FLAG_ERROR,
         {77, fathom_zigzag(0), 7, 1, 1, 1, 1, 1, 1, 0});
  decode({&w});
  ASSERT_EQ(events_.rows(), 4U);
  const EventRow moved = events_.row(0);
  EXPECT_EQ(std::tuple(moved.device, moved.stream, moved.size, moved.bytes, moved.ret),
            std::tuple(1, 7, 4096, 4096, 0));
  EXPECT_EQ(text(moved.error), "NULL");
  EXPECT_EQ(args(0),
            (std::map<std::string, std::string>{
                {"way", "down"}, {"kernel", "_Z3addv"}, {"grid", "4x2x1"}, {"captured", "1"}}));
  const EventRow failed = events_.row(1);
  EXPECT_EQ(std::tuple(failed.device, failed.stream, failed.bytes, failed.ret),
            std::tuple(kNull32, kNull, 0, 2));
  EXPECT_EQ(text(failed.error), "NO_MEMORY");
  EXPECT_EQ(args(1), (std::map<std::string, std::string>{{"grid", "0x0x0"}}));
  EXPECT_EQ(std::pair(events_.row(2).ret, text(events_.row(2).error)),
            std::pair(std::int64_t{600}, std::string("NULL")))
      << "a result that is no error";
  EXPECT_EQ(args(2).count("way"), 0U) << "a choice that there is not";
  EXPECT_EQ(text(events_.row(3).error), "error 77");
  EXPECT_EQ(lost("name not found"), 1);
}

// Told while a region is open, when a call is over that began later: it is part of neither.
TEST_F(DecoderTest, WorkOfADevice) {
  RecordWriter w = begin();
  w.string(1, "_Z3addv").string(2, "step").site(3, 2, 0);
  w.call(testing::kCopy, 1, 6000, 7000, FATHOM_FLAG_FULL,
         {fathom_zigzag(1), 7, 64, 0, 0, 1, 1, 1, 0});
  w.call(testing::kWork, 1, 7100, 8000, 0, {3000, 1, 42, fathom_zigzag(1), 7, 64});
  w.call(testing::kWork, 1, 9000, 9000, 0, {0, 77, 0, fathom_zigzag(-1), 0, 0});
  w.region(0, 1500, 9500, 3);
  decode({&w});
  ASSERT_EQ(events_.rows(), 4U);
  std::map<std::string, EventRow> rows;
  for (std::size_t i = 0; i < events_.rows(); i++) rows[text(events_.name[i])] = events_.row(i);
  const EventRow& work = rows.at("_Z3addv");
  EXPECT_EQ(std::tuple(work.ts, work.dur, work.self),
            std::tuple(rows.at("step").ts + 2600, 900, kNull));
  EXPECT_EQ(std::tuple(work.pid, work.tid, work.depth), std::tuple(10, kNull32, kNull32));
  EXPECT_EQ(std::tuple(work.device, work.stream, work.bytes, work.correlation),
            std::tuple(1, 7, 64, 42));
  EXPECT_EQ(std::pair(text(work.layer), text(work.category)),
            std::pair(std::string("gpu"), std::string("kernel")));
  EXPECT_EQ(rows.at("NULL").correlation, kNull) << "neither name nor number";
  EXPECT_EQ(rows.at("step").self, 7000) << "what a device does is not inside";
  EXPECT_EQ(lost("name not found"), 1);
}

TEST(SchemaTest, RefusesWhatItDoesNotKnow) {
  const char* const wrong[] = {
      "40\t5\tcuda\tx\tx\t-\tmoved\tsize",
      "40\t5\tcuda\tx\tx\t-\terrors=\tsize",
      "40\t5\tcuda\tx\tx\t-\t-\targ:a:choice",
      "40\t5\tcuda\tx\tx\t-\t-\targ:a:int:b",
      "40\t5\tcuda\tx\tx\t-\t-\targ:a:colour",
      "error\tcuda\t2",
      "error\tcuda\ttwo\tNAME",
      "error\t\t2\tNAME",
  };
  for (const char* text : wrong) EXPECT_FALSE(Schema::parse(text)) << text;
}

TEST_F(DecoderTest, CallsBecomeRows) {
  RecordWriter w = begin();
  w.path(5, 0, "/data").path(6, 5, "a.bin");
  w.call(testing::kOpen, 0, 2000, 3000, 0,
         {fathom_zigzag(3), 6, fathom_zigzag(3), fathom_zigzag(577)});
  w.call(testing::kRead, 0, 3500, 4000, FATHOM_FLAG_SAME | FATHOM_FLAG_FULL, {1, 4096});
  w.call(testing::kRead, 0, 4000, 4100, FATHOM_FLAG_SAME, {1, 4096, fathom_zigzag(100)});
  w.call(testing::kRead, 0, 4200, 4300, FATHOM_FLAG_SAME | FATHOM_FLAG_ERROR, {5, 0, 10});
  w.call(testing::kPread, 0, 4400, 4500, FATHOM_FLAG_SAME,
         {1 + fathom_zigzag(100 - 4196), 10, fathom_zigzag(0)});
  decode({&w});
  ASSERT_EQ(events_.rows(), 5U);
  const EventRow open = events_.row(0);
  EXPECT_EQ(open.ts, 1000);
  EXPECT_EQ(open.dur, 1000);
  EXPECT_EQ(open.pid, 10);
  EXPECT_EQ(
      text(open.layer) + "/" + text(open.name) + "/" + text(open.entry) + "/" + text(open.category),
      "posix/open/open64/open");
  EXPECT_EQ(text(open.file), "/data/a.bin");
  EXPECT_EQ(open.fd, 3);
  EXPECT_EQ(open.ret, 3);
  EXPECT_EQ(open.bytes, kNull);
  EXPECT_EQ(args(0), (std::map<std::string, std::string>{{"flags", "577"}}));
  const EventRow full = events_.row(1);
  EXPECT_EQ(std::tuple(full.offset, full.size, full.ret, full.bytes),
            std::tuple(0, 4096, 4096, 4096));
  const EventRow part = events_.row(2);
  EXPECT_EQ(std::tuple(part.offset, part.size, part.ret, part.bytes),
            std::tuple(4096, 4096, 100, 100));
  const EventRow failed = events_.row(3);
  EXPECT_EQ(std::tuple(failed.offset, failed.ret, failed.bytes), std::tuple(kNull, -1, 0));
  EXPECT_EQ(text(failed.error), "EIO");
  EXPECT_EQ(text(part.error), "NULL");
  EXPECT_EQ(events_.row(4).offset, 100);
  EXPECT_EQ(events_.row(4).bytes, 0);
  EXPECT_EQ(text(events_.row(4).file), "/data/a.bin");
}

TEST_F(DecoderTest, WhatThreadsCarryGoesOnInAnotherDecoder) {
  RecordWriter first = begin();
  first.string(1, "outer").site(2, 1, 0).string(3, "epoch").string(4, "text");
  first.arg_int(0, 3, 1).arg_int(0, 3, 7).arg_text(0, 4, std::string("a\0b", 3));
  first.region(1, 2000, 2400, 2);
  decode({&first});
  const std::string carried = decoder().carry();
  EXPECT_FALSE(carried.empty());
  events_.clear();
  Decoder other(strings_, Clock(FATHOM_TICK_MONOTONIC_NS, {1000, 1000}), {});
  other.define(chunk(first));
  RecordWriter second = begin(kKey, 10, 0, 1);
  second.region(0, 1500, 3000, 2);
  const std::vector<Chunk> chunks = {chunk(second)};
  for (std::size_t at = 0; at < carried.size(); at++) {
    std::string damaged = carried;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    other.restore(damaged);
    EXPECT_TRUE(other.carry().empty()) << at;
    other.restore(carried.substr(0, at));
    EXPECT_TRUE(other.carry().empty()) << at;
  }
  (void)other.take_sums();
  other.restore(carried);
  EXPECT_EQ(other.carry(), carried);
  other.decode(chunks, events_, counters_);
  ASSERT_EQ(events_.rows(), 1U);
  EXPECT_EQ(args(0),
            (std::map<std::string, std::string>{{"epoch", "7"}, {"text", std::string("a\0b", 3)}}));
  EXPECT_EQ(other.take_sums().summary.rows().at(0).self, 1100);
  EXPECT_TRUE(other.carry().empty()) << "the region has ended";
}

TEST_F(DecoderTest, RowsSayWhoseTheyAre) {
  RecordWriter w = begin(kKey, 10, 3);
  w.string(1, "outer").site(2, 1, 0).path(6, 0, "/a");
  w.call(testing::kOpen, 1, 2000, 3000, 0, {0, 6, fathom_zigzag(3), fathom_zigzag(0)});
  w.region(0, 1500, 5000, 2);
  decode({&w});
  ASSERT_EQ(events_.rows(), 2U);
  for (const std::size_t at : {0, 1}) {
    const EventRow row = events_.row(at);
    EXPECT_EQ(std::tuple(row.pid, row.tid, row.depth), std::tuple(10, 13, at == 0 ? 1 : 0));
  }
}

// Regions of two threads that overlap count once; what lies apart is a span of its own.
TEST_F(DecoderTest, CoverageIsTheUnionOverThreads) {
  RecordWriter one = begin();
  one.string(1, "work").site(2, 1, 0).region(0, 1500, 2500, 2).region(0, 6000, 6500, 2);
  RecordWriter other = begin(kKey, 10, 1);
  other.region(0, 2000, 3000, 2);
  decode({&one, &other});
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  for (const LayerCoverage::Row& row : decoder().take_sums().coverage.rows()) {
    EXPECT_EQ(text(row.layer), "app");
    spans.emplace_back(row.span.begin, row.span.end);
  }
  EXPECT_EQ(spans, (std::vector<std::pair<std::int64_t, std::int64_t>>{{500, 2000}, {5000, 5500}}));
}

// Either is enough: time inside an open region, or an argument that waits for its region.
TEST_F(DecoderTest, TimeInsideAloneIsCarriedAndSoAreArguments) {
  RecordWriter inside = begin();
  inside.string(1, "outer").site(2, 1, 0).region(1, 2000, 2400, 2);
  decode({&inside});
  EXPECT_FALSE(decoder().carry().empty());
  RecordWriter waiting = begin(kKey + 1, 11, 0, 1);
  waiting.string(3, "epoch").arg_int(0, 3, 1);
  Decoder other(strings_, Clock(FATHOM_TICK_MONOTONIC_NS, {1000, 1000}), {});
  other.define(chunk(waiting));
  const std::vector<Chunk> chunks = {chunk(waiting)};
  other.decode(chunks, events_, counters_);
  EXPECT_FALSE(other.carry().empty());
}

TEST_F(DecoderTest, SumsAloneAreTheSame) {
  RecordWriter w = begin();
  w.path(5, 0, "/data/a").string(1, "load").site(2, 1, 0).string(3, "k");
  w.call(testing::kOpen, 1, 2000, 3000, 0, {fathom_zigzag(3), 5, fathom_zigzag(3), 0});
  w.call(testing::kRead, 1, 3500, 4000, FATHOM_FLAG_SAME | FATHOM_FLAG_FULL, {1, 4096});
  w.call(testing::kRead, 1, 4200, 4300, FATHOM_FLAG_SAME | FATHOM_FLAG_ERROR, {5, 0, 10});
  w.call(testing::kRead, 1, 4400, 4500, 0, {fathom_zigzag(4), 99, 0, 1, fathom_zigzag(1)});
  w.arg_int(0, 3, 1).arg_int(0, 77, 1).region(0, 1500, 5000, 2).counter(5100, 2, 3);
  RecordWriter torn = begin(kKey, 10, 1);
  torn.region(0, 1500, 1600, 2).note(77, 1700);
  decode({&w, &torn});
  const Decoder::Sums with_rows = decoder().take_sums();
  CounterBatch counters;
  const std::vector<Chunk> chunks = {chunk(w), chunk(torn)};
  decoder().restore("");
  decoder().sum(chunks, counters);
  const Decoder::Sums alone = decoder().take_sums();
  EXPECT_EQ(events_.rows(), 6U);
  EXPECT_EQ(counters.rows.size(), 1U);
  ASSERT_EQ(alone.summary.rows().size(), with_rows.summary.rows().size());
  for (std::size_t i = 0; i < alone.summary.rows().size(); i++) {
    const SummaryRow& a = alone.summary.rows()[i];
    const SummaryRow& b = with_rows.summary.rows()[i];
    EXPECT_EQ(std::tie(a.calls, a.errors, a.dur, a.self, a.bytes, a.first, a.last, a.hist, a.sizes),
              std::tie(b.calls, b.errors, b.dur, b.self, b.bytes, b.first, b.last, b.hist, b.sizes))
        << text(a.key.name);
    EXPECT_TRUE(a.key == b.key);
  }
  EXPECT_EQ(alone.events_by_layer, with_rows.events_by_layer);
  ASSERT_EQ(alone.losses.size(), with_rows.losses.size());
  for (std::size_t i = 0; i < alone.losses.size(); i++)
    EXPECT_EQ(alone.losses[i].count, with_rows.losses[i].count) << alone.losses[i].reason;
  EXPECT_EQ(alone.timeline.rows().size(), with_rows.timeline.rows().size());
}

TEST_F(DecoderTest, ItemsOfStdio) {
  RecordWriter w = begin();
  w.path(6, 0, "/f");
  w.call(testing::kFread, 0, 2000, 3000, FATHOM_FLAG_FULL, {fathom_zigzag(4), 6, 0, 640, 64});
  w.call(testing::kFread, 0, 3000, 4000, FATHOM_FLAG_SAME, {0, 640, 64, fathom_zigzag(3)});
  decode({&w});
  EXPECT_EQ(events_.row(0).ret, 10);
  EXPECT_EQ(events_.row(0).bytes, 640);
  EXPECT_EQ(events_.row(1).bytes, 192);
}

TEST_F(DecoderTest, ForkedChildKnowsItsParentsNames) {
  RecordWriter parent = begin();
  parent.string(1, "exe").string(2, "/bin/p").meta(1, 2).path(5, 0, "/parent").path(20, 0, "/late");
  RecordWriter child = begin(0x2222, 11);
  child.process(kKey, 11, 10, 20, 1000, FATHOM_ATTACH_FORK).path(20, 5, "child");
  child.call(testing::kOpen, 0, 2000, 3000, 0, {fathom_zigzag(3), 5, fathom_zigzag(3), 0});
  child.call(testing::kOpen, 0, 3000, 4000, 0, {fathom_zigzag(4), 20, fathom_zigzag(4), 0});
  RecordWriter grandchild = begin(0x3333, 12);
  grandchild.process(0x2222, 12, 11, 21, 1500, FATHOM_ATTACH_FORK);
  grandchild.call(testing::kOpen, 0, 3000, 4000, 0, {fathom_zigzag(4), 20, fathom_zigzag(4), 0});
  decode({&grandchild, &child, &parent});  // definitions may come after their use
  ASSERT_EQ(events_.rows(), 3U);
  EXPECT_EQ(text(events_.row(0).file), "/parent");
  EXPECT_EQ(text(events_.row(1).file), "/parent/child");
  EXPECT_EQ(text(events_.row(2).file), "/parent/child");
  const auto rows = process_rows({decoder().definitions(), decoder().clock(), {}}, "h");
  ASSERT_EQ(rows.size(), 3U);
  for (const ProcessRow& row : rows) EXPECT_EQ(row.name, "p") << row.pid;
}

TEST_F(DecoderTest, NamesComeDownThroughAnyNumberOfForks) {
  constexpr std::uint64_t kDepth = 300;
  RecordWriter root = begin();
  root.process(0, 10, 1, 0, 1000, FATHOM_ATTACH_PRELOAD);
  root.string(1, "exe").string(2, "/bin/p").meta(1, 2).path(5, 0, "/parent");
  std::vector<RecordWriter> chain{root};
  for (std::uint64_t i = 1; i <= kDepth; i++) {
    RecordWriter child = begin(kKey + i, 10 + i);
    child.process(kKey + i - 1, 10 + i, 9 + i, 6 + i, 1000 + i, FATHOM_ATTACH_FORK);
    child.path(6 + i, 5, "child");
    child.call(testing::kOpen, 0, 9000, 9001, 0, {fathom_zigzag(3), 5, fathom_zigzag(3), 0});
    chain.push_back(child);
  }
  std::vector<const RecordWriter*> order;  // the deepest first
  for (auto one = chain.rbegin(); one != chain.rend(); ++one) order.push_back(&*one);
  decode(order);
  ASSERT_EQ(events_.rows(), kDepth);
  for (std::size_t i = 0; i < kDepth; i++) ASSERT_EQ(text(events_.row(i).file), "/parent") << i;
  for (const ProcessRow& row : process_rows({decoder().definitions(), decoder().clock(), {}}, "h"))
    ASSERT_EQ(row.name, "p") << row.pid;
}

TEST_F(DecoderTest, ProcessesThatAreEachOthersParentsHaveNoNames) {
  RecordWriter one = begin(0x2222, 11);
  one.process(0x3333, 11, 12, 20, 1000, FATHOM_ATTACH_FORK);
  one.call(testing::kOpen, 0, 2000, 3000, 0, {fathom_zigzag(3), 5, fathom_zigzag(3), 0});
  RecordWriter other = begin(0x3333, 12);
  other.process(0x2222, 12, 11, 20, 1000, FATHOM_ATTACH_FORK);
  other.call(testing::kOpen, 0, 2000, 3000, 0, {fathom_zigzag(3), 5, fathom_zigzag(3), 0});
  decode({&one, &other});
  ASSERT_EQ(events_.rows(), 2U);
  EXPECT_EQ(events_.row(0).file, kNoString);
  EXPECT_EQ(process_rows({decoder().definitions(), decoder().clock(), {}}, "h").size(), 2U);
}

// A child by vfork shares all ids with its parent, those that are defined later, too.
TEST_F(DecoderTest, AChildThatSharesMemoryKnowsAllNamesOfItsParent) {
  RecordWriter parent = begin();
  parent.process(0, 10, 1, 0, 1000, FATHOM_ATTACH_PRELOAD);
  RecordWriter child = begin(0x2222, 11);
  child.process(kKey, 11, 10, UINT32_MAX, 1500, FATHOM_ATTACH_SHARES);
  child.call(testing::kOpen, 0, 2000, 3000, 0, {fathom_zigzag(3), 7, fathom_zigzag(3), 0});
  RecordWriter names = begin(kKey, 10, 0, 1);
  names.string(1, "exe").string(2, "/bin/p").meta(1, 2).path(7, 0, "/late");
  decode({&child, &parent, &names});
  ASSERT_EQ(events_.rows(), 1U);
  EXPECT_EQ(text(events_.row(0).file), "/late");
  for (const ProcessRow& row : process_rows({decoder().definitions(), decoder().clock(), {}}, "h"))
    EXPECT_EQ(row.name, "p") << row.pid;
}

TEST_F(DecoderTest, ArgumentsWaitForTheirRegionAcrossChunks) {
  RecordWriter first = begin();
  first.string(1, "outer").string(2, "inner").string(3, "step").site(11, 1, 0).site(12, 2, 0);
  first.arg_int(0, 3, 1).arg_double(1, 3, 0.5).arg_int(0, 3, -7);
  RecordWriter second = begin(kKey, 10, 0, 1);
  second.region(1, 2000, 3000, 12).region(0, 1500, 4000, 11).region(0, 5000, 6000, 11);
  decode({&second, &first});  // sorted by run
  ASSERT_EQ(events_.rows(), 3U);
  EXPECT_EQ(args(0), (std::map<std::string, std::string>{{"step", "0.5"}}));
  EXPECT_EQ(args(1), (std::map<std::string, std::string>{{"step", "-7"}}));
  EXPECT_TRUE(args(2).empty());
}

TEST_F(DecoderTest, ArgumentsWaitAcrossCalls) {
  RecordWriter first = begin();
  first.string(1, "outer").string(3, "step").site(11, 1, 0).arg_text(0, 3, "x");
  decode({&first});
  RecordWriter second = begin(kKey, 10, 0, 1);
  second.region(0, 1500, 4000, 11);
  decode({&second});
  EXPECT_EQ(args(0), (std::map<std::string, std::string>{{"step", "x"}}));
}

TEST_F(DecoderTest, SelfTimeIsWhatChildrenLeave) {
  RecordWriter w = begin();
  w.string(1, "a").string(2, "b").string(3, "c").site(11, 1, 0).site(12, 2, 0).site(13, 3, 0);
  w.region(2, 1100, 1200, 13)
      .region(1, 1050, 1300, 12)
      .region(1, 1300, 1500, 12)
      .region(0, 1000, 2000, 11);
  decode({&w});
  const auto sums = decoder().take_sums();
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> times;
  for (const SummaryRow& row : sums.summary.rows()) times[text(row.key.name)] = {row.dur, row.self};
  EXPECT_EQ(times["a"], std::pair(std::int64_t{1000}, std::int64_t{550}));
  EXPECT_EQ(times["b"], std::pair(std::int64_t{450}, std::int64_t{350}));
  EXPECT_EQ(times["c"], std::pair(std::int64_t{100}, std::int64_t{100}));
  EXPECT_EQ(sums.events_by_layer.at("app"), 4);
  std::int64_t busy = 0;
  for (const Timeline::Row& row : sums.timeline.rows()) busy += row.cell.busy;
  EXPECT_EQ(busy, 1000);
}

// What is inside an event takes from it when it runs, not evenly: a thread is never busy twice.
TEST_F(DecoderTest, BusyTimeIsWhereItWas) {
  constexpr std::int64_t kWidth = std::int64_t{1} << Timeline::kFirstShift;
  RecordWriter w = begin();
  const auto at = [](std::int64_t buckets) { return static_cast<std::uint64_t>(1000 + buckets); };
  w.string(1, "outer").string(2, "inner").site(11, 1, 0).site(12, 2, 0);
  w.region(2, at(kWidth + 5), at(kWidth + 9), 12)
      .region(1, at(kWidth), at(3 * kWidth), 12)
      .region(1, at(3 * kWidth), at(3 * kWidth + 7), 12)
      .region(0, at(0), at(4 * kWidth), 11);
  decode({&w});
  std::vector<std::int64_t> busy;
  for (const Timeline::Row& row : decoder().take_sums().timeline.rows())
    busy.push_back(row.cell.busy);
  EXPECT_EQ(busy, (std::vector<std::int64_t>{kWidth, kWidth, kWidth, kWidth}));
}

TEST_F(DecoderTest, NamesThatAreNoFiles) {
  struct Case {
    const char* name;
    const char* want;
  };
  const Case cases[] = {{"pipe:[77]", "NULL"},
                        {"socket:[1]", "NULL"},
                        {"anon_inode:[eventfd]", "NULL"},
                        {"/tmp/x (deleted)", "/tmp/x"},
                        {"/a//b/./../c/", "/a/c"},
                        {"/../..", "/"},
                        {"/bad\xff/\xc3\xa9", "/bad\\xff/\xc3\xa9"},
                        {"relative", "NULL"}};
  for (const Case& c : cases) {
    events_.clear();
    decoder_.reset();
    RecordWriter w = begin();
    w.string(5, c.name);
    w.call(testing::kRead, 0, 2000, 3000, FATHOM_FLAG_FULL, {fathom_zigzag(3), 5, 0, 1});
    decode({&w});
    EXPECT_EQ(text(events_.row(0).file), c.want) << c.name;
    EXPECT_EQ(lost("name not found"), 0) << c.name;
  }
}

TEST_F(DecoderTest, FilterByPath) {
  options_.paths = PathFilter({"/data/", "/x/y"});
  RecordWriter w = begin();
  w.path(1, 0, "/data/a")
      .path(2, 0, "/database")
      .path(3, 0, "/x/y")
      .string(4, "pipe:[1]")
      .string(5, "r")
      .site(6, 5, 0);
  for (std::uint64_t file = 1; file <= 4; file++) {
    w.call(testing::kOpen, 0, 2000 + file * 10, 2005 + file * 10, 0,
           {fathom_zigzag(3), file, fathom_zigzag(3), 0});
  }
  w.region(0, 1000, 5000, 6);
  decode({&w});
  std::vector<std::string> files;
  for (std::size_t i = 0; i < events_.rows(); i++) files.push_back(text(events_.file[i]));
  EXPECT_EQ(files, (std::vector<std::string>{"/data/a", "/x/y", "NULL", "NULL"}));
  EXPECT_TRUE(decoder().take_sums().losses.empty());
}

TEST_F(DecoderTest, FunctionsAreResolved) {
  options_.resolver.function = [](const std::string& module, std::uint64_t offset) {
    return offset == 0x10 ? "main of " + module : std::string();
  };
  RecordWriter w = begin();
  w.path(1, 0, "/bin/prog").function_site(2, 1, 0x10).function_site(3, 1, 0xabc);
  w.region(0, 2000, 3000, 2).region(0, 3000, 4000, 3);
  decode({&w});
  EXPECT_EQ(text(events_.name[0]), "main of /bin/prog");
  EXPECT_EQ(text(events_.name[1]), "prog+0xabc");
  EXPECT_EQ(text(events_.category[0]), "function");
}

TEST_F(DecoderTest, ProcessesAndTheirEnds) {
  RecordWriter parent = begin();
  parent.process(0, 10, 1, 0, 1000, FATHOM_ATTACH_PRELOAD);
  parent.note(FATHOM_KIND_WAITED, 9000, {11, 0x0200}).note(FATHOM_KIND_WAITED, 9500, {12, 9});
  parent.note(FATHOM_KIND_PROCESS_END, 9900, {fathom_zigzag(3), 1});
  RecordWriter child = begin(0x2222, 11);
  child.process(kKey, 11, 10, 1, 2000, FATHOM_ATTACH_FORK)
      .note(FATHOM_KIND_PROCESS_END, 5000, {0, 1});
  RecordWriter killed = begin(0x3333, 12);
  killed.process(kKey, 12, 10, 1, 2000, FATHOM_ATTACH_FORK);
  decode({&parent, &child, &killed});
  const auto rows = process_rows({decoder().definitions(), decoder().clock(), {{10, 7}}}, "h");
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> ends;
  for (const ProcessRow& row : rows) ends[row.pid] = {row.exit, row.end};
  EXPECT_EQ(ends[10],
            std::pair(std::int64_t{7}, std::int64_t{8900}));  // the recorder's word counts
  EXPECT_EQ(ends[11], std::pair(std::int64_t{2}, std::int64_t{4000}));  // then the parent's
  EXPECT_EQ(ends[12], std::pair(std::int64_t{137}, std::int64_t{8500}));
}

TEST_F(DecoderTest, DamageCostsTheRestOfAChunk) {
  RecordWriter w = begin();
  w.string(1, "r").site(2, 1, 0).region(0, 2000, 3000, 2);
  const std::size_t sound = w.bytes().size();
  w.region(0, 4000, 5000, 2);
  for (std::size_t length = sound; length <= w.bytes().size(); length++) {
    events_.clear();
    decoder_.reset();
    const Chunk cut{std::span(w.bytes()).first(length), &schema_};
    decoder().decode({&cut, 1}, events_, counters_);
    const bool whole = length == w.bytes().size();
    EXPECT_EQ(events_.rows(), whole ? 2U : 1U) << length;
    EXPECT_EQ(lost("damaged chunk"), whole || length == sound ? 0 : 1) << length;
  }
}

TEST_F(DecoderTest, FlippedBytesNeverHurt) {
  testing::TempDir directory;
  const testing::SpoolBuilder spool(directory.path());
  const std::vector<std::uint8_t> bytes = testing::small_program(spool, kKey, 10).bytes();
  for (std::size_t at = 0; at < bytes.size(); at++) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::vector<std::uint8_t> damaged = bytes;
      damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ flip);
      Strings strings;
      Decoder one(strings, Clock::of(spool.header()));
      EventBatch events;
      CounterBatch counters;
      const Chunk broken{damaged, &schema_};
      one.decode({&broken, 1}, events, counters);
      EXPECT_LE(events.rows(), bytes.size());
      EXPECT_EQ(events.args.rows(), events.rows());
      (void)process_rows({one.definitions(), one.clock(), {}}, "");
    }
  }
}

TEST(ClockTest, PiecesStayWhenPairsAreAdded) {
  Clock clock(FATHOM_TICK_COUNTER, {1000, 5000}, 0.5);
  clock.add({1000 + 4000000, 5000 + 2000000});
  const std::int64_t before = clock.ns(1000 + 3000000);
  EXPECT_EQ(before, 1500000);
  clock.add({1000 + 8000000, 5000 + 4100000});
  EXPECT_EQ(clock.ns(1000 + 3000000), before);
  std::int64_t last = INT64_MIN;
  for (std::uint64_t tick = 0; tick < 12000000; tick += 1013) {
    const std::int64_t ns = clock.ns(tick);
    EXPECT_GE(ns, last);
    last = ns;
  }
  EXPECT_LT(clock.ns(0), 0);
  clock.add({1000 + 16000000, 5000 + 40000000});  // runs four times as fast: a wrong reading
  EXPECT_EQ(clock.pairs().size(), 3U);
}

// What the processes of a run left in its header tells how fast the counter of their machine was.
TEST(ClockTest, OfARunThatIsOver) {
  fathom_run_header header{};
  header.tick_source = FATHOM_TICK_COUNTER;
  header.start_tick = 1000;
  header.start_monotonic_ns = 5000;
  EXPECT_EQ(Clock::of(header).pairs().size(), 1U) << "nobody left anything";
  header.last_tick = 1000 + 40000000;
  header.last_monotonic_ns = 5000 + 20000000;
  const Clock clock = Clock::of(header);
  EXPECT_EQ(clock.ns(1000 + 2000000), 1000000);
}

// A daemon may go on behind the last pair of the manifest. Readers come at different moments.
TEST(ClockTest, EveryReaderTellsTheSameTimeOfWhatIsOver) {
  fathom_run_header header{};
  header.tick_source = FATHOM_TICK_COUNTER;
  header.last_tick = 80000000;
  header.last_monotonic_ns = 40000000;
  const auto seen_at = [&](ClockPair now) {
    Clock clock(FATHOM_TICK_COUNTER, {0, 0});
    clock.add({20000000, 10000000});
    clock.add_left(header);
    clock.add(now);
    return clock.ns(79999999);
  };
  EXPECT_EQ(seen_at({90000000, 45000900}), seen_at({95000000, 47499100}));
}

}  // namespace
}  // namespace fathom::trace
