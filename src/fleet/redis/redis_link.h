// SPDX-License-Identifier: MIT
// One connection to one Redis, over TCP, TLS or a Unix socket. One thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/redis/redis_target.h"
#include "fleet/redis/resp.h"

namespace fathom::fleet {

// Commands that are sent together and answered in order.
class RedisRequest {
 public:
  RedisRequest& add(const std::vector<std::string_view>& words) {
    append_command(bytes_, words);
    ++commands_;
    return *this;
  }
  void append(const RedisRequest& other) {
    bytes_ += other.bytes_;
    commands_ += other.commands_;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::size_t commands() const { return commands_; }

 private:
  std::string bytes_;
  std::size_t commands_ = 0;
};

using RedisAnswers = std::vector<RespValue>;

// Owns its socket. An interface with one implementation, which keeps Boost in the .cc; tests speak
// to a real Redis.
class RedisLink {
 public:
  // Connected, with TLS checked, logged in, and the database chosen. kUnavailable, kDenied,
  // kInvalid.
  static Result<std::unique_ptr<RedisLink>> connect(const RedisTarget& target);
  virtual ~RedisLink() = default;
  RedisLink(const RedisLink&) = delete;
  RedisLink& operator=(const RedisLink&) = delete;

  // Answers may be errors of Redis. After an Error of ours (kUnavailable, kCorrupt) the link is
  // broken, and nobody knows what Redis did with the request.
  virtual Result<RedisAnswers> ask(const RedisRequest& request) = 0;

 protected:
  RedisLink() = default;
};

}  // namespace fathom::fleet
