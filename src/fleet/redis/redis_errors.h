// SPDX-License-Identifier: MIT
// What Redis says when it says no.
#pragma once

#include <string_view>

#include "base/result.h"

namespace fathom::fleet {

// Of an error's text ("OOM command not allowed …"): our Code, and what to do.
[[nodiscard]] Error redis_error(std::string_view text);

}  // namespace fathom::fleet
