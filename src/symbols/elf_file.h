// SPDX-License-Identifier: MIT
// An ELF file that is looked into, by way of libelf.
#pragma once

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/os_error.h"
#include "base/result.h"

namespace fathom::symbols {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

// A file that stays open, and owns its descriptor, as long as it is looked into. One thread at a
// time: libelf reads when it is asked. Spans and views point into the file, valid as long as this.
// What is damaged in it is passed over: a visit sees what can be read.
class ElfFile {
 public:
  // kNotFound, kDenied or kIo where it cannot be opened; kCorrupt where it is no ELF file.
  static Result<ElfFile> open(const std::string& path) {
    elf_version(EV_CURRENT);
    Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return os_error(errno, "open " + path);
    std::unique_ptr<Elf, EndElf> elf(elf_begin(fd.get(), ELF_C_READ_MMAP, nullptr));
    if (!elf || elf_kind(elf.get()) != ELF_K_ELF)
      return Error{Code::kCorrupt, path + " is not a program or library", ""};
    return ElfFile(std::move(fd), std::move(elf));
  }

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
      if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) return;
      Elf_Data* data = elf_getdata(section, nullptr);
      if (data == nullptr || header.sh_entsize == 0) return;
      const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
      for (int i = 0; i < count; ++i) {
        GElf_Sym symbol;
        if (gelf_getsym(data, i, &symbol) == nullptr) continue;
        const char* name = elf_strptr(get(), header.sh_link, symbol.st_name);
        if (name != nullptr && *name != '\0') visit(header, i, symbol, name);
      }
    });
  }

  [[nodiscard]] std::string_view name_of(const GElf_Shdr& header) const {
    std::size_t names = 0;
    const char* name =
        elf_getshdrstrndx(get(), &names) == 0 ? elf_strptr(get(), names, header.sh_name) : nullptr;
    return name == nullptr ? std::string_view() : std::string_view(name);
  }

 private:
  ElfFile(Fd fd, std::unique_ptr<Elf, EndElf> elf) : fd_(std::move(fd)), elf_(std::move(elf)) {}
  Fd fd_;
  std::unique_ptr<Elf, EndElf> elf_;
};

}  // namespace fathom::symbols
