// SPDX-License-Identifier: MIT
// A thread that is followed hands its events on to those that it makes, and the kernel tells of
// them; one that is not yet followed makes others that nobody tells of. So the list is read again
// until it holds none that is neither followed nor told of.
#include "sources/perf/follow_process.h"

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace fathom::sources {
namespace {

// A process that makes threads faster than they are found is left as it is then.
constexpr int kMostRounds = 50;
// The kernel lists a thread a moment before it tells of it.
constexpr std::chrono::milliseconds kMoment{2};

std::set<pid_t> threads_of(pid_t process) {
  std::set<pid_t> threads;
  const Result<std::vector<std::string>> names =
      list_dir("/proc/" + std::to_string(process) + "/task");
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    const Result<std::int64_t> thread = parse_int(name);
    if (thread) threads.insert(static_cast<pid_t>(*thread));
  }
  return threads;
}

class Follower {
 public:
  Follower(pid_t process, SampledEvents& events, RecordQueue& records)
      : process_(process), events_(events), records_(records) {}

  Result<FollowedThreads> follow() {
    for (int round = 0; round < kMostRounds; ++round) {
      std::set<pid_t> fresh = unknown_threads();
      if (!fresh.empty() && round > 0) {
        std::this_thread::sleep_for(kMoment);
        fresh = unknown_threads();
      }
      if (fresh.empty()) break;
      for (const pid_t thread : fresh) take(thread);
    }
    if (!result_.threads.empty()) return std::move(result_);
    if (result_.refused > 0) return result_.why;
    return Error{Code::kNotFound, "there is no process " + std::to_string(process_), ""};
  }

 private:
  std::set<pid_t> unknown_threads() {
    std::set<pid_t> threads = threads_of(process_);
    events_.read(records_, &known_);
    std::erase_if(threads, [this](pid_t thread) { return known_.contains(thread); });
    return threads;
  }

  void take(pid_t thread) {
    known_.insert(thread);
    const Status followed = events_.follow(process_, thread, SampledEvents::From::kNow);
    if (followed) {
      result_.threads.insert(thread);
    } else if (followed.error().code != Code::kNotFound) {
      if (result_.refused++ == 0) result_.why = followed.error();
    }
  }

  pid_t process_;
  SampledEvents& events_;
  RecordQueue& records_;
  std::set<pid_t> known_;  // looked at, or told of
  FollowedThreads result_;
};

}  // namespace

Result<FollowedThreads> follow_process(pid_t process, SampledEvents& events, RecordQueue& records) {
  return Follower(process, events, records).follow();
}

}  // namespace fathom::sources
