// SPDX-License-Identifier: MIT
// Where a server of ours listens, as options and instructions say it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::fleet {

struct Address {
  std::string host;  // "127.0.0.1", "::", "localhost"
  std::uint16_t port = 0;
};

// "127.0.0.1:10000", "[::]:0", "localhost:1"; a port alone is one of 127.0.0.1. kUsage for anything
// else, with the name of the option.
Result<Address> parse_address(const std::string& text, std::string_view option);

}  // namespace fathom::fleet
