// SPDX-License-Identifier: MIT
// Which Redis, as who: from a URL and what must not stand in one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::fleet {

struct RedisAddress {
  std::string host;  // a name or a number; "": a Unix socket
  std::uint16_t port = 0;
  std::string socket;  // its path
  auto operator<=>(const RedisAddress&) const = default;
};

struct RedisTarget {
  RedisAddress address;
  std::string user;      // "": the default user
  std::string password;  // "": none is sent
  int database = 0;
  bool is_tls = false;
  std::string ca_file;    // "": the system's
  std::string cert_file;  // "": none is shown
  std::string key_file;
  std::chrono::milliseconds connect_limit{5000};
  std::chrono::milliseconds answer_limit{10000};  // for one request and its answers
};

// "redis://[USER[:PASSWORD]@]HOST[:PORT][/DB]", "rediss://…" (TLS), "redis+unix:PATH[?db=N]".
// Messages never show the password.
Result<RedisTarget> parse_redis_url(std::string_view url);

// "host:6379", "[::1]:6379" or the socket's path.
[[nodiscard]] std::string shown(const RedisAddress& address);

}  // namespace fathom::fleet
