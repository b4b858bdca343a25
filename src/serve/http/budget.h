// SPDX-License-Identifier: MIT
// How much memory bodies of requests may take, all together. Who wants more than is left is told to
// come again later (429), so that no number of clients fills the server.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace fathom::serve {

// Any thread may take leases, without a lock: bodies grow while they come. Must outlive them.
class Budget {
 public:
  explicit Budget(std::size_t bytes) : left_(bytes) {}

  // What somebody holds of it; goes back with the object. One thread at a time.
  class Lease {
   public:
    explicit Lease(Budget& budget) : budget_(&budget) {}
    Lease(Lease&& other) noexcept : budget_(other.budget_), held_(std::exchange(other.held_, 0)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() { budget_->left_ += held_; }

    // Holds so many bytes from now on, more or fewer. false: there are not so many left, and
    // nothing has changed.
    [[nodiscard]] bool resize(std::size_t bytes) {
      if (bytes > held_ && !budget_->take(bytes - held_)) return false;
      if (bytes < held_) budget_->left_ += held_ - bytes;
      held_ = bytes;
      return true;
    }

   private:
    Budget* budget_;
    std::size_t held_ = 0;
  };

  [[nodiscard]] std::size_t left() const { return left_; }

 private:
  bool take(std::size_t bytes) {
    std::size_t left = left_;
    while (left >= bytes) {
      if (left_.compare_exchange_weak(left, left - bytes)) return true;
    }
    return false;
  }

  std::atomic<std::size_t> left_;
};

}  // namespace fathom::serve
