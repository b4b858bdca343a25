// SPDX-License-Identifier: MIT
#include "sources/perf/sampled_events.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <limits>
#include <semaphore>
#include <thread>
#include <variant>

#include "perf/event.h"

namespace fathom::sources {
namespace {

constexpr int kSleeps = 20;

// What the rings hold is read late on a busy machine: after the thread has ended, and after its
// events were given back.
TEST(SampledEvents, WaitsOfAThreadThatHasEndedAreToldFromSamples) {
  Result<SampledEvents> events =
      SampledEvents::open({.event = perf::parse_event("cpu-clock").value()});
  if (!events) GTEST_SKIP() << events.error().message;
  if (!events->sees_kernel()) GTEST_SKIP() << events->kernel_refusal().message;
  std::binary_semaphore followed{0};
  pid_t tid = 0;
  std::binary_semaphore known{0};
  std::thread sleeper([&] {
    tid = ::gettid();
    known.release();
    followed.acquire();
    for (int i = 0; i < kSleeps; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  known.acquire();
  ASSERT_TRUE(events->follow(::getpid(), tid, SampledEvents::From::kNow));
  followed.release();
  sleeper.join();
  events->forget_ended();
  RecordQueue records;
  events->read(records);
  int waits = 0;
  records.release(std::numeric_limits<std::uint64_t>::max(), [&](std::span<const std::byte> bytes) {
    const std::optional<perf::Record> record = events->reader().read(bytes);
    if (record && std::holds_alternative<perf::Sample>(record->body))
      waits += events->which(record->id) == SampleOf::kLeaving ? 1 : 0;
  });
  EXPECT_GE(waits, kSleeps);
}

}  // namespace
}  // namespace fathom::sources
