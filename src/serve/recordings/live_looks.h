// SPDX-License-Identifier: MIT
// How far recordings are that are being made: looked at once a second, however many clients ask.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "trace/rows/name_resolver.h"

namespace fathom::serve {

struct Growth {
  bool is_running = false;
  std::int64_t wall_ns = 0;  // these two only while it is running
  std::int64_t events = 0;
};

// Any thread.
class LiveLooks {
 public:
  explicit LiveLooks(trace::NameResolver names);
  ~LiveLooks();
  LiveLooks(const LiveLooks&) = delete;
  LiveLooks& operator=(const LiveLooks&) = delete;

  // Of a recording, or of all in a directory.
  Growth look(const std::string& path);

 private:
  struct One;
  Result<Growth> look_at(const std::string& recording);
  void forget_unasked();

  trace::NameResolver names_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<One>> open_;
};

}  // namespace fathom::serve
