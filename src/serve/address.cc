// SPDX-License-Identifier: MIT
// Where to listen: the text of --listen.
#include <charconv>

#include "base/escape.h"
#include "serve/server.h"

namespace fathom::serve {
namespace {

Error bad_address(const std::string& text) {
  return usage_error("--listen must be HOST:PORT, not '" + escape_name(text) + "'",
                     "for example 127.0.0.1:10000 or [::]:10000");
}

}  // namespace

Result<Address> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return bad_address(text);
  Address address;
  address.host = text.substr(0, colon);
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  } else if (address.host.find(':') != std::string::npos) {
    return bad_address(text);
  }
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + colon + 1, last, address.port);
  if (address.host.empty() || error != std::errc() || end != last) return bad_address(text);
  return address;
}

}  // namespace fathom::serve
