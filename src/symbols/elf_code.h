// SPDX-License-Identifier: MIT
// Places in the code of an ELF file by name, as the kernel wants them for probes: bytes from the
// begin of the file, not addresses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::symbols {

// One place, and how it was named.
struct CodePlace {
  std::string name;  // as the file has it; with "@VERSION" behind it where that is not the default
  std::uint64_t offset = 0;
  std::uint64_t semaphore = 0;  // of a static probe: where its counter of users lies; 0: none
  // What stands there chooses the function, when a program is loaded, from several for different
  // kinds of CPUs (an IFUNC).
  bool chooses = false;
};

// Functions of .symtab and .dynsym, by offset and name. kNotFound, kCorrupt: not such a file. From
// any thread: the file is opened for the call alone.
Result<std::vector<CodePlace>> functions_of(const std::string& path);

// Static probes (USDT), called provider:name; one may be at several places.
Result<std::vector<CodePlace>> static_probes_of(const std::string& path);

}  // namespace fathom::symbols
