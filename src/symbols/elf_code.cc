// SPDX-License-Identifier: MIT
// Reads symbol tables, versions and USDT notes with libelf. Offsets in the file and not addresses,
// because that is what uprobes are given.
#include "symbols/elf_code.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "symbols/elf_file.h"

namespace fathom::symbols {
namespace {

// Names of versions, by their numbers. Those that are not the default one are hidden: programs that
// were linked long ago alone ask for them.
class Versions {
 public:
  explicit Versions(const ElfFile& file) {
    file.each_section([&](Elf_Scn* section, const GElf_Shdr& header) {
      if (header.sh_type == SHT_GNU_versym) numbers_ = elf_getdata(section, nullptr);
      if (header.sh_type == SHT_GNU_verdef) read_names(file, section, header);
    });
  }

  // "" of a default version, or where there are none; else with its '@'.
  [[nodiscard]] std::string suffix_of(int symbol) const {
    constexpr GElf_Versym kHidden = 0x8000;
    GElf_Versym number = 0;
    if (numbers_ == nullptr || gelf_getversym(numbers_, symbol, &number) == nullptr) return "";
    if ((number & kHidden) == 0) return "";
    const auto found = names_.find(number & ~kHidden);
    return found == names_.end() ? "" : "@" + found->second;
  }

 private:
  void read_names(const ElfFile& file, Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr) return;
    std::size_t at = 0;
    for (std::size_t i = 0; i < header.sh_info; ++i) {  // as many as there are
      GElf_Verdef definition;
      GElf_Verdaux word;
      if (gelf_getverdef(data, static_cast<int>(at), &definition) == nullptr) return;
      const auto words = static_cast<int>(at + definition.vd_aux);
      if (gelf_getverdaux(data, words, &word) == nullptr) return;
      const char* name = elf_strptr(file.get(), header.sh_link, word.vda_name);
      if (name != nullptr) names_[definition.vd_ndx] = name;
      if (definition.vd_next == 0) return;
      at += definition.vd_next;
    }
  }

  Elf_Data* numbers_ = nullptr;
  std::map<GElf_Versym, std::string> names_;
};

// A table of all symbols has names with their versions: "x@@V" is the default one.
std::string name_of(std::string_view name) {
  return std::string(name.substr(0, std::min(name.find("@@"), name.size())));
}

void add_functions(const ElfFile& file, std::vector<CodePlace>& places) {
  const Versions versions(file);
  file.each_symbol([&](const GElf_Shdr& table, int i, const GElf_Sym& symbol, const char* name) {
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) return;
    const std::optional<std::uint64_t> offset = file.offset_of(symbol.st_value);
    if (!offset) return;
    const std::string version = table.sh_type == SHT_DYNSYM ? versions.suffix_of(i) : "";
    places.push_back({name_of(name) + version, *offset, 0, type == STT_GNU_IFUNC});
  });
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
  add_functions(file, places);
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
    if (offset) places.push_back({note.name, *offset, semaphore.value_or(0), false});
  }
  return places;
}

}  // namespace fathom::symbols
