// SPDX-License-Identifier: MIT
// Which of several names at one address is taken follows perf, so that both print the same.
#include "symbols/symbol_table.h"

#include <algorithm>
#include <limits>
#include <map>

#include "symbols/range_index.h"

namespace fathom::symbols {
namespace {

struct CodeSection {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::map<std::size_t, CodeSection> code_sections(const ElfFile& file) {
  std::map<std::size_t, CodeSection> sections;
  file.each_section([&](Elf_Scn* section, const GElf_Shdr& header) {
    if ((header.sh_flags & SHF_EXECINSTR) == 0) return;
    if (header.sh_addr > std::numeric_limits<std::uint64_t>::max() - header.sh_size) return;
    sections[elf_ndxscn(section)] = {header.sh_addr, header.sh_addr + header.sh_size};
  });
  return sections;
}

// "x@@V" and "x@V" are x. A name that begins with '@' is left alone.
std::string_view without_version(std::string_view name) {
  const std::size_t at = name.find('@');
  return at == 0 ? name : name.substr(0, std::min(at, name.size()));
}

// Marks between code and data of ARM ("$x", "$d.7"), and of the compiler's notes: no names.
bool is_mark(std::string_view name) {
  const bool of_arm = name.size() >= 2 && name[0] == '$' &&
                      std::string_view("adtx").find(name[1]) != std::string_view::npos &&
                      (name.size() == 2 || name[2] == '.');
  return of_arm || name.starts_with(".annobin") || name.starts_with(".L");
}

bool is_function(const GElf_Sym& symbol) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  if (type == STT_FUNC || type == STT_GNU_IFUNC) return true;
  const auto seen = GELF_ST_VISIBILITY(symbol.st_other);
  return type == STT_NOTYPE && seen != STV_HIDDEN && seen != STV_INTERNAL;
}

std::size_t underscores(std::string_view name) {
  return std::min(name.find_first_not_of('_'), name.size());
}

}  // namespace

std::size_t SymbolTable::add(const ElfFile& file, Kind kind) {
  const std::map<std::size_t, CodeSection> sections = code_sections(file);
  const auto wanted = kind == Kind::kAll ? SHT_SYMTAB : SHT_DYNSYM;
  const std::size_t before = size();
  file.each_symbol([&](const GElf_Shdr& table, int /*i*/, const GElf_Sym& symbol,
                       std::string_view name) {
    if (table.sh_type != static_cast<GElf_Word>(wanted) || !is_function(symbol)) return;
    const auto section = sections.find(symbol.st_shndx);
    if (section == sections.end() || is_mark(name)) return;
    if (symbol.st_value < section->second.begin || symbol.st_value >= section->second.end) return;
    // A size behind the section's end is damage.
    const std::uint64_t room = section->second.end - symbol.st_value;
    const bool has_size = symbol.st_size != 0;
    const std::uint64_t end = symbol.st_value + (has_size ? std::min(symbol.st_size, room) : room);
    auto& entries = has_size ? sized_ : labels_;
    entries.push_back({symbol.st_value, end, 0, without_version(name),
                       static_cast<std::uint8_t>(GELF_ST_BIND(symbol.st_info))});
  });
  return size() - before;
}

void SymbolTable::add(std::uint64_t address, std::uint64_t size, std::string_view name) {
  if (size == 0 || address > std::numeric_limits<std::uint64_t>::max() - size) return;
  sized_.push_back({address, address + size, 0, name, STB_LOCAL});
}

// As perf: not weak, global, few underscores in front, long.
bool SymbolTable::is_better(const Entry& a, const Entry& b) {
  if ((a.binding == STB_WEAK) != (b.binding == STB_WEAK)) return b.binding == STB_WEAK;
  if ((a.binding == STB_GLOBAL) != (b.binding == STB_GLOBAL)) return a.binding == STB_GLOBAL;
  if (underscores(a.name) != underscores(b.name)) return underscores(a.name) < underscores(b.name);
  if (a.name.size() != b.name.size()) return a.name.size() > b.name.size();
  return a.name < b.name;
}

// One for each begin and end; at one begin the longest first, so that the last that covers an
// address is the innermost.
void SymbolTable::keep_best(std::vector<Entry>& entries) {
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.end != b.end) return a.end > b.end;
    return is_better(a, b);
  });
  const auto same = [](const Entry& a, const Entry& b) {
    return a.begin == b.begin && a.end == b.end;
  };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  fill_reach(entries);
}

// A label holds up to the next symbol, with a size or without.
void SymbolTable::bound_labels() {
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    Entry& label = labels_[i];
    if (i + 1 < labels_.size()) label.end = std::min(label.end, labels_[i + 1].begin);
    const auto next = std::ranges::lower_bound(sized_, label.begin, {}, &Entry::begin);
    if (next != sized_.end()) label.end = std::min(label.end, next->begin);
  }
}

void SymbolTable::sort() {
  keep_best(sized_);
  keep_best(labels_);
  bound_labels();
}

SymbolTable::Found SymbolTable::find(std::uint64_t address) const {
  if (const Entry* entry = innermost_at(sized_, address))
    return {entry->name, entry->begin, entry->end};
  const auto label = std::ranges::upper_bound(labels_, address, {}, &Entry::begin);
  if (label == labels_.begin()) return {};
  const Entry& last = *std::prev(label);
  return address < last.end ? Found{last.name, last.begin, last.end} : Found{};
}

}  // namespace fathom::symbols
