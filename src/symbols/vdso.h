// SPDX-License-Identifier: MIT
// Code without a file: the vdso, which the kernel maps into every process, as an ELF image in
// memory.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace fathom::symbols {

// What the kernel calls it where it tells of mappings.
inline constexpr char kVdsoName[] = "[vdso]";

// Our own, which is that of every process of this kernel with the same architecture. kUnsupported:
// there is none.
Result<std::string> vdso_image();
// What lies in a process's memory. kNotFound: it is gone; kDenied: not ours to read.
Result<std::string> memory_image(pid_t pid, std::uint64_t begin, std::uint64_t size);

}  // namespace fathom::symbols
