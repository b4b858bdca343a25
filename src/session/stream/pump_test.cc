// SPDX-License-Identifier: MIT
// What the pump packs while the program runs, and the rows that it hands on meanwhile.
#include "session/stream/pump.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "trace/recording/parquet_file.h"
#include "trace/recording/parquet_tables.h"
#include "trace/testing/spool_builder.h"

namespace fathom::session {
namespace {

using trace::testing::SegmentSpec;
using trace::testing::SpoolBuilder;
using trace::testing::TempDir;

constexpr std::size_t kRows = 6;  // of small_program()

class CountingConsumer : public RowConsumer {
 public:
  explicit CountingConsumer(bool refuses = false) : refuses_(refuses) {}
  Status take(const StreamProcess& process, const trace::EventBatch& /*events*/,
              const std::vector<std::size_t>& of_process,
              const trace::Strings& /*strings*/) override {
    if (refuses_) return Error{Code::kDenied, "no room for them", ""};
    asked = true;
    waits.wait(true);
    EXPECT_EQ(process.command, "prog --fast");
    rows += of_process.size();
    return {};
  }
  Status settle(std::uint64_t /*n*/, const std::string& /*ahead*/) override { return {}; }
  [[nodiscard]] std::uint64_t first_log() const override { return 0; }
  Status complete(const StreamProcess& /*process*/, bool /*in_order*/) override { return {}; }
  [[nodiscard]] std::int64_t wants_every(const StreamProcess& /*process*/) const override {
    return 1'000'000;
  }
  [[nodiscard]] bool keeps_recording() const override { return true; }

  std::atomic<std::size_t> rows = 0;
  std::atomic<bool> asked = false;
  std::atomic<bool> waits = false;  // it takes nothing while this is so

 private:
  bool refuses_;
};

template <class Ready>
void wait_for(const Ready& ready) {
  for (int tries = 0; tries < 10'000 && !ready(); tries++)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(ready());
}

class PumpTest : public ::testing::Test {
 protected:
  // Of a process that lives, or has ended.
  void add_program(std::uint32_t pid) {
    const std::uint64_t key = 0x100 + pids_;
    const std::string name = std::to_string(pid) + "-" + std::to_string(pids_++) + "-0";
    const SegmentSpec segment{small_program(builder_, key, pid).bytes(), FATHOM_SEGMENT_OWNED, pid,
                              key};
    builder_.add_pool(name, {segment}, pid);
  }
  Pump make_pump() {
    return {trace::Packer::open(directory_.path(), trace::Manifest{}, {}).value(),
            directory_.path()};
  }
  // With a log that is complete: as if the program had filled it.
  Pump make_pump_with_a_log() {
    add_program(SpoolBuilder::kDeadPid);
    trace::Packer packer = trace::Packer::open(directory_.path(), trace::Manifest{}, {}).value();
    EXPECT_EQ(packer.drain()->chunks, 1U);
    packer.look([](trace::Drainer& drainer) { drainer.roll(); });
    return {std::move(packer), directory_.path()};
  }
  [[nodiscard]] bool first_log_is_packed() const {
    return path_exists(join_path(directory_.path(), trace::parquet_name(trace::kEventsTable, 0)));
  }

  TempDir directory_;
  SpoolBuilder builder_{directory_.path(), true};
  std::uint64_t pids_ = 0;
};

TEST_F(PumpTest, PacksWhileTheProgramRuns) {
  Pump pump = make_pump_with_a_log();
  pump.start({});
  add_program(SpoolBuilder::kDeadPid);
  wait_for([&] { return first_log_is_packed(); });
  pump.stop();
  EXPECT_FALSE(pump.trouble());
}

TEST_F(PumpTest, TellsWhatTheProgramHadNoRoomFor) {
  Pump pump = make_pump();
  pump.start({});
  const auto self = static_cast<std::uint32_t>(::getpid());
  builder_.add_pool("1-a-0", {{{}, FATHOM_SEGMENT_FREE}}, self, 5);
  wait_for([&] { return pump.flow().lost == 5; });
  builder_.add_pool("1-b-0", {{{}, FATHOM_SEGMENT_FREE}}, self, 2);
  wait_for([&] { return pump.flow().lost == 7; });
}

// The program has the core: an idle pump rests for 20 ms at a time, after some shorter ones.
TEST_F(PumpTest, RestsWhereNothingIsToBeDone) {
  const auto begin = std::chrono::steady_clock::now();
  Pump pump = make_pump();
  pump.start({});
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::uint64_t passes = pump.flow().passes;
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(static_cast<double>(passes), 10 + time.count() / 20);
}

// A log that is packed is gone: not before the consumer has read it.
TEST_F(PumpTest, PackingWaitsForTheConsumer) {
  CountingConsumer consumer;
  consumer.waits = true;
  Pump pump = make_pump_with_a_log();
  ASSERT_TRUE(pump.hand_rows_to(consumer).has_value());
  pump.start({});
  wait_for([&] { return consumer.asked.load(); });
  add_program(SpoolBuilder::kDeadPid);
  wait_for([&] { return pump.flow().passes > 20; });
  EXPECT_FALSE(first_log_is_packed());
  consumer.waits = false;
  consumer.waits.notify_all();
  wait_for([&] { return first_log_is_packed(); });
  pump.stop();
  EXPECT_EQ(consumer.rows, 2 * kRows);
}

TEST_F(PumpTest, RowsAreHandedOnOnceWhileTheirProcessLives) {
  CountingConsumer consumer;
  Pump pump = make_pump();
  ASSERT_TRUE(pump.hand_rows_to(consumer).has_value());
  pump.start({});
  add_program(static_cast<std::uint32_t>(::getpid()));
  wait_for([&] { return consumer.rows == kRows; });
  add_program(SpoolBuilder::kDeadPid);
  wait_for([&] { return consumer.rows == 2 * kRows; });
  pump.stop();
  EXPECT_EQ(consumer.rows, 2 * kRows);
  EXPECT_FALSE(pump.rows_trouble());
}

TEST_F(PumpTest, WhoCameAndWentLastIsHandedOnToo) {
  CountingConsumer consumer;
  Pump pump = make_pump();
  ASSERT_TRUE(pump.hand_rows_to(consumer).has_value());
  pump.start({});
  wait_for([&] { return pump.flow().passes > 5; });
  add_program(SpoolBuilder::kDeadPid);
  pump.stop();
  EXPECT_EQ(consumer.rows, kRows);
}

TEST_F(PumpTest, AConsumerThatFailsCostsTheRecordingNothing) {
  CountingConsumer consumer(true);
  Pump pump = make_pump();
  ASSERT_TRUE(pump.hand_rows_to(consumer).has_value());
  pump.start({});
  add_program(SpoolBuilder::kDeadPid);
  wait_for([&] { return pump.flow().bytes > 0 || pump.flow().events > 0; });
  pump.stop();
  ASSERT_TRUE(pump.rows_trouble());
  EXPECT_EQ(pump.rows_trouble()->message, "no room for them");
  EXPECT_FALSE(pump.trouble());
  const Result<trace::FinishResult> finished = pump.packer().finish();
  ASSERT_TRUE(finished.has_value());
  EXPECT_EQ(pump.packer().progress().events, kRows);
}

}  // namespace
}  // namespace fathom::session
