// SPDX-License-Identifier: MIT
// What arrives, second by second, for those who watch (/api/v1/events). The last seconds are kept
// for all watchers together; one that comes too late for a second is told how many it missed.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fathom::serve {

// Sums of one second, of one job and kind ("profile", "benchmark" …).
struct Arrived {
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;
  std::int64_t count = 0;  // of a profile; stays at the largest number where it would pass it
};

// What one client sent to one job since the server began.
struct ClientArrivals {
  std::string client, job;
  std::int64_t batches = 0;
  std::int64_t last = 0;  // seconds since 1970
};

// Any thread.
class Arrivals {
 public:
  using Clock = std::function<std::int64_t()>;  // seconds since 1970
  explicit Arrivals(Clock clock);

  // `client` is who sent the batch.
  void add(const std::string& job, const std::string& kind, const std::string& client,
           std::uint64_t rows, std::int64_t count);

  // Where a watcher stands.
  struct Place {
    std::int64_t next = 0;  // the second that comes next
  };
  [[nodiscard]] Place now() const { return {clock_()}; }
  // By client and job. Those that were silent for longest are forgotten where there are many.
  [[nodiscard]] std::vector<ClientArrivals> heard() const;

  // Server-sent events of all seconds that have passed since, of one job or (where that is empty)
  // of all; a comment where there is nothing to tell.
  [[nodiscard]] std::string since(Place& place, const std::string& job);

 private:
  struct Second {
    std::int64_t number = 0;
    std::map<std::pair<std::string, std::string>, Arrived> sums;
    std::map<std::pair<std::string, std::string>, Arrived> clients;  // by client and job
    std::uint64_t left_out = 0;          // batches of jobs beyond the most that a second tells of
    std::uint64_t clients_left_out = 0;  // and of clients
  };

  void hear(const std::pair<std::string, std::string>& sender, std::int64_t second);

  Clock clock_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, ClientArrivals> heard_;  // by client and job
  std::deque<Second> seconds_;  // those in which something arrived
  std::int64_t forgotten_ = 0;  // the last second that was dropped
};

}  // namespace fathom::serve
