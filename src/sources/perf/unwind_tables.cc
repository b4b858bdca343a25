// SPDX-License-Identifier: MIT
// A file that was replaced since it was mapped has the tables of another program: its build id
// tells.
#include "sources/perf/unwind_tables.h"

#include <elf.h>

#include "symbols/vdso.h"

namespace fathom::sources {

Result<symbols::ElfFile> open_code(const Module& module) {
  if (module.path == symbols::kVdsoName) {
    FATHOM_ASSIGN(std::string image, symbols::vdso_image());
    return symbols::ElfFile::of_image(std::move(image), symbols::kVdsoName);
  }
  if (!module.kept.empty()) return symbols::ElfFile::open(module.kept);
  if (module.is_in_anothers_place) return Error{Code::kNotFound, module.path + " is unknown", ""};
  FATHOM_ASSIGN(symbols::ElfFile file, symbols::ElfFile::open(module.path));
  if (!module.build_id.empty() && file.build_id() != module.build_id)
    return Error{Code::kNotFound, module.path + " is another file by now", ""};
  return file;
}

UnwindTables::Code& UnwindTables::code_of(const Module& module) {
  std::unique_ptr<Code>& known = codes_[&module];
  if (known) return *known;
  known = std::make_unique<Code>();
  Result<symbols::ElfFile> file = open_code(module);
  if (!file) return *known;
  file->each_part([&](const auto& part) {
    if (part.p_type == PT_LOAD)
      known->segments.push_back({part.p_offset, part.p_vaddr, part.p_filesz, true});
  });
  Result<symbols::FrameTable> table = symbols::FrameTable::of_file(std::move(file).value());
  if (table) known->table.emplace(std::move(table).value());
  return *known;
}

std::optional<std::uint64_t> UnwindTables::own_address(const Code& code, std::uint64_t offset) {
  for (const symbols::Segment& segment : code.segments) {
    if (offset >= segment.offset && offset - segment.offset < segment.size)
      return offset - segment.offset + segment.address;
  }
  return std::nullopt;
}

symbols::AddressSpace* UnwindTables::space_of(ProcessMaps& maps, std::int32_t pid) {
  ProcessMaps::Space* space = maps.space(pid);
  if (space == nullptr || space->code) return space != nullptr ? space->code.get() : nullptr;
  space->code = std::make_shared<symbols::AddressSpace>();
  for (auto at = space->regions.next(0); at; at = space->regions.next(at->end)) {
    const ProcessMaps::Region& region = *at->value;
    Code& code = code_of(*region.module);
    const std::uint64_t offset = region.offset + (at->begin - region.address);
    const std::optional<std::uint64_t> own = own_address(code, offset);
    const bool has_table = own && code.table;
    space->code->add(at->begin, at->end, own.value_or(0), has_table ? &*code.table : nullptr);
  }
  return space->code.get();
}

}  // namespace fathom::sources
