// SPDX-License-Identifier: MIT
// Parses redis://, rediss:// and redis+unix: with escapes. Errors say what is wrong without
// repeating the address, because it may hold a password.
#include "fleet/redis/redis_target.h"

#include <charconv>
#include <optional>

namespace fathom::fleet {
namespace {

constexpr std::uint16_t kPort = 6379;

Error bad_url(const std::string& what) {
  return {Code::kInvalid, "the address of Redis: " + what,
          "redis://[USER@]HOST:PORT/DB, rediss://… or redis+unix:PATH"};
}

// All of the text, or none of it.
template <class T>
std::optional<T> number_of(std::string_view text) {
  T number{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// %2F and the like: what would otherwise end a part of the URL.
Result<std::string> decode(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    unsigned value = 0;
    const std::string_view digits = text.substr(at + 1, 2);
    const auto [end, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || failed != std::errc() || end != digits.data() + 2)
      return bad_url("a % without two hexadecimal digits");
    out += static_cast<char>(value);
    at += 2;
  }
  return out;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

Status read_login(std::string_view login, RedisTarget& target) {
  const std::size_t colon = login.find(':');
  FATHOM_ASSIGN(target.user, decode(login.substr(0, colon)));
  if (colon == std::string_view::npos) return {};
  FATHOM_ASSIGN(target.password, decode(login.substr(colon + 1)));
  return {};
}

Status read_host(std::string_view text, RedisAddress& address) {
  const bool has_brackets = text.starts_with('[');
  const std::size_t end = has_brackets ? text.find(']') : text.find(':');
  if (has_brackets && end == std::string_view::npos) return bad_url("a [ without its ]");
  address.host = text.substr(has_brackets ? 1 : 0, has_brackets ? end - 1 : end);
  address.port = kPort;
  std::string_view rest =
      end == std::string_view::npos ? "" : text.substr(end + (has_brackets ? 1 : 0));
  if (address.host.empty()) return bad_url("no host");
  if (rest.empty()) return {};
  if (!take_prefix(rest, ":")) return bad_url("something after the ]");
  const auto port = number_of<std::uint16_t>(rest);
  if (!port || *port == 0) return bad_url("the port is not one of 1 to 65535");
  address.port = *port;
  return {};
}

Status read_database(std::string_view text, RedisTarget& target) {
  if (text.empty()) return {};
  const auto database = number_of<int>(text);
  if (!database || *database < 0) return bad_url("the database is not a number");
  target.database = *database;
  return {};
}

Result<RedisTarget> parse_socket(std::string_view path) {
  RedisTarget target;
  if (const std::size_t query = path.find("?db="); query != std::string_view::npos) {
    FATHOM_TRY(read_database(path.substr(query + 4), target));
    path = path.substr(0, query);
  }
  if (path.empty()) return bad_url("no path of a socket");
  target.address.socket = path;
  return target;
}

}  // namespace

Result<RedisTarget> parse_redis_url(std::string_view url) {
  RedisTarget target;
  if (take_prefix(url, "redis+unix:")) {
    (void)take_prefix(url, "//");
    return parse_socket(url);
  }
  target.is_tls = take_prefix(url, "rediss://");
  if (!target.is_tls && !take_prefix(url, "redis://")) return bad_url("unknown scheme");
  const std::size_t slash = url.rfind('/');
  std::string_view authority = url.substr(0, slash);
  if (slash != std::string_view::npos) FATHOM_TRY(read_database(url.substr(slash + 1), target));
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    FATHOM_TRY(read_login(authority.substr(0, at), target));
    authority.remove_prefix(at + 1);
  }
  FATHOM_TRY(read_host(authority, target.address));
  return target;
}

std::string shown(const RedisAddress& address) {
  if (address.host.empty()) return address.socket;
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

}  // namespace fathom::fleet
