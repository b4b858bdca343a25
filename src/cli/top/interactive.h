// SPDX-License-Identifier: MIT
// `fathom top` on a terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "cli/top/top_source.h"

namespace fathom::cli::top {

using OpensSource = std::function<Result<std::unique_ptr<TopSource>>()>;

// Draws until the user leaves or what is watched ends; gives the exit status. The source is opened
// when signals are taken care of, so that threads of it are not in the way.
Result<int> watch_on_terminal(const OpensSource& open, std::int64_t interval_ns);

}  // namespace fathom::cli::top
