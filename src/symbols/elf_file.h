// SPDX-License-Identifier: MIT
// An ELF file that is looked into, by way of libelf.
#pragma once

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/shared_view.h"

namespace fathom::symbols {

// As a deleter, since libelf is C.
struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

// A file that is looked into, or the image of one in memory. One thread at a time: libelf reads
// when it is asked. Spans and views point into the file, valid as long as this. What is damaged in
// it is passed over: a visit sees what can be read. A file that is cut short meanwhile reads as
// zeros.
class ElfFile {
 public:
  // kNotFound, kDenied or kIo where it cannot be opened; kNotFound where it is no regular file: who
  // named it may have named a FIFO or a device; kCorrupt where it is no ELF file.
  static Result<ElfFile> open(const std::string& path);
  // What somebody has in memory already: a vdso, or what was compressed inside another file.
  static Result<ElfFile> of_image(std::string bytes, const std::string& name);

  [[nodiscard]] Elf* get() const { return elf_.get(); }

  template <class Visit>
  void each_part(Visit visit) const {
    std::size_t count = 0;
    if (elf_getphdrnum(get(), &count) != 0) return;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr part;
      if (gelf_getphdr(get(), static_cast<int>(i), &part) != nullptr) visit(part);
    }
  }

  // Where the byte that is loaded to this address lies in the file.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    std::optional<std::uint64_t> offset;
    each_part([&](const GElf_Phdr& part) {
      if (part.p_type == PT_LOAD && !offset && address >= part.p_vaddr &&
          address - part.p_vaddr < part.p_filesz)
        offset = address - part.p_vaddr + part.p_offset;
    });
    return offset;
  }

  // Some of its bytes; fewer where it ends before.
  [[nodiscard]] std::string_view bytes_at(std::uint64_t offset, std::uint64_t count) const {
    std::size_t size = 0;
    const char* all = elf_rawfile(get(), &size);
    if (all == nullptr || offset >= size) return {};
    return {all + offset, static_cast<std::size_t>(std::min<std::uint64_t>(count, size - offset))};
  }

  template <class Visit>
  void each_section(Visit visit) const {
    for (Elf_Scn* section = elf_nextscn(get(), nullptr); section != nullptr;
         section = elf_nextscn(get(), section)) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) != nullptr) visit(section, header);
    }
  }

  // Of all tables of symbols, with the table's own section.
  template <class Visit>
  void each_symbol(Visit visit) const {
    each_section([&](Elf_Scn* section, const GElf_Shdr& header) {
      if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
        each_symbol_in(section, header, visit);
    });
  }
  // Of tables of one type alone.
  template <class Visit>
  void each_symbol_of(GElf_Word type, Visit visit) const {
    each_section([&](Elf_Scn* section, const GElf_Shdr& header) {
      if (header.sh_type == type) each_symbol_in(section, header, visit);
    });
  }

  [[nodiscard]] std::string_view name_of(const GElf_Shdr& header) const {
    std::size_t names = 0;
    const char* name =
        elf_getshdrstrndx(get(), &names) == 0 ? elf_strptr(get(), names, header.sh_name) : nullptr;
    return name == nullptr ? std::string_view() : std::string_view(name);
  }

  // The section of that name; nullptr: none.
  [[nodiscard]] Elf_Scn* section(std::string_view name) const {
    Elf_Scn* found = nullptr;
    each_section([&](Elf_Scn* one, const GElf_Shdr& header) {
      if (found == nullptr && name_of(header) == name) found = one;
    });
    return found;
  }
  // Its bytes as they lie in the file; empty for one that is missing, or has none there (.bss).
  [[nodiscard]] std::string_view content(Elf_Scn* section) const;
  [[nodiscard]] std::string_view content(std::string_view name) const {
    return content(section(name));
  }

  // The build id's bytes; "" where the linker wrote none.
  [[nodiscard]] std::string build_id() const;
  [[nodiscard]] std::uint64_t size() const;

 private:
  ElfFile() = default;
  template <class Visit>
  void each_symbol_in(Elf_Scn* section, const GElf_Shdr& header, Visit& visit) const {
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) return;
    const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
    for (int i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr) continue;
      const char* name = elf_strptr(get(), header.sh_link, symbol.st_name);
      if (name != nullptr && *name != '\0') visit(header, i, symbol, name);
    }
  }
  Status begin(char* bytes, std::size_t size, const std::string& name);

  SharedView view_;                     // of the file,
  std::unique_ptr<std::string> image_;  // or what is in memory
  std::unique_ptr<Elf, EndElf> elf_;
};

}  // namespace fathom::symbols
