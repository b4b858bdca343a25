// SPDX-License-Identifier: MIT
// Lists whose parts may hold commas of their own.
#pragma once

#include <string>
#include <vector>

namespace fathom {

// Parts of a list that was cut at its commas, whole again where these were in brackets: "f(int,
// char)", "a{1,2}".
[[nodiscard]] std::vector<std::string> join_in_brackets(const std::vector<std::string>& parts);

}  // namespace fathom
