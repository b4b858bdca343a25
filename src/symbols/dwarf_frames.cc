// SPDX-License-Identifier: MIT
// Goes through DWARF with libdw: units by address, then the functions of a unit when it is first
// asked about, then the inlined functions of one function for each question. libdw never opens
// another file from here: what a file names might be a FIFO (no split DWARF, no dwz file but the
// one that is given).
#include "symbols/dwarf_frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "symbols/range_index.h"

namespace fathom::symbols {
namespace {

struct EndDwarf {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
using OwnedDwarf = std::unique_ptr<Dwarf, EndDwarf>;

constexpr std::uint32_t kMostDepth = 64;  // of entries inside each other

// Sections may be packed; what they say to unpack to has to be likely.
bool unpacks_to_much(const ElfFile& file) {
  constexpr std::uint64_t kMost = 8ULL << 30;
  constexpr std::uint64_t kMostRatio = 64;
  std::uint64_t sum = 0;
  file.each_section([&](Elf_Scn* section, const GElf_Shdr& header) {
    GElf_Chdr packed;
    const bool is_packed =
        (header.sh_flags & SHF_COMPRESSED) != 0 && gelf_getchdr(section, &packed) != nullptr;
    const bool is_old = file.name_of(header).starts_with(".zdebug");
    if (is_packed || is_old) {
      const std::uint64_t size = is_packed ? packed.ch_size : header.sh_size * kMostRatio;
      sum = size > kMost - std::min(sum, kMost) ? kMost : sum + size;
    }
  });
  return sum >= kMost || sum > (1ULL << 20) + file.size() * kMostRatio;
}

bool is_namespace(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
         tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}
bool is_block(int tag) { return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block; }

std::string_view text_of(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

std::string_view name_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (const unsigned int name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    if (dwarf_attr_integrate(die, name, &attribute) == nullptr) continue;
    if (const char* text = dwarf_formstring(&attribute)) return text_of(text);
  }
  return {};
}

}  // namespace

class DwarfFrames::Reader {
 public:
  Reader(OwnedDwarf shared, OwnedDwarf dwarf, std::uint64_t lowest_code, std::uint64_t work)
      : shared_(std::move(shared)),
        dwarf_(std::move(dwarf)),
        lowest_code_(lowest_code),
        work_left_(work) {
    read_units();
  }

  [[nodiscard]] bool empty() const { return unit_ranges_.empty(); }

  std::vector<DwarfFrame> at(std::uint64_t address) {
    const Range* range = innermost_at(unit_ranges_, address);
    if (range == nullptr) return {};
    Unit& unit = units_[range->index];
    std::vector<DwarfFrame> frames;
    if (std::optional<Dwarf_Die> function = function_at(unit, address)) {
      frames.push_back({name_of(&*function), {}, 0});
      add_inlined(unit, *function, address, frames);
    } else {
      frames.emplace_back();
    }
    set_line(unit, address, frames.back());
    if (frames.size() == 1 && frames[0].function.empty() && frames[0].file.empty()) return {};
    return frames;
  }

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t reach = 0;
    std::uint64_t index = 0;  // of a unit, or where the function's entry is
  };
  struct Unit {
    Dwarf_Die die{};
    bool is_read = false;
    bool is_deep = false;  // functions inside functions were read too
    std::vector<Range> functions;
    Dwarf_Files* files = nullptr;
    bool has_files = false;
  };

  // False when so much was done that the file must be damaged.
  // Every entry and range that is looked at costs one: entries can refer to each other in circles.
  bool spend() { return work_left_ != 0 && --work_left_ != 0; }

