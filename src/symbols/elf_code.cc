// SPDX-License-Identifier: MIT
#include "symbols/elf_code.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/files.h"
#include "base/os_error.h"

namespace fathom::symbols {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

// A file that stays open as long as it is looked into.
class ElfFile {
 public:
  static Result<ElfFile> open(const std::string& path) {
    elf_version(EV_CURRENT);
    Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return os_error(errno, "open " + path);
    std::unique_ptr<Elf, EndElf> elf(elf_begin(fd.get(), ELF_C_READ_MMAP, nullptr));
    if (!elf || elf_kind(elf.get()) != ELF_K_ELF)
      return Error{Code::kCorrupt, path + " is no program or library", ""};
    return ElfFile(std::move(fd), std::move(elf));
  }

  [[nodiscard]] Elf* get() const { return elf_.get(); }

  // Where the byte that is loaded to this address lies in the file.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    std::size_t count = 0;
    if (elf_getphdrnum(get(), &count) != 0) return std::nullopt;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr part;
      if (gelf_getphdr(get(), static_cast<int>(i), &part) == nullptr || part.p_type != PT_LOAD)
        continue;
      if (address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz)
        return address - part.p_vaddr + part.p_offset;
    }
    return std::nullopt;
  }

  template <class Visit>
  void each_section(Visit visit) const {
    for (Elf_Scn* section = elf_nextscn(get(), nullptr); section != nullptr;
         section = elf_nextscn(get(), section)) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) != nullptr) visit(section, header);
    }
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

void add_functions(const ElfFile& file, Elf_Scn* section, const GElf_Shdr& header,
                   std::vector<CodePlace>& places) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, i, &symbol) == nullptr) continue;
    if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
    const char* name = elf_strptr(file.get(), header.sh_link, symbol.st_name);
    const std::optional<std::uint64_t> offset = file.offset_of(symbol.st_value);
    if (name != nullptr && *name != '\0' && offset) places.push_back({name, *offset, 0});
  }
}

// What a note says: where its probe is, where the section .stapsdt.base was when that was written,
// the semaphore, then provider and name.
struct ProbeNote {
  std::uint64_t place, base, semaphore;
  std::string name;
};

std::optional<ProbeNote> read_note(std::string_view words) {
  ProbeNote note{};
  std::uint64_t numbers[3];
  if (words.size() < sizeof numbers) return std::nullopt;
  std::memcpy(numbers, words.data(), sizeof numbers);
  words.remove_prefix(sizeof numbers);
  const std::size_t end = words.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view rest = words.substr(end + 1);
  note.place = numbers[0];
  note.base = numbers[1];
  note.semaphore = numbers[2];
  note.name = std::string(words.substr(0, end)) + ":" +
              std::string(rest.substr(0, std::min(rest.find('\0'), rest.size())));
  return note;
}

void add_notes(Elf_Scn* section, std::vector<ProbeNote>& notes) {
  constexpr GElf_Word kProbe = 3;
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr) return;
  GElf_Nhdr header;
  std::size_t name = 0;
  std::size_t words = 0;
  const auto* bytes = static_cast<const char*>(data->d_buf);
  for (std::size_t at = 0;
       (at = gelf_getnote(data, at, &header, &name, &words)) > 0 && bytes != nullptr;) {
    if (header.n_type != kProbe || std::string_view(bytes + name) != "stapsdt") continue;
    if (auto note = read_note({bytes + words, header.n_descsz})) notes.push_back(std::move(*note));
  }
}

}  // namespace

Result<std::vector<CodePlace>> functions_of(const std::string& path) {
  FATHOM_ASSIGN(const ElfFile file, ElfFile::open(path));
  std::vector<CodePlace> places;
  file.each_section([&](Elf_Scn* section, const GElf_Shdr& header) {
    if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
      add_functions(file, section, header, places);
  });
  const auto key = [](const CodePlace& place) { return std::tie(place.offset, place.name); };
  std::ranges::sort(places, {}, key);
  const auto same = [&](const CodePlace& a, const CodePlace& b) { return key(a) == key(b); };
  places.erase(std::unique(places.begin(), places.end(), same), places.end());
  return places;
}

Result<std::vector<CodePlace>> static_probes_of(const std::string& path) {
  FATHOM_ASSIGN(const ElfFile file, ElfFile::open(path));
  std::vector<ProbeNote> notes;
  std::uint64_t base = 0;
  file.each_section([&](Elf_Scn* section, const GElf_Shdr& header) {
    if (file.name_of(header) == ".stapsdt.base") base = header.sh_addr;
    if (header.sh_type == SHT_NOTE && file.name_of(header) == ".note.stapsdt")
      add_notes(section, notes);
  });
  std::vector<CodePlace> places;
  for (const ProbeNote& note : notes) {
    const std::uint64_t moved = base == 0 ? 0 : base - note.base;
    const std::optional<std::uint64_t> offset = file.offset_of(note.place + moved);
    const std::optional<std::uint64_t> semaphore = note.semaphore == 0
                                                       ? std::optional<std::uint64_t>(0)
                                                       : file.offset_of(note.semaphore + moved);
    if (offset) places.push_back({note.name, *offset, semaphore.value_or(0)});
  }
  return places;
}

}  // namespace fathom::symbols
