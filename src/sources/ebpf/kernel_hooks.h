// SPDX-License-Identifier: MIT
// Programs at functions and tracepoints of the kernel that were named. Included by files that may
// know libbpf only.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "sources/ebpf/functions.h"
#include "sources/ebpf/loading.h"

namespace fathom::sources::ebpf {

// Whether this kernel takes what was loaded to where it belongs; nothing is left attached.
Status try_kernel_hooks(const Loaded& loaded);

// Those of `functions` that are the kernel's, by whichever of the modules can; their numbers are
// their places. Those that it refuses, or that are too many, are told; an error where nothing is
// left.
Result<std::vector<Unprobed>> attach_kernel_hooks(std::span<Loaded> modules,
                                                  const std::vector<Function>& functions);

}  // namespace fathom::sources::ebpf
