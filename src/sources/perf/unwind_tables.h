// SPDX-License-Identifier: MIT
// How stacks of programs without frame pointers are walked: the call frame information of each
// file, read when a stack first leads there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "sources/perf/process_maps.h"
#include "symbols/elf_file.h"
#include "symbols/module_id.h"
#include "symbols/unwind/frame_table.h"
#include "symbols/unwind/unwinder.h"

namespace fathom::sources {

// The file of a module, as it was mapped.
Result<symbols::ElfFile> open_code(const Module& module);

// One thread at a time.
class UnwindTables {
 public:
  // The code of a process as it is mapped; nullptr where nothing of it is known. Valid until the
  // maps change.
  symbols::AddressSpace* space_of(ProcessMaps& maps, std::int32_t pid);

 private:
  struct Code {
    std::optional<symbols::FrameTable> table;
    std::vector<symbols::Segment> segments;
  };

  Code& code_of(const Module& module);
  static std::optional<std::uint64_t> own_address(const Code& code, std::uint64_t offset);

  std::unordered_map<const Module*, std::unique_ptr<Code>> codes_;
};

}  // namespace fathom::sources
