// SPDX-License-Identifier: MIT
// Debug information that lies in a file of its own, where gdb would look for it: by build id, by
// the name and checksum in .gnu_debuglink. A file that does not belong to the module is not taken.
#pragma once

#include <string>

#include "base/result.h"
#include "symbols/elf_file.h"
#include "symbols/module_id.h"

namespace fathom::symbols {

// kNotFound: none that belongs to the module.
Result<ElfFile> find_debug_file(const ElfFile& module, const ModuleId& id,
                                const DebugPlaces& places);
// By the build id alone: the debug file, or the module itself, of which somebody kept a copy.
Result<ElfFile> find_by_build_id(const std::string& build_id, const ModuleId& id,
                                 const DebugPlaces& places);
// What several debug files of a distribution share (dwz). kNotFound: asked for and not there; a
// file without any is kInvalid.
Result<ElfFile> find_shared_debug(const ElfFile& debug, const ModuleId& id,
                                  const DebugPlaces& places);

// Of debug links: CRC-32 as zlib has it.
[[nodiscard]] std::uint32_t debug_link_checksum(std::string_view bytes);

}  // namespace fathom::symbols
