// SPDX-License-Identifier: MIT
// A run that nobody supervises, served while its program lives.
#include "session/stream/row_stream.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "trace/testing/recordings.h"

namespace fathom::session {
namespace {

using trace::testing::kDead;
using trace::testing::RecordWriter;
using trace::testing::SpoolBuilder;
using trace::testing::TempDir;

constexpr std::uint64_t kKey = 0x99;

class Consumer : public RowConsumer {
 public:
  explicit Consumer(std::int64_t every_ns) : every_ns_(every_ns) {}
  Status take(const StreamProcess& /*process*/, const trace::EventBatch& /*events*/,
              const std::vector<std::size_t>& of_process,
              const trace::Strings& /*strings*/) override {
    rows += of_process.size();
    return {};
  }
  Status settle(std::uint64_t /*n*/, const std::string& /*ahead*/) override { return {}; }
  [[nodiscard]] std::uint64_t first_log() const override { return 0; }
  Status complete(const StreamProcess& process, bool in_order) override {
    EXPECT_EQ(process.pid, ::getpid());
    (in_order ? files_asked_for : files_of_dead)++;
    return {};
  }
  [[nodiscard]] std::int64_t wants_every(const StreamProcess& /*process*/) const override {
    return every_ns_;
  }
  [[nodiscard]] bool keeps_recording() const override { return true; }

  std::atomic<std::size_t> rows = 0;
  std::atomic<int> files_asked_for = 0;
  std::atomic<int> files_of_dead = 0;

 private:
  std::int64_t every_ns_;
};

// The stream is in a thread of its own, and its signals with it. This process is the program: one
// region in a segment that it owns until end_program().
class RowStreamTest : public ::testing::Test {
 protected:
  RowStreamTest() {
    const auto pid = static_cast<std::uint32_t>(::getpid());
    RecordWriter w;
    w.switch_to({kKey, pid, pid, 0, 0, 0, builder_.at(9999000000)});
    w.process(0, pid, 1, 0, builder_.at(9999000000), FATHOM_ATTACH_PRELOAD);
    w.string(1, "dftracer.0").string(2, "log=x").meta(1, 2);
    w.string(3, "step").site(4, 3, 0);
    w.region(0, builder_.at(9999000100), builder_.at(9999000200), 4);
    pool_ = builder_.add_pool("1-a-0", {{w.bytes(), FATHOM_SEGMENT_OWNED, pid, kKey}}, pid);
  }
  void serve(Consumer& consumer) {
    stream_ = std::jthread([this, &consumer] {
      const Result<StreamOutcome> outcome = stream_rows(directory_.path(), consumer, false);
      ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
      EXPECT_FALSE(outcome->writers_alive);
      EXPECT_FALSE(outcome->interrupted);
    });
  }
  void end_program() {
    const trace::Pool pool = trace::Pool::open(pool_, true).value();
    pool.header().creator_pid = kDead;
    pool.segment(0).claim = FATHOM_SEGMENT_FULL;
    stream_.join();
  }
  // Also where it does not come: the stream has to end.
  template <class Ready>
  static bool comes(const Ready& ready) {
    for (int tries = 0; tries < 5'000 && !ready(); tries++)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ready();
  }

  TempDir directory_;
  SpoolBuilder builder_{directory_.path()};
  std::string pool_;
  std::jthread stream_;
};

TEST_F(RowStreamTest, LooksAtWhoWasThereBefore) {
  Consumer consumer(1'000'000);
  serve(consumer);
  EXPECT_TRUE(comes([&] { return consumer.rows == 1; })) << "of a segment that is in use";
  end_program();
  EXPECT_EQ(consumer.rows, 1U) << "once";
  EXPECT_EQ(consumer.files_of_dead, 1);
}

// The program waits until its entry is gone: its file is complete then.
TEST_F(RowStreamTest, AnEntryGoesWhenItsFileIsThere) {
  Consumer consumer(0);
  const std::string entry = join_path(builder_.directory(), "wanted-" + std::to_string(::getpid()));
  ASSERT_TRUE(write_file_atomic(entry, "").has_value());
  serve(consumer);
  EXPECT_TRUE(comes([&] { return !path_exists(entry); }));
  EXPECT_EQ(consumer.files_asked_for, 1);
  EXPECT_EQ(consumer.rows, 1U);
  end_program();
  EXPECT_EQ(consumer.rows, 1U) << "once";
}

}  // namespace
}  // namespace fathom::session
