// SPDX-License-Identifier: MIT
#include "trace/decode/summed_calls.h"

#include <gtest/gtest.h>

#include "trace/decode/decoder.h"
#include "trace/testing/spool_builder.h"

namespace fathom::trace {
namespace {

using testing::kFree;
using testing::kMalloc;
using testing::RecordWriter;

constexpr std::uint64_t kSecond = 1'000'000'000;

// Three calls of 20, 30 and 100 ns, one of them in vain.
fathom_sums three_calls(std::uint64_t begin_ns) {
  fathom_sums sums{};
  sums.begin_ns = begin_ns;
  sums.width_ns = kSecond;
  sums.last_end = 5000;
  sums.errors = 1;
  sums.bytes = 700;
  sums.ticks = 150;
  sums.least = 20;
  sums.most = 100;
  sums.hist[4] = 2;
  sums.hist[6] = 1;
  return sums;
}

class SummedCallsTest : public ::testing::Test {
 protected:
  static RecordWriter begin(std::uint64_t thread = 0) {
    RecordWriter w;
    w.switch_to({0x1111, 10, 10 + thread, thread, 0, 0, 1000});
    return w;
  }
  Decoder::Sums decode(std::span<const std::uint8_t> bytes, const Schema* schema) {
    Decoder decoder(strings_, Clock(FATHOM_TICK_MONOTONIC_NS, {1000, 1000}));
    EventBatch events;
    CounterBatch counters;
    const Chunk chunk{bytes, schema};
    decoder.decode({&chunk, 1}, events, counters);
    EXPECT_EQ(events.rows(), 0U);
    last_tick_ = decoder.definitions().process(0x1111).last_tick;
    return decoder.take_sums();
  }
  Decoder::Sums decode(const RecordWriter& w) { return decode(w.bytes(), &schema_); }

  Schema schema_ = Schema::parse(testing::kSchemaText).value();
  Strings strings_;
  std::uint64_t last_tick_ = 0;
};

TEST_F(SummedCallsTest, AreARowOfIntervals) {
  RecordWriter w = begin();
  w.sums(kMalloc, three_calls(2 * kSecond), 3);
  const Decoder::Sums sums = decode(w);
  ASSERT_EQ(sums.intervals.rows.size(), 1U);
  const IntervalRow& row = sums.intervals.rows[0];
  EXPECT_EQ(row.ts, 2'000'000'000);
  EXPECT_EQ(row.width, 1'000'000'000);
  EXPECT_EQ(std::pair(row.pid, row.tid), std::pair(10, 10));
  EXPECT_EQ(strings_.view(row.layer), "heap");
  EXPECT_EQ(strings_.view(row.name), "malloc");
  EXPECT_EQ(row.calls, 3);
  EXPECT_EQ(row.errors, 1);
  EXPECT_EQ(row.bytes, 700);
  EXPECT_EQ(row.dur, 150);
  EXPECT_EQ(row.dur_min, 20);
  EXPECT_EQ(row.dur_max, 100);
  EXPECT_EQ(row.hist, (std::vector<std::int64_t>{0, 0, 0, 0, 2, 0, 1}));
  EXPECT_EQ(last_tick_, 5000U);
  EXPECT_EQ(sums.events_by_layer.at("heap"), 1);
  ASSERT_EQ(sums.summary.rows().size(), 1U);
  EXPECT_EQ(sums.summary.rows()[0].calls, 3);
  EXPECT_EQ(sums.summary.rows()[0].key.process, 0x1111U) << "a pid may have been several programs";
  EXPECT_TRUE(sums.losses.empty());
}

TEST_F(SummedCallsTest, OfOneIntervalAreOneRow) {
  RecordWriter w = begin();
  fathom_sums later = three_calls(0);
  later.least = 10;
  later.hist[3] = 1;
  w.sums(kMalloc, three_calls(0)).sums(kFree, three_calls(0)).sums(kMalloc, later, 7);
  w.sums(kMalloc, three_calls(kSecond));
  w.switch_to({0x1111, 10, 11, 1, 0, 0, 1000}).sums(kMalloc, three_calls(0));
  const Decoder::Sums sums = decode(w);
  std::vector<std::int64_t> calls;
  for (const IntervalRow& row : sums.intervals.rows) {
    calls.push_back(row.calls);
    EXPECT_EQ(row.bytes == kNull, strings_.view(row.name) == "free");
  }
  EXPECT_EQ(calls, (std::vector<std::int64_t>{7, 3, 3, 3}));  // by thread, function and interval
  EXPECT_EQ(sums.intervals.rows[0].bytes, 1400);
  EXPECT_EQ(sums.intervals.rows[0].dur_min, 10);
}

// A reader of a segment in use may meet a record that its thread has just begun, or is adding to.
TEST_F(SummedCallsTest, HalfAddedCallsAreHarmless) {
  fathom_sums fresh{};
  fresh.width_ns = kSecond;
  fresh.least = UINT64_MAX;
  fathom_sums half = fresh;
  half.hist[4] = 1;
  RecordWriter w = begin();
  w.sums(kMalloc, fresh).sums(kFree, half);
  const Decoder::Sums sums = decode(w);
  ASSERT_EQ(sums.intervals.rows.size(), 1U);
  EXPECT_EQ(sums.intervals.rows[0].calls, 1);
  EXPECT_EQ(sums.intervals.rows[0].dur_min, 0);
  EXPECT_TRUE(sums.losses.empty());
}

TEST_F(SummedCallsTest, DamageIsCounted) {
  RecordWriter sound = begin();
  sound.sums(kMalloc, three_calls(0));
  fathom_sums no_width = three_calls(0);
  no_width.width_ns = 0;
  fathom_sums far_away = three_calls(UINT64_MAX);
  struct Case {
    const char* what;
    unsigned kind;
    fathom_sums sums;
    std::uint8_t padding;
  };
  const Case cases[] = {{"a kind that nobody declared", 99, three_calls(0), 0},
                        {"more padding than there can be", kMalloc, three_calls(0), 8},
                        {"no width", kMalloc, no_width, 0},
                        {"an interval beyond all times", kMalloc, far_away, 0}};
  for (const Case& c : cases) {
    RecordWriter w = sound;
    w.sums(c.kind, c.sums, c.padding);
    const Decoder::Sums sums = decode(w);
    EXPECT_EQ(sums.intervals.rows.size(), 1U) << c.what;
    EXPECT_EQ(sums.losses.size(), 1U) << c.what;
  }
  for (std::size_t cut = 1; cut < sizeof(fathom_sums); cut++) {
    const std::span<const std::uint8_t> bytes(sound.bytes());
    const Decoder::Sums sums = decode(bytes.first(bytes.size() - cut), &schema_);
    EXPECT_TRUE(sums.intervals.rows.empty()) << cut;
    EXPECT_EQ(sums.losses.size(), 1U) << cut;
  }
}

}  // namespace
}  // namespace fathom::trace
