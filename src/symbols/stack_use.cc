// SPDX-License-Identifier: MIT
// Decides from symbols, unwind tables and sections whether exceptions or moved stacks may pass
// through a program. Errs towards "may": a return probe that is wrong kills the program.
#include "symbols/stack_use.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/text.h"
#include "symbols/elf_file.h"

namespace fathom::symbols {
namespace {

// Symbols that a file asks for or has. Every language whose exceptions use the unwinder has a
// personality routine, which the tables of its functions name.
constexpr std::string_view kOfUnwinding[] = {
    "_Unwind_RaiseException",
    "_Unwind_Resume",
    "_Unwind_Resume_or_Rethrow",
    "_Unwind_ForcedUnwind",
    "__cxa_throw",
    "__cxa_begin_catch",
    "__gxx_personality_v0",
    "rust_eh_personality",
    "__gnat_personality_v0",
    "__gnu_objc_personality_v0",
    "__objc_personality_v0",
    "__gdc_personality_v0",
    "_d_eh_personality",
    "__gfortran_personality_v0",
    "__gccgo_personality_v0",
    "lj_err_unwind_dwarf",
    "pthread_cancel",
};
// (A static program of C has the unwinder, for pthread_exit: it proves nothing by itself.)
constexpr std::string_view kAlsoInC[] = {"_Unwind_RaiseException", "_Unwind_Resume",
                                         "_Unwind_Resume_or_Rethrow", "_Unwind_ForcedUnwind",
                                         "pthread_cancel"};
constexpr std::string_view kOfSwitching[] = {"makecontext",
                                             "swapcontext",
                                             "setcontext",
                                             "sigaltstack",
                                             "__morestack",
                                             "jump_fcontext",
                                             "make_fcontext",
                                             "coro_transfer",
                                             "co_switch",
                                             "co_swap",
                                             "caml_start_program",
                                             "caml_frametable",
                                             "hs_main",
                                             "stg_ap_0_fast",
                                             "runtime.goexit",
                                             "graal_create_isolate",
                                             "_kDartVmSnapshotInstructions",
                                             "coroutine_transfer"};
constexpr std::string_view kOfLoading[] = {"dlopen", "dlmopen", "__libc_dlopen_mode"};

template <std::size_t kCount>
bool is_one_of(std::string_view name, const std::string_view (&names)[kCount]) {
  return std::ranges::find(names, name) != std::end(names);
}

void found(StackFacts& facts, StackUse use, std::string_view why) {
  if (facts.use == StackUse::kSwitches || (facts.use == use)) return;
  facts.use = use;
  facts.why = why;
}

// The mark that the linker of Go puts at the begin of the data: aligned, and behind it the size of
// a pointer.
bool has_mark_of_go(std::string_view data) {
  constexpr std::string_view kMark = "\xff Go buildinf:";
  constexpr std::size_t kAligned = 16;
  for (std::size_t at = data.find(kMark); at != std::string_view::npos;
       at = data.find(kMark, at + 1)) {
    const char size = at + kMark.size() < data.size() ? data[at + kMark.size()] : '\0';
    if (at % kAligned == 0 && (size == 4 || size == 8)) return true;
  }
  return false;
}

// By its sections; it may have none.
void look_for_go(const ElfFile& file, StackFacts& facts) {
  constexpr std::uint64_t kFirstBytes = 64 << 10;
  bool is_go = false;
  file.each_section([&](Elf_Scn* /*section*/, const GElf_Shdr& header) {
    const std::string_view name = file.name_of(header);
    is_go |= name == ".go.buildinfo" || name == ".note.go.buildid" || name.ends_with("gopclntab");
  });
  file.each_part([&](const GElf_Phdr& part) {
    if (is_go || part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) return;
    const std::uint64_t bytes = std::min<std::uint64_t>(part.p_filesz, kFirstBytes);
    is_go = has_mark_of_go(file.bytes_at(part.p_offset, bytes));
  });
  if (is_go) found(facts, StackUse::kSwitches, "Go");
}

void look_at_symbols(const ElfFile& file, bool is_static, StackFacts& facts) {
  file.each_symbol(
      [&](const GElf_Shdr& /*table*/, int /*i*/, const GElf_Sym& symbol, std::string_view name) {
        name = name.substr(0, std::min(name.find('@'), name.size()));
        const bool is_asked_for = symbol.st_shndx == SHN_UNDEF;
        if (is_asked_for && is_one_of(name, kOfLoading)) facts.loads_others = true;
        // What the C library of a static program has may not be used.
        if (is_one_of(name, kOfUnwinding) && !(is_static && is_one_of(name, kAlsoInC)))
          found(facts, StackUse::kUnwinds, name);
        const bool of_libc = name.ends_with("context") || name == "sigaltstack";
        if (is_one_of(name, kOfSwitching) && !(is_static && of_libc))
          found(facts, StackUse::kSwitches, name);
      });
}

// Whether the tables for unwinding name a personality routine: 'P' in what a CIE says of itself.
// (Stripped files have these tables, too.)
bool has_personality(std::string_view table) {
  constexpr std::size_t kHead = 9;  // length, 0, version
  while (table.size() > kHead) {
    std::uint32_t length = 0;
    std::uint32_t is_of = 0;
    std::memcpy(&length, table.data(), sizeof length);
    std::memcpy(&is_of, table.data() + sizeof length, sizeof is_of);
    if (length == 0 || length > table.size() - sizeof length) return false;
    if (is_of == 0) {
      std::string_view words = table.substr(kHead, length + sizeof length - kHead);
      words = words.substr(0, std::min(words.find('\0'), words.size()));
      if (words.find('P') != std::string_view::npos) return true;
    }
    table.remove_prefix(sizeof length + length);
  }
  return false;
}

// Where PT_GNU_EH_FRAME says that the tables are: files may have no sections.
std::string_view unwind_tables(const ElfFile& file) {
  constexpr std::uint8_t kRelative4 = 0x1b;
  std::string_view table;
  file.each_part([&](const GElf_Phdr& part) {
    const std::string_view head = file.bytes_at(part.p_offset, 8);
    if (part.p_type != PT_GNU_EH_FRAME || head.size() < 8) return;
    if (static_cast<std::uint8_t>(head[1]) != kRelative4) return;
    std::int32_t distance = 0;
    std::memcpy(&distance, head.data() + 4, sizeof distance);
    const std::uint64_t address =
        part.p_vaddr + 4 + static_cast<std::uint64_t>(std::int64_t{distance});
    if (const auto offset = file.offset_of(address)) table = file.bytes_at(*offset, UINT64_MAX);
  });
  return table;
}

// Whether it is marked as a program that may be loaded anywhere.
bool read_dynamic(const ElfFile& file, StackFacts& facts) {
  bool is_program = false;
  file.each_section([&](Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* data = header.sh_type == SHT_DYNAMIC ? elf_getdata(section, nullptr) : nullptr;
    if (data == nullptr || header.sh_entsize == 0) return;
    const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
    for (int i = 0; i < count; ++i) {
      GElf_Dyn entry;
      if (gelf_getdyn(data, i, &entry) == nullptr || entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_FLAGS_1) is_program = (entry.d_un.d_val & DF_1_PIE) != 0;
      const char* text = elf_strptr(file.get(), header.sh_link, entry.d_un.d_val);
      if (text == nullptr) continue;
      if (entry.d_tag == DT_NEEDED) facts.needs.emplace_back(text);
      if (entry.d_tag == DT_SONAME) facts.name = text;
      if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) {
        for (const std::string_view place : split(text, ':'))
          if (!place.empty()) facts.places.emplace_back(place);
      }
    }
  });
  return is_program;
}

}  // namespace

Result<StackFacts> stack_facts_of(const std::string& path) {
  FATHOM_ASSIGN(const ElfFile file, ElfFile::open(path));
  StackFacts facts;
  bool has_loader = false;
  bool has_all_names = false;
  file.each_part([&](const GElf_Phdr& part) { has_loader |= part.p_type == PT_INTERP; });
  file.each_section([&](Elf_Scn* /*section*/, const GElf_Shdr& header) {
    has_all_names |= header.sh_type == SHT_SYMTAB;
  });
  const bool is_marked = read_dynamic(file, facts);
  GElf_Ehdr head;
  const bool is_fixed = gelf_getehdr(file.get(), &head) != nullptr && head.e_type == ET_EXEC;
  facts.is_program = is_fixed || is_marked || (has_loader && facts.name.empty());
  look_for_go(file, facts);
  look_at_symbols(file, facts.is_program && !has_loader, facts);
  // Names tell more than tables: those of C have a routine for clean-ups, which catches nothing.
  if (!has_all_names && facts.use == StackUse::kPlain && has_personality(unwind_tables(file)))
    found(facts, StackUse::kUnwinds, "tables for exceptions");
  return facts;
}

}  // namespace fathom::symbols
