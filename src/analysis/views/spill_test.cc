// SPDX-License-Identifier: MIT
// Views of events give the same answer when the database may use less memory than they need.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "analysis/report.h"
#include "trace/recording/recording_writer.h"

namespace fathom::analysis {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSteps = 25'000;  // of each thread
constexpr std::int64_t kReads = 9;       // in each step
constexpr std::int64_t kStepNs = 1000;
constexpr std::int64_t kReadNs = 50;

// Two threads of steps without a break, the second half a step behind the first; a step begins with
// its reads, one after the other.
Status write_steps(const std::string& path) {
  trace::Manifest manifest;
  manifest.duration_ns = (kSteps + 1) * kStepNs;
  FATHOM_ASSIGN(trace::RecordingWriter writer, trace::RecordingWriter::create(path, manifest));
  trace::EventBatch events;
  const auto add = [&](int tid, const char* layer, const char* name, int depth, std::int64_t ts,
                       std::int64_t dur) {
    trace::EventRow row;
    row.pid = 1;
    row.tid = tid;
    row.depth = depth;
    row.layer = writer.strings().code(layer);
    row.name = writer.strings().code(name);
    row.ts = ts;
    row.dur = dur;
    events.push(row);
  };
  for (int tid = 1; tid <= 2; ++tid) {
    for (std::int64_t i = 0; i < kSteps; ++i) {
      const std::int64_t ts = i * kStepNs + (tid - 1) * kStepNs / 2;
      add(tid, "app", "step", 0, ts, kStepNs);
      for (std::int64_t n = 0; n < kReads; ++n)
        add(tid, "posix", "read", 1, ts + n * kReadNs, kReadNs);
    }
  }
  FATHOM_TRY(writer.append(events));
  return writer.finish();
}

class SpillTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "fathom_spill_" + std::to_string(getpid());
    fs::remove_all(path_);
    const Status written = write_steps(path_);
    ASSERT_TRUE(written) << written.error().message;
  }
  void TearDown() override { fs::remove_all(path_); }

  std::string path_;
};

std::int64_t number(const Table& table, std::size_t row, std::string_view column) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == column) return std::get<std::int64_t>(table.rows.at(row)[i].data);
  }
  ADD_FAILURE() << "no column " << column;
  return -1;
}

TEST_F(SpillTest, OverlapTreeAndPhases) {
  Result<Store> store = Store::open(path_, {.resolver = {}, .threads = 1, .memory = "60MB"});
  ASSERT_TRUE(store) << store.error().message;
  const auto ask = [&](const std::string& sql) {
    Result<Table> found = store->query_untrusted(sql);
    EXPECT_TRUE(found) << found.error().message;
    return found ? std::move(found).value() : Table();
  };
  // A thread reads in the first 450 ns of its step and computes in the others: both in turn, so
  // that no read is without the other's compute, but for the first, when there is no other yet.
  const Table overlap = ask("FROM overlap WHERE scope = 'process'");
  EXPECT_EQ(number(overlap, 0, "app_io"), 2 * kSteps * kReads * kReadNs);
  EXPECT_EQ(number(overlap, 0, "unoverlapped_app_io"), kReads * kReadNs);
  const Table tree = ask("FROM tree ORDER BY depth");
  EXPECT_EQ(number(tree, 0, "calls"), 2 * kSteps);
  EXPECT_EQ(number(tree, 1, "calls"), 2 * kSteps * kReads);
  EXPECT_EQ(number(tree, 1, "total"), 2 * kSteps * kReads * kReadNs);
  const Table phases = ask("FROM phases");
  EXPECT_EQ(number(phases, 0, "io"), 2 * kSteps * kReads * kReadNs);
  EXPECT_EQ(number(phases, 0, "median"), kStepNs);
}

// What a question needs beyond its memory goes to disk: without a place there it fails.
TEST_F(SpillTest, LargeSortsNeedADisk) {
  const std::string sort =
      "SELECT max(n) AS n FROM (SELECT row_number() OVER (ORDER BY name, ts % 7919, dur, tid) AS n "
      "FROM events)";
  const auto ask = [&](const char* directory) {
    setenv("TMPDIR", directory, 1);
    Result<Store> store = Store::open(path_, {.resolver = {}, .threads = 1, .memory = "20MB"});
    unsetenv("TMPDIR");
    EXPECT_TRUE(store) << store.error().message;
    return store->query(sort);
  };
  EXPECT_FALSE(ask("/proc/self/nowhere"));
  const Result<Table> sorted = ask(::testing::TempDir().c_str());
  ASSERT_TRUE(sorted) << sorted.error().message;
  EXPECT_EQ(number(*sorted, 0, "n"), 2 * kSteps * (kReads + 1));
}

}  // namespace
}  // namespace fathom::analysis
