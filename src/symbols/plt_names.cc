// SPDX-License-Identifier: MIT
// Reads the stubs' instructions, since no order of stubs is promised: a wrong name is worse than
// none.
#include "symbols/plt_names.h"

#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/demangle.h"

namespace fathom::symbols {
namespace {

// Of all sections of stubs; more is damage.
constexpr std::uint64_t kMostStubBytes = 64ULL << 20;

// Which function's address a word of the file holds.
using Slots = std::unordered_map<std::uint64_t, const char*>;

bool fills_slot(int machine, GElf_Word type) {
  if (machine == EM_X86_64) return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

void add_slots(const ElfFile& file, int machine, Elf_Scn* section, const GElf_Shdr& header,
               Slots& slots) {
  Elf_Data* data = elf_getdata(section, nullptr);
  Elf_Scn* table = elf_getscn(file.get(), header.sh_link);
  GElf_Shdr table_header;
  if (data == nullptr || header.sh_entsize == 0 || table == nullptr ||
      gelf_getshdr(table, &table_header) == nullptr)
    return;
  if (table_header.sh_type != SHT_DYNSYM && table_header.sh_type != SHT_SYMTAB) return;
  Elf_Data* symbols = elf_getdata(table, nullptr);
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; symbols != nullptr && i < count; ++i) {
    GElf_Rela entry;
    GElf_Sym symbol;
    if (gelf_getrela(data, i, &entry) == nullptr) return;
    if (!fills_slot(machine, static_cast<GElf_Word>(GELF_R_TYPE(entry.r_info)))) continue;
    if (gelf_getsym(symbols, static_cast<int>(GELF_R_SYM(entry.r_info)), &symbol) == nullptr)
      continue;
    const char* name = elf_strptr(file.get(), table_header.sh_link, symbol.st_name);
    if (name != nullptr && *name != '\0') slots[entry.r_offset] = name;
  }
}

template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// jmp *word(%rip), with nothing before it but what marks a landing place.
std::optional<std::uint64_t> slot_of_x86(std::string_view stub, std::uint64_t address) {
  constexpr std::string_view kLand = "\xf3\x0f\x1e\xfa";
  std::size_t at = stub.starts_with(kLand) ? kLand.size() : 0;
  if (stub.substr(at).starts_with('\xf2')) ++at;
  constexpr std::size_t kLength = 6;
  if (stub.size() < at + kLength || stub.substr(at, 2) != "\xff\x25") return std::nullopt;
  const auto distance = static_cast<std::int64_t>(number_at<std::int32_t>(stub, at + 2));
  return address + at + kLength + static_cast<std::uint64_t>(distance);
}

// adrp x16, page; ldr x17, [x16, #offset]; perhaps behind a mark (bti).
std::optional<std::uint64_t> slot_of_arm(std::string_view stub, std::uint64_t address) {
  constexpr std::uint32_t kLand = 0xd503245fU;
  std::size_t at = 0;
  if (stub.size() >= 4 && number_at<std::uint32_t>(stub, 0) == kLand) at = 4;
  if (stub.size() < at + 8) return std::nullopt;
  const auto page = number_at<std::uint32_t>(stub, at);
  const auto load = number_at<std::uint32_t>(stub, at + 4);
  if ((page & 0x9f00001fU) != 0x90000010U || (load & 0xffc003ffU) != 0xf9400211U)
    return std::nullopt;
  std::uint64_t pages = ((page >> 29U) & 3U) | (((page >> 5U) & 0x7ffffU) << 2U);
  if ((pages & (1U << 20U)) != 0) pages |= ~std::uint64_t{0} << 21U;
  return ((address + at) & ~std::uint64_t{0xfff}) + (pages << 12U) +
         ((load >> 10U) & 0xfffU) * std::uint64_t{8};
}

void add_stubs(int machine, std::string_view bytes, std::uint64_t begin, std::uint64_t step,
               const Slots& slots, std::vector<PltName>& names) {
  for (std::size_t at = 0; at + step <= bytes.size(); at += step) {
    const std::string_view stub = bytes.substr(at, step);
    const std::optional<std::uint64_t> slot =
        machine == EM_X86_64 ? slot_of_x86(stub, begin + at) : slot_of_arm(stub, begin + at);
    const auto found = slot ? slots.find(*slot) : slots.end();
    if (found != slots.end()) names.push_back({begin + at, step, demangle(found->second) + "@plt"});
  }
}

}  // namespace

std::vector<PltName> plt_names_of(const ElfFile& file) {
  GElf_Ehdr header;
  if (gelf_getehdr(file.get(), &header) == nullptr) return {};
  const int machine = header.e_machine;
  if (machine != EM_X86_64 && machine != EM_AARCH64) return {};
  Slots slots;
  file.each_section([&](Elf_Scn* section, const GElf_Shdr& one) {
    if (one.sh_type == SHT_RELA && (one.sh_flags & SHF_ALLOC) != 0)
      add_slots(file, machine, section, one, slots);
  });
  std::vector<PltName> names;
  if (slots.empty()) return names;
  std::uint64_t left = kMostStubBytes;
  file.each_section([&](Elf_Scn* section, const GElf_Shdr& one) {
    if (!file.name_of(one).starts_with(".plt")) return;
    const std::string_view bytes = file.content(section);
    if (bytes.size() > left) return;
    left -= bytes.size();
    // Stubs without lazy binding are half as long.
    const bool is_small = file.name_of(one) == ".plt.got" && one.sh_entsize == 8;
    add_stubs(machine, bytes, one.sh_addr, is_small ? 8 : 16, slots, names);
  });
  return names;
}

}  // namespace fathom::symbols
