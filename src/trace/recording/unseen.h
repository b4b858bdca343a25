// SPDX-License-Identifier: MIT
// What recorded processes did that no hook saw: requests by io_uring and libaio, bytes that the
// kernel counted and we did not, files that were mapped. Nothing is said where a layer of the
// kernel saw it, or where it cannot be told from what is lost.
#pragma once

#include <vector>

#include "trace/recording/manifest.h"
#include "trace/rows/definitions.h"
#include "trace/rows/strings.h"
#include "trace/rows/summary.h"

namespace fathom::trace {

[[nodiscard]] std::vector<NotCovered> unseen_requests(const Definitions& definitions,
                                                      const Manifest& manifest);

// Interpreters whose functions could not be traced, with the reason that they told.
[[nodiscard]] std::vector<NotCovered> untraced_interpreters(const Definitions& definitions);

// By sums over the whole run, whose codes are of `strings`. The manifest has all losses.
[[nodiscard]] std::vector<NotCovered> unseen_bytes(const Definitions& definitions,
                                                   const SummaryTable& summary,
                                                   const Strings& strings,
                                                   const Manifest& manifest);

}  // namespace fathom::trace
