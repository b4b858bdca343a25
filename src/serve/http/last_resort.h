// SPDX-License-Identifier: MIT
// Ends the process where a server that is to stop cannot: a question that never looks up from its
// work would keep it for ever. First among what a service makes, so that it is the last to go.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace fathom::serve {

// begin() makes a thread, which is owned and ended with this: gone within its patience, nothing
// happens.
class LastResort {
 public:
  // `farewell` is called before the end, by a thread of its own.
  LastResort(std::chrono::milliseconds patience, std::function<void()> farewell);
  ~LastResort();
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;

  // From now on its patience counts.
  void begin();

 private:
  void wait();

  std::chrono::milliseconds patience_;
  std::function<void()> farewell_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace fathom::serve
