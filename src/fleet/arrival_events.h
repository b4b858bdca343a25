// SPDX-License-Identifier: MIT
// What a server tells of arrivals (GET /api/v1/events): bytes of server-sent events into sums of
// seconds. The server is trusted with nothing: lines and lists have a limit, and what is no event
// of ours is left out and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::fleet {

struct ArrivedSum {
  std::string job;
  std::string kind;  // "profile", "benchmark" …
  std::int64_t batches = 0;
  std::int64_t rows = 0;
  std::int64_t count = 0;  // of a profile
};

struct ClientSum {
  std::string client;
  std::string job;
  std::int64_t batches = 0;
  std::int64_t rows = 0;
};

struct ArrivedSecond {
  std::int64_t time = 0;  // since 1970
  std::vector<ArrivedSum> sums;
  std::vector<ClientSum> clients;
  std::int64_t left_out = 0;  // batches that the server did not tell apart
};

// One thread at a time.
class ArrivalEvents {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{4} << 20;

  // Bytes come in pieces of any size.
  void take(std::string_view bytes, const std::function<void(const ArrivedSecond&)>& arrived);

  [[nodiscard]] std::int64_t missed() const { return missed_; }    // seconds that we lost
  [[nodiscard]] std::int64_t damaged() const { return damaged_; }  // events

 private:
  void take_line(std::string_view line);
  void end_event(const std::function<void(const ArrivedSecond&)>& arrived);

  std::string line_;
  bool too_long_ = false;
  std::string event_;
  std::string data_;
  std::int64_t missed_ = 0;
  std::int64_t damaged_ = 0;
};

}  // namespace fathom::fleet
