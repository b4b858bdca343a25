// SPDX-License-Identifier: MIT
// DuckDB's errors have several lines; ours have one, and a hint.
#pragma once

#include <string_view>

#include "base/result.h"

namespace fathom::sql {

// The first line becomes the message, a line that suggests something ("Did you mean …", "Candidate
// bindings: …") the hint; the quoted statement with its caret is dropped. The code follows DuckDB's
// kind of error.
Error engine_error(std::string_view text);

// Whether the error is of a kind that bytes of a damaged file cause. Some faults of a statement are
// of the same kind; what is wrong with its words is not.
[[nodiscard]] bool may_be_of_data(const Error& error);

}  // namespace fathom::sql
