// SPDX-License-Identifier: MIT
// What the server counts of itself, as Prometheus reads it at /metrics. Labels are routes, methods
// and statuses of ours, never words of a client: their number is bounded. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

namespace fathom::serve {

// One lock for all: a count takes less time than the request that it counts by far.
class Metrics {
 public:
  void count_request(std::string_view route, std::string_view method, int status);
  void count_refusal(std::string_view reason);
  void count_bytes(std::uint64_t received, std::uint64_t sent);
  void count_batch(std::string_view kind, std::uint64_t rows);
  void count_store_time(std::chrono::nanoseconds time);
  void open_connection();
  void close_connection();
  void open_stream();
  void close_stream();

  [[nodiscard]] std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::tuple<std::string, std::string, int>, std::uint64_t> requests_;
  std::map<std::string, std::uint64_t, std::less<>> refusals_;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>, std::less<>> batches_;
  std::uint64_t received_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t store_calls_ = 0;
  std::chrono::nanoseconds store_time_{0};
  std::uint64_t connections_made_ = 0;
  std::int64_t connections_ = 0;
  std::int64_t streams_ = 0;
};

}  // namespace fathom::serve
