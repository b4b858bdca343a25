// SPDX-License-Identifier: MIT
// An IPv6 address stands in brackets: its colons would be read as the port's.
#include "fleet/http/listen_address.h"

#include <fmt/format.h>

#include <charconv>

#include "base/escape.h"

namespace fathom::fleet {
namespace {

constexpr char kOwnMachine[] = "127.0.0.1";  // where a port alone is meant

Error bad_address(const std::string& text, std::string_view option) {
  return usage_error(
      fmt::format("{} must be HOST:PORT or PORT, not '{}'", option, escape_name(text)),
      "for example 127.0.0.1:10000 or [::]:10000");
}

}  // namespace

Result<Address> parse_address(const std::string& text, std::string_view option) {
  const std::size_t colon = text.rfind(':');
  const std::size_t port_at = colon == std::string::npos ? 0 : colon + 1;
  Address address;
  address.host = port_at > 1 ? text.substr(0, colon) : kOwnMachine;
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  } else if (address.host.find(':') != std::string::npos) {
    return bad_address(text, option);
  }
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + port_at, last, address.port);
  if (error != std::errc() || end != last) return bad_address(text, option);
  return address;
}

}  // namespace fathom::fleet
