// SPDX-License-Identifier: MIT
// Programs at functions of other programs, by the best way that the kernel has: see Uprobes.
// Included by files that may know libbpf only.
#pragma once

#include <vector>

#include "base/result.h"
#include "sources/ebpf/functions.h"
#include "sources/ebpf/loading.h"

namespace fathom::sources::ebpf {

// Before it is loaded: its programs are of this kind.
void mark_programs(bpf_object* object, Uprobes uprobes);

// A function's number is its place in `functions` and `first_number`. Those that the kernel refuses
// are left out and told; an error where it refuses all of them, or refuses us.
Result<std::vector<Unprobed>> attach_functions(Loaded& loaded,
                                               const std::vector<Function>& functions,
                                               std::uint32_t first_number = 0);

}  // namespace fathom::sources::ebpf
