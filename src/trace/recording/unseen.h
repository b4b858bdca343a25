// SPDX-License-Identifier: MIT
// What recorded processes did that no hook saw: requests by io_uring and libaio, bytes that the
// kernel counted and we did not, files that were mapped. Nothing is said where a layer of the
// kernel saw it, or where it cannot be told from what is lost.
#pragma once

#include <string_view>
#include <vector>

#include "trace/recording/manifest.h"
#include "trace/rows/definitions.h"
#include "trace/rows/strings.h"
#include "trace/rows/summary.h"
#include "wire/exec.h"

namespace fathom::trace {

// A fact of the manifest: bytes that the kernel saw the program read and write, "17 4".
inline constexpr std::string_view kKernelIoFact = FATHOM_META_KERNEL_IO;

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
