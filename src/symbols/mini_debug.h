// SPDX-License-Identifier: MIT
// Mini-debuginfo: the symbol table of a stripped file, packed with xz in its section
// .gnu_debugdata. Distributions put it into every program.
#pragma once

#include "base/result.h"
#include "symbols/elf_file.h"

namespace fathom::symbols {

// kNotFound: the file has none; kCorrupt: it cannot be unpacked, or to more than a symbol table
// would be.
Result<ElfFile> open_mini_debug(const ElfFile& file);

}  // namespace fathom::symbols
