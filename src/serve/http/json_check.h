// SPDX-License-Identifier: MIT
// Whether a text is JSON, before anything is made of it.
#pragma once

#include <string_view>

#include "base/result.h"

namespace fathom::serve {

inline constexpr int kDeepestJson = 64;

// kInvalid with the place: a syntax error, no UTF-8, a number that no double can hold, or brackets
// more than kDeepestJson deep.
Status check_json(std::string_view text);

}  // namespace fathom::serve
