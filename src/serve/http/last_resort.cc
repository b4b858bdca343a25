// SPDX-License-Identifier: MIT
// A good stop that left questions behind is still one: status 0.
#include "serve/http/last_resort.h"

#include <unistd.h>

#include <utility>

#include "base/scratch.h"

namespace fathom::serve {

LastResort::LastResort(std::chrono::milliseconds patience, std::function<void()> farewell)
    : patience_(patience), farewell_(std::move(farewell)) {}

LastResort::~LastResort() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LastResort::begin() {
  const std::scoped_lock lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { wait(); });
}

void LastResort::wait() {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, patience_, [this] { return ended_; })) return;
  if (farewell_) farewell_();
  remove_temporary_paths();
  ::_exit(0);
}

}  // namespace fathom::serve
