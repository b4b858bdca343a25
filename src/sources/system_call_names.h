// SPDX-License-Identifier: MIT
// Names of system calls of this machine's architecture, as strace prints them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace fathom::sources {

struct SystemCallName {
  std::uint32_t number;
  std::string_view name;
};

[[nodiscard]] std::span<const SystemCallName> system_call_names();
// "" where there is no such call.
[[nodiscard]] std::string_view system_call_name(std::int64_t number);

}  // namespace fathom::sources
