// SPDX-License-Identifier: MIT
// Functions and tracepoints of the running kernel, by name.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sources/ebpf/functions.h"

namespace fathom::sources::ebpf {

// One text of --functions, kernel:… or tracepoint:…, as what is to be probed. Those that must not
// be are told.
Status add_kernel_code(const std::string& text, Functions& found);

// Names of code in a text like /proc/kallsyms, each once. `several`: those that stand for several
// functions, which a name cannot tell apart.
struct KernelNames {
  std::vector<std::string> names;
  std::vector<std::string> several;
};
KernelNames names_in(std::string_view kallsyms);

// Why the kernel takes no programs at its functions, as far as anybody can see; "": nothing speaks
// against it.
std::string why_no_functions();

// The level in a text like /sys/kernel/security/lockdown; "" where it is none.
std::string lockdown_in(std::string_view text);

}  // namespace fathom::sources::ebpf
