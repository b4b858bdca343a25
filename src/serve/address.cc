// SPDX-License-Identifier: MIT
// Where to listen: the text of --listen.
#include <charconv>

#include "base/escape.h"
#include "serve/server.h"

namespace fathom::serve {
namespace {

constexpr char kOwnMachine[] = "127.0.0.1";  // where a port alone is meant

Error bad_address(const std::string& text) {
  return usage_error("--listen must be HOST:PORT or PORT, not '" + escape_name(text) + "'",
                     "for example 127.0.0.1:10000 or [::]:10000");
}

}  // namespace

Result<Address> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::size_t port_at = colon == std::string::npos ? 0 : colon + 1;
  Address address;
  address.host = port_at > 1 ? text.substr(0, colon) : kOwnMachine;
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  } else if (address.host.find(':') != std::string::npos) {
    return bad_address(text);
  }
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + port_at, last, address.port);
  if (error != std::errc() || end != last) return bad_address(text);
  return address;
}

}  // namespace fathom::serve
