// SPDX-License-Identifier: MIT
// The doors to the user's terminal: what commands print goes through here, and nothing that a name
// or a message holds steers the terminal (base/text.h).
#pragma once

#include <string_view>

#include "base/result.h"

namespace fathom::cli {

// One line on stderr: "fathom: what is wrong; what to do".
void tell(const Error& error);

// A remark as one line on stderr.
void remark(std::string_view sentence);

// Lines on stderr, and on stdout. Names in them are escaped already, so that a line end in a name
// makes no line; this stops what was overlooked.
void print_beside(std::string_view page);
Status print(std::string_view page);

}  // namespace fathom::cli
