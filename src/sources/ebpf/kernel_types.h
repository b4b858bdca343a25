// SPDX-License-Identifier: MIT
// What the kernel tells of itself by its types (BTF): which tracepoints it has, and what they tell.
// Read once, for all modules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct btf;

namespace fathom::sources::ebpf {

// An error where the kernel does not tell its types.
Status read_kernel_types();
// Those of the kernel itself; nullptr where it does not tell them.
const btf* kernel_types();

bool has_tracepoint(std::string_view hook);
// Not one that the compiler made part of others.
bool has_function(const std::string& name);
// All names; none where the kernel does not tell its types.
std::vector<std::string> kernel_tracepoints();
// How many arguments a tracepoint has; -1 where there is none of this name.
int arguments_of(std::string_view hook);
// A structure of the kernel itself.
bool has_structure(const char* name);

}  // namespace fathom::sources::ebpf