  template <class Visit>
  void each_range(Dwarf_Die* die, Visit visit) {
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    for (std::ptrdiff_t at = 0; spend() && (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0;)
      if (begin >= lowest_code_ && begin < end) visit(begin, end);
  }

  // True where the visit ended it.
  template <class Visit>
  bool each_child(Dwarf_Die* die, Visit visit) {
    Dwarf_Die child;
    if (dwarf_child(die, &child) != 0) return false;
    do {
      if (!spend() || visit(child)) return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
  }

  void read_units() {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    std::uint8_t type = 0;
    while (spend() &&
           dwarf_get_units(dwarf_.get(), unit, &unit, nullptr, &type, &die, nullptr) == 0) {
      if (type == DW_UT_type || type == DW_UT_partial) continue;
      const std::size_t index = units_.size();
      units_.emplace_back().die = die;
      each_range(&die, [&](std::uint64_t begin, std::uint64_t end) {
        unit_ranges_.push_back({begin, end, 0, index});
      });
    }
    sort_ranges(unit_ranges_);
  }

  void read_functions(Unit& unit, Dwarf_Die* die, std::uint32_t depth) {
    if (depth > kMostDepth) return;
    each_child(die, [&](Dwarf_Die& child) {
      const int tag = dwarf_tag(&child);
      if (tag == DW_TAG_subprogram) {
        each_range(&child, [&](std::uint64_t begin, std::uint64_t end) {
          unit.functions.push_back({begin, end, 0, dwarf_dieoffset(&child)});
        });
      }
      const bool is_code = tag == DW_TAG_subprogram || is_block(tag);
      if (is_namespace(tag) || (unit.is_deep && is_code)) read_functions(unit, &child, depth + 1);
      return false;
    });
  }

  void read_functions(Unit& unit) {
    unit.functions.clear();
    unit.is_read = true;
    read_functions(unit, &unit.die, 0);
    sort_ranges(unit.functions);
  }

  std::optional<Dwarf_Die> function_at(Unit& unit, std::uint64_t address) {
    if (!unit.is_read) read_functions(unit);
    const Range* range = innermost_at(unit.functions, address);
    if (range == nullptr && !unit.is_deep) {
      unit.is_deep = true;
      read_functions(unit);
      range = innermost_at(unit.functions, address);
    }
    Dwarf_Die die;
    if (range == nullptr || dwarf_offdie(dwarf_.get(), range->index, &die) == nullptr)
      return std::nullopt;
    return die;
  }

  // Calls that were inlined into a function, in the order in which they stand inside each other.
  struct Call {
    Dwarf_Die die{};
    std::uint32_t parent = kNone;
    std::uint32_t depth = 0;
    std::string_view name;
    bool has_name = false;
  };
  struct CallRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint32_t call = 0;
  };
  struct Calls {
    std::vector<Call> calls;
    std::vector<CallRange> ranges;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Blocks are looked through.
  void read_calls(Dwarf_Die* die, std::uint32_t parent, std::uint32_t depth, Calls& calls) {
    if (depth > kMostDepth) return;
    each_child(die, [&](Dwarf_Die& child) {
      const int tag = dwarf_tag(&child);
      if (is_block(tag)) read_calls(&child, parent, depth + 1, calls);
      if (tag != DW_TAG_inlined_subroutine) return false;
      const auto index = static_cast<std::uint32_t>(calls.calls.size());
      calls.calls.push_back({child, parent, depth, {}, false});
      each_range(&child, [&](std::uint64_t begin, std::uint64_t end) {
        calls.ranges.push_back({begin, end, index});
      });
      read_calls(&child, index, depth + 1, calls);
      return false;
    });
  }

  Calls& calls_of(Dwarf_Die* function) {
    const auto [known, is_new] = calls_.try_emplace(dwarf_dieoffset(function));
    if (is_new) read_calls(function, kNone, 0, known->second);
    return known->second;
  }

  // From the outermost call to the innermost that covers the address.
  static std::vector<std::uint32_t> chain_at(const Calls& calls, std::uint64_t address) {
    std::uint32_t innermost = kNone;
    for (const CallRange& range : calls.ranges) {
      if (address < range.begin || address >= range.end) continue;
      if (innermost == kNone || calls.calls[range.call].depth > calls.calls[innermost].depth)
        innermost = range.call;
    }
    std::vector<std::uint32_t> chain;
    for (std::uint32_t at = innermost; at != kNone; at = calls.calls[at].parent)
      chain.push_back(at);
    std::ranges::reverse(chain);
    return chain;
  }

  void add_inlined(Unit& unit, Dwarf_Die function, std::uint64_t address,
                   std::vector<DwarfFrame>& frames) {
    Calls& calls = calls_of(&function);
    for (const std::uint32_t index : chain_at(calls, address)) {
      Call& call = calls.calls[index];
      if (!call.has_name) call.name = name_of(&call.die);
      call.has_name = true;
      set_call(unit, &call.die, frames.back());
      frames.push_back({call.name, {}, 0});
    }
  }

  static Dwarf_Word number_of(Dwarf_Die* die, unsigned int name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_attr(die, name, &attribute) != nullptr) (void)dwarf_formudata(&attribute, &value);
    return value;
  }

  // Where the call stands that was inlined.
  static void set_call(Unit& unit, Dwarf_Die* inlined, DwarfFrame& frame) {
    constexpr Dwarf_Word kMostLine = 1U << 30U;
    if (!unit.has_files) {
      unit.has_files = true;
      if (dwarf_getsrcfiles(&unit.die, &unit.files, nullptr) != 0) unit.files = nullptr;
    }
    const Dwarf_Word file = number_of(inlined, DW_AT_call_file);
    const Dwarf_Word line = number_of(inlined, DW_AT_call_line);
    if (unit.files != nullptr && file != 0)
      frame.file = text_of(dwarf_filesrc(unit.files, file, nullptr, nullptr));
    if (line <= kMostLine) frame.line = static_cast<int>(line);
  }

  static void set_line(Unit& unit, std::uint64_t address, DwarfFrame& frame) {
    Dwarf_Line* line = dwarf_getsrc_die(&unit.die, address);
    if (line == nullptr) return;
    int number = 0;
    if (dwarf_lineno(line, &number) == 0 && number > 0) frame.line = number;
    frame.file = text_of(dwarf_linesrc(line, nullptr, nullptr));
  }

  OwnedDwarf shared_;  // outlives what refers to it
  OwnedDwarf dwarf_;
  std::uint64_t lowest_code_;
  std::uint64_t work_left_;
  std::vector<Unit> units_;
  std::vector<Range> unit_ranges_;
  std::unordered_map<Dwarf_Off, Calls> calls_;  // by where the function's entry is
};

DwarfFrames::DwarfFrames(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}
DwarfFrames::~DwarfFrames() = default;
DwarfFrames::DwarfFrames(DwarfFrames&&) noexcept = default;
DwarfFrames& DwarfFrames::operator=(DwarfFrames&&) noexcept = default;

Result<DwarfFrames> DwarfFrames::open(const ElfFile& file, const ElfFile* shared,
                                      std::uint64_t lowest_code) {
  constexpr std::uint64_t kWorkForByte = 8;
  const Error none{Code::kNotFound, "no debug information", ""};
  if (unpacks_to_much(file) || (shared != nullptr && unpacks_to_much(*shared))) return none;
  OwnedDwarf dwarf(dwarf_begin_elf(file.get(), DWARF_C_READ, nullptr));
  if (!dwarf) return none;
  OwnedDwarf second;
  if (shared != nullptr) {
    second.reset(dwarf_begin_elf(shared->get(), DWARF_C_READ, nullptr));
    if (!second) return none;
    dwarf_setalt(dwarf.get(), second.get());
  }
  // Nothing lies at 0 and 1, where linkers put what they threw away.
  const std::uint64_t lowest = std::max<std::uint64_t>(lowest_code, 2);
  auto reader = std::make_unique<Reader>(std::move(second), std::move(dwarf), lowest,
                                         file.size() * kWorkForByte + (1U << 16U));
  if (reader->empty()) return none;
  return DwarfFrames(std::move(reader));
}

std::vector<DwarfFrame> DwarfFrames::at(std::uint64_t address) { return reader_->at(address); }

}  // namespace fathom::symbols
