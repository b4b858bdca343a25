// SPDX-License-Identifier: MIT
// The layers that exist, whether or not this build can record them: the one list of them.
#pragma once

#include <string_view>

namespace fathom::trace {

struct LayerDef {
  std::string_view name;
  std::string_view what;
  bool by_default;  // recorded where nobody says otherwise
};

// Top down.
inline constexpr LayerDef kLayers[] = {
    {"app", "functions and regions that the program annotates", true},
    {"python", "Python functions", false},
    {"stdio", "calls of stdio: fopen, fread, printf", true},
    {"posix", "calls of POSIX I/O and processes: open, read, fork", true},
    {"heap", "memory allocations", false},
    {"user", "functions of any program or library, by probes", false},
    {"syscall", "system calls", false},
    {"sched", "waiting for a CPU", false},
    {"vfs", "the kernel's virtual file system", false},
    {"fs", "the file systems", false},
    {"pagecache", "the page cache", false},
    {"block", "block devices", false},
    {"net", "network connections", false},
    {"cuda", "calls of the CUDA driver", false},
    {"gpu", "what GPUs do", false},
    {"cpu", "hardware counters and call stacks", false},
    {"resource", "CPU, memory and I/O used by processes, control group and machine", true},
};

}  // namespace fathom::trace
