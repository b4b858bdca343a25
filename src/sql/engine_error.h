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

}  // namespace fathom::sql
