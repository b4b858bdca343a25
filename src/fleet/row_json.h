// SPDX-License-Identifier: MIT
// Rows of a profile as JSON: {"node": "f", "exec": "a.out", "event": "cycles", "count": 1}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model.h"

namespace fathom::fleet {

// The text of one object. kInvalid names what is wrong with it: a count is a whole number from 0.
Result<ProfileRow> parse_row(std::string_view json);

// An array of them.
[[nodiscard]] std::string rows_json(const std::vector<ProfileRow>& rows);

}  // namespace fathom::fleet
