// SPDX-License-Identifier: MIT
// Reads the records of .eh_frame and .debug_frame (CIE and FDE). The two differ in how a function
// names what it has in common with others, and in how addresses are written.
#include "symbols/unwind/frame_table.h"

#include <dwarf.h>

#include <algorithm>
#include <utility>

#include "symbols/byte_reader.h"
#include "symbols/range_index.h"
#include "symbols/unwind/pointer_encoding.h"

namespace fathom::symbols {
namespace {

// Places whose rules are kept; samples meet the same ones again and again.
constexpr std::size_t kRememberedPlaces = 1U << 12U;
constexpr std::size_t kMostSections = 8;

// A CIE or an FDE, as far as both begin alike.
struct Record {
  std::size_t begin = 0;  // of what follows its length
  std::size_t end = 0;
  std::uint64_t id = 0;
  std::size_t id_at = 0;
  bool is_long = false;
};

// nullopt: the end of the section, or damage.
std::optional<Record> record_at(std::string_view bytes, std::size_t at, bool is_eh) {
  constexpr std::uint32_t kLong = 0xffffffffU;
  ByteReader reader(bytes, at);
  Record record;
  std::uint64_t length = reader.number<std::uint32_t>();
  record.is_long = length == kLong;
  if (record.is_long) length = reader.number<std::uint64_t>();
  if (!reader.ok() || length == 0 || length > reader.left()) return std::nullopt;
  record.end = reader.at() + static_cast<std::size_t>(length);
  record.id_at = reader.at();
  const bool wide = record.is_long && !is_eh;
  record.id = wide ? reader.number<std::uint64_t>() : reader.number<std::uint32_t>();
  record.begin = reader.at();
  if (!reader.ok() || record.begin > record.end) return std::nullopt;
  return record;
}

// A CIE. Its mark is 0 in .eh_frame, all ones in .debug_frame.
bool is_common(const Record& record, bool is_eh) {
  if (is_eh) return record.id == 0;
  return record.id == (record.is_long ? ~std::uint64_t{0} : 0xffffffffU);
}

}  // namespace

Result<FrameTable> FrameTable::open(const std::string& path) {
  FATHOM_ASSIGN(ElfFile file, ElfFile::open(path));
  return of_file(std::move(file));
}

Result<FrameTable> FrameTable::of_image(std::string bytes, const std::string& name) {
  FATHOM_ASSIGN(ElfFile file, ElfFile::of_image(std::move(bytes), name));
  return of_file(std::move(file));
}

Result<FrameTable> FrameTable::of_file(ElfFile file) {
  FrameTable table(std::move(file));
  FATHOM_TRY(table.read());
  return table;
}

Status FrameTable::read() {
  GElf_Ehdr header;
  if (gelf_getehdr(file_.get(), &header) == nullptr)
    return Error{Code::kCorrupt, "no header of a program", ""};
  const bool is_x86 = header.e_machine == EM_X86_64;
  const bool is_ours = header.e_ident[EI_CLASS] == ELFCLASS64 &&
                       header.e_ident[EI_DATA] == ELFDATA2LSB &&
                       (is_x86 || header.e_machine == EM_AARCH64);
  if (!is_ours) return Error{Code::kUnsupported, "a program of another kind of machine", ""};
  machine_ = is_x86 ? Machine::kX86 : Machine::kAarch64;
  find_sections();
  for (std::uint32_t i = 0; i < sections_.size(); ++i) read_section(i);
  sort_ranges(functions_);
  remembered_.resize(kRememberedPlaces);
  return {};
}

// By name, or, where a program has no table of sections, by its header of .eh_frame. What is
// compressed is left out.
void FrameTable::find_sections() {
  file_.each_section([&](Elf_Scn* section, const GElf_Shdr& header) {
    const std::string_view name = file_.name_of(header);
    const bool is_eh = name == ".eh_frame";
    const bool is_wanted = is_eh || name == ".debug_frame";
    if (is_wanted && (header.sh_flags & SHF_COMPRESSED) == 0 && sections_.size() < kMostSections)
      sections_.push_back({file_.content(section), header.sh_addr, is_eh});
  });
  if (!sections_.empty()) return;
  file_.each_part([&](const GElf_Phdr& part) {
    if (part.p_type != PT_GNU_EH_FRAME || !sections_.empty()) return;
    constexpr std::size_t kFirst = 4;  // version, and encodings of what follows
    const std::string_view head = file_.bytes_at(part.p_offset, part.p_filesz);
    if (head.size() < kFirst) return;
    ByteReader reader(head, kFirst);
    const auto begin = read_pointer(reader, static_cast<std::uint8_t>(head[1]), part.p_vaddr);
    const auto offset = begin ? file_.offset_of(*begin) : std::nullopt;
    if (offset) sections_.push_back({file_.bytes_at(*offset, file_.size()), *begin, true});
  });
}

void FrameTable::read_section(std::uint32_t index) {
  const Section section = sections_[index];
  std::size_t at = 0;
  while (const auto record = record_at(section.bytes, at, section.is_eh)) {
    at = record->end;
    if (is_common(*record, section.is_eh)) continue;
    // Backwards from its own place in .eh_frame, from the section's begin in .debug_frame.
    const std::uint64_t common = section.is_eh ? record->id_at - record->id : record->id;
    if (section.is_eh && record->id > record->id_at) continue;
    read_function(index, ByteReader(section.bytes.substr(0, record->end), record->begin), common,
                  record->end);
  }
}

void FrameTable::read_function(std::uint32_t index, ByteReader reader, std::uint64_t common,
                               std::size_t end) {
  const std::optional<std::uint32_t> number = common_at(index, common);
  if (!number) return;
  const Common& of_all = commons_[*number];
  const std::uint8_t encoding = of_all.pointer_encoding;
  const auto begin = read_pointer(reader, encoding, sections_[index].address);
  // A length is no address: its form alone counts, not what it is relative to.
  const auto size = read_pointer(reader, encoding & 0x0fU, 0);
  if (of_all.has_data) reader.skip(reader.uleb());
  // Functions that the linker threw away lie at 0.
  if (!begin || !size || !reader.ok() || *begin == 0 || *size == 0 || *begin + *size < *begin)
    return;
  functions_.push_back({*begin, *begin + *size, 0, *number, index, reader.at(), end});
}

std::optional<std::uint32_t> FrameTable::common_at(std::uint32_t section, std::uint64_t at) {
  const std::uint64_t key = at * kMostSections + section;
  const auto known = common_places_.find(key);
  if (known != common_places_.end()) return known->second;
  const std::optional<Common> read = read_common(sections_[section], at);
  if (!read) return std::nullopt;
  commons_.push_back(*read);
  const auto number = static_cast<std::uint32_t>(commons_.size() - 1);
  common_places_.emplace(key, number);
  return number;
}

std::optional<FrameTable::Common> FrameTable::read_common(const Section& section,
                                                          std::uint64_t at) const {
  if (at > section.bytes.size()) return std::nullopt;
  const auto record = record_at(section.bytes, static_cast<std::size_t>(at), section.is_eh);
  if (!record || !is_common(*record, section.is_eh)) return std::nullopt;
  ByteReader reader(section.bytes.substr(0, record->end), record->begin);
  Common common;
  const std::uint8_t version = reader.byte();
  std::string_view words = reader.text();
  constexpr std::uint8_t kWithSizes = 4;
  // Of addresses and of segment selectors: machines with 64 bits and no segments.
  if (version >= kWithSizes && (reader.byte() != 8 || reader.byte() != 0)) return std::nullopt;
  common.code_step = reader.uleb();
  common.data_step = reader.sleb();
  const std::uint64_t number = version == 1 ? reader.byte() : reader.uleb();
  common.has_data = words.starts_with('z');
  const std::uint64_t data = common.has_data ? reader.uleb() : 0;
  const std::size_t code =
      reader.at() + static_cast<std::size_t>(std::min(data, std::uint64_t{reader.left()}));
  for (const char word : words.substr(common.has_data ? 1 : 0)) {
    if (word == 'S') {
      common.is_signal = true;
    } else if (word == 'R') {
      common.pointer_encoding = reader.byte();
    } else if (word == 'L') {
      (void)reader.byte();
    } else if (word == 'P') {
      const std::uint8_t encoding = reader.byte();
      (void)read_pointer(reader, encoding & 0x0fU, 0);
    } else if (!common.has_data) {
      return std::nullopt;  // whatever it is, nobody says how long
    }
  }
  if (!reader.ok() || number >= kRegisters || code > record->end) return std::nullopt;
  common.return_number = static_cast<std::uint8_t>(number);
  common.code = section.bytes.substr(code, record->end - code);
  return common;
}

const std::vector<FrameRules>& FrameTable::rows_of(const Function& function) {
  const std::uint64_t key = function.code * kMostSections + function.section;
  const auto known = rows_.find(key);
  if (known != rows_.end()) return known->second;
  const Common& common = commons_[function.common];
  const Section& section = sections_[function.section];
  const FrameProgram program{
      .machine = machine_,
      .begin = function.begin,
      .end = function.end,
      .code_step = common.code_step,
      .data_step = common.data_step,
      .return_number = common.return_number,
      .pointer_encoding = common.pointer_encoding,
      .is_signal = common.is_signal,
      .common = common.code,
      .own = section.bytes.substr(function.code, function.code_end - function.code),
      .own_address = section.address + function.code,
  };
  return rows_.emplace(key, run_frame_program(program)).first->second;
}

std::optional<std::uint64_t> FrameTable::begin_of_function(std::uint64_t address) const {
  const Function* function = innermost_at(functions_, address);
  return function != nullptr ? std::optional(function->begin) : std::nullopt;
}

const FrameRules* FrameTable::look_up(std::uint64_t address) {
  const Function* function = innermost_at(functions_, address);
  if (function == nullptr) return nullptr;
  const std::vector<FrameRules>& rows = rows_of(*function);
  const auto row = std::ranges::upper_bound(rows, address, {}, &FrameRules::begin);
  if (row == rows.begin() || !std::prev(row)->is_defined) return nullptr;
  return &*std::prev(row);
}

const FrameRules* FrameTable::find(std::uint64_t address) {
  Remembered& place = remembered_[(address ^ (address >> 12U)) % kRememberedPlaces];
  if (place.address != address) place = {address, look_up(address)};
  return place.rules;
}

}  // namespace fathom::symbols
