// SPDX-License-Identifier: MIT
// The CPUs of this machine, by their numbers.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace fathom {

// A list as the kernel writes them and users type them, "0-3,7". Nothing where it is none.
[[nodiscard]] std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// Those that run now. At least one: number 0 where the kernel does not tell.
[[nodiscard]] std::vector<int> online_cpus();

}  // namespace fathom
