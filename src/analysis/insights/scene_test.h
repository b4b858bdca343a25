// SPDX-License-Identifier: MIT
// A recording made of a few lines, for the tests of rules: calls stand behind each other in their
// process's main thread, which lives as long as the run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/store.h"
#include "base/result.h"
#include "trace/recording/recording_writer.h"

namespace fathom::analysis::testing {

inline constexpr std::int64_t kMicrosecond = 1'000;
inline constexpr std::int64_t kMillisecond = 1'000'000;
inline constexpr std::int64_t kSecond = 1'000'000'000;
inline constexpr std::int64_t kMiB = 1 << 20;
inline constexpr std::int64_t kNothing = -1;

struct Calls {
  std::string layer = "posix";
  std::string name = "read";
  std::string category = "read";
  std::string file = "/data/in";
  std::int64_t count = 1;
  std::int64_t dur = kMicrosecond;
  std::int64_t bytes = kNothing;
  std::int64_t offset = kNothing;  // of the first call
  std::int64_t step = kNothing;    // to the next one's offset; kNothing: as many bytes
  bool failed = false;
  std::string error = "ENOENT";
  std::string peer = "";  // of a pipe or socket
  std::int32_t pid = 10;
};

// Calls of the most usual kinds, and changes of them.
inline Calls reads(std::int64_t count, std::int64_t bytes, std::int64_t dur) {
  return {.count = count, .dur = dur, .bytes = bytes, .offset = 0};
}

inline Calls writes(std::int64_t count, std::int64_t bytes, std::int64_t dur) {
  return {.name = "write",
          .category = "write",
          .file = "/data/out",
          .count = count,
          .dur = dur,
          .bytes = bytes,
          .offset = 0};
}

inline Calls of(Calls calls, const std::function<void(Calls&)>& change) {
  change(calls);
  return calls;
}

inline Calls by(Calls calls, std::int32_t pid) {
  calls.pid = pid;
  return calls;
}

inline Calls backwards(Calls calls) {
  calls.offset = calls.count * calls.bytes;
  calls.step = -calls.bytes;
  return calls;
}

inline Calls at(Calls calls, const std::string& file) {
  calls.file = file;
  return calls;
}

inline Calls named(const std::string& layer, const std::string& name, const std::string& category,
                   std::int64_t count, std::int64_t dur) {
  return {.layer = layer, .name = name, .category = category, .count = count, .dur = dur};
}

class Scene {
 public:
  explicit Scene(std::int64_t wall = kSecond) : wall_(wall) {}

  Scene& calls(const Calls& calls);
  Scene& idle(std::int64_t ns, std::int32_t pid = 10);
  Scene& rank(std::int32_t pid, std::int64_t rank);
  Scene& thread(std::int32_t pid, std::int32_t tid);  // that makes no call
  Scene& child(std::int32_t pid, std::int32_t parent, const std::string& program = "work");
  Scene& short_process(std::int32_t pid, std::int64_t life);
  Scene& counter(const std::string& name, std::int32_t pid, std::int64_t ts, double value,
                 const std::string& layer = "resource");
  Scene& loss(const std::string& reason, std::int64_t count);
  // What a thread did next by layer cpu, `count` times: it ran, or was off the CPU. A stack is
  // "outer!module;inner!module".
  Scene& ran(std::int32_t pid, std::int32_t tid, const std::string& stack, std::int64_t count,
             std::int64_t each);
  Scene& waited(std::int32_t pid, std::int32_t tid, const std::string& stack, std::int64_t count,
                std::int64_t each);
  Scene& ready(std::int32_t pid, std::int64_t ns);  // of its main thread
  Scene& cores(int cores);

  // The recording, opened.
  [[nodiscard]] Result<Store> open(const std::string& directory) const;

 private:
  struct Counter {
    std::string layer;
    std::string name;
    std::int32_t pid;
    std::int64_t ts;
    double value;
  };
  struct Stretch {
    std::int64_t ts;
    std::int32_t pid;
    std::int32_t tid;
    std::string event;
    std::string stack;
    std::int64_t weight;
  };
  Scene& spent(const Stretch& first, std::int64_t count);
  Status append_samples(trace::RecordingWriter& writer) const;

  std::int64_t wall_;
  int cores_ = 0;
  std::vector<Stretch> stretches_;
  std::map<std::int32_t, std::int64_t> spent_;  // until when, by thread
  std::map<std::int32_t, std::int64_t> ready_;
  std::vector<std::pair<std::int64_t, Calls>> calls_;  // with the time of the first
  std::map<std::int32_t, std::int64_t> now_;
  std::map<std::int32_t, std::int64_t> ranks_;
  std::map<std::int32_t, std::int64_t> lives_;
  std::map<std::int32_t, std::pair<std::int32_t, std::string>> children_;
  std::vector<std::pair<std::int32_t, std::int32_t>> threads_;  // besides main threads
  std::vector<Counter> counters_;
  std::vector<std::pair<std::string, std::int64_t>> losses_;
};

}  // namespace fathom::analysis::testing
