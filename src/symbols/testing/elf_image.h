// SPDX-License-Identifier: MIT
// An ELF file in memory around sections of a test's own, so that fuzzers get past its headers.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::symbols::testing {

// Views the sections' bytes until bytes() is called.
class ElfImage {
 public:
  static constexpr std::uint64_t kBase = 0x1000;  // where offset 0 is loaded
  static constexpr std::uint64_t kSize = 0x10000;

  ElfImage& add(const char* name, std::string_view bytes, std::uint64_t address = 0) {
    sections_.push_back({name, bytes, address});
    return *this;
  }

  // A header, one segment that can be run, the sections, their names, their table.
  [[nodiscard]] std::string bytes(Elf64_Half machine = EM_X86_64) const {
    std::string image(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), '\0');
    std::string names(1, '\0');
    std::vector<Elf64_Shdr> headers(1);
    for (const Section& section : sections_) {
      headers.push_back(header_of(names, section.name, image.size(), section.bytes.size()));
      headers.back().sh_addr = section.address;
      image += section.bytes;
    }
    headers.push_back(header_of(names, ".shstrtab", image.size(), 0));
    headers.back().sh_type = SHT_STRTAB;
    headers.back().sh_size = names.size();
    image += names;
    image.resize((image.size() + 7) / 8 * 8);
    const std::uint64_t table = image.size();
    image.append(reinterpret_cast<const char*>(headers.data()),
                 headers.size() * sizeof(Elf64_Shdr));
    put_heads(image, table, headers.size(), machine);
    return image;
  }

 private:
  struct Section {
    const char* name;
    std::string_view bytes;
    std::uint64_t address;
  };

  static Elf64_Shdr header_of(std::string& names, const char* name, std::size_t offset,
                              std::size_t size) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<Elf64_Word>(names.size());
    names += std::string(name) + '\0';
    header.sh_type = SHT_PROGBITS;
    header.sh_offset = offset;
    header.sh_size = size;
    header.sh_addralign = 1;
    return header;
  }

  static void put_heads(std::string& image, std::uint64_t table, std::size_t count,
                        Elf64_Half machine) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = machine;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof header;
    header.e_shoff = table;
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 1;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(count);
    header.e_shstrndx = static_cast<Elf64_Half>(count - 1);
    Elf64_Phdr part{};
    part.p_type = PT_LOAD;
    part.p_flags = PF_R | PF_X;
    part.p_vaddr = kBase;
    part.p_filesz = part.p_memsz = kSize;
    std::memcpy(image.data(), &header, sizeof header);
    std::memcpy(image.data() + sizeof header, &part, sizeof part);
  }

  std::vector<Section> sections_;
};

}  // namespace fathom::symbols::testing
