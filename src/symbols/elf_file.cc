// SPDX-License-Identifier: MIT
// Opens ELF files for libelf. The file is mapped by SharedView: a program that is replaced or cut
// while we look into it must not end us with SIGBUS.
#include "symbols/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/files.h"
#include "base/os_error.h"

namespace fathom::symbols {

Result<ElfFile> ElfFile::open(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid()) return os_error(errno, "open " + path);
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return os_error(errno, "look at " + path);
  if (!S_ISREG(facts.st_mode)) return Error{Code::kNotFound, path + " is not a file", ""};
  ElfFile file;
  if (facts.st_size == 0) {  // empty, or of /proc: no program either way
    return Error{Code::kCorrupt, path + " is not a program or library", ""};
  }
  const auto size = static_cast<std::size_t>(facts.st_size);
  FATHOM_ASSIGN(file.view_, SharedView::map(fd.get(), size, false));
  // libelf writes to headers of sections that it unpacks: into pages of ours, not into the file.
  if (::mmap(file.view_.memory(), size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd.get(), 0) == MAP_FAILED)
    return os_error(errno, "map " + path);
  FATHOM_TRY(file.begin(static_cast<char*>(file.view_.memory()), size, path));
  return file;
}

Result<ElfFile> ElfFile::of_image(std::string bytes, const std::string& name) {
  ElfFile file;
  file.image_ = std::make_unique<std::string>(std::move(bytes));
  FATHOM_TRY(file.begin(file.image_->data(), file.image_->size(), name));
  return file;
}

Status ElfFile::begin(char* bytes, std::size_t size, const std::string& name) {
  elf_version(EV_CURRENT);
  elf_.reset(elf_memory(bytes, size));
  if (!elf_ || elf_kind(get()) != ELF_K_ELF)
    return Error{Code::kCorrupt, name + " is not a program or library", ""};
  return {};
}

std::string_view ElfFile::content(Elf_Scn* section) const {
  GElf_Shdr header;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return {};
  if (header.sh_type == SHT_NOBITS) return {};
  return bytes_at(header.sh_offset, header.sh_size);
}

std::string ElfFile::build_id() const {
  const void* id = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(get(), &id);
  if (size <= 0) return {};
  return {static_cast<const char*>(id), static_cast<std::size_t>(size)};
}

std::uint64_t ElfFile::size() const {
  std::size_t size = 0;
  (void)elf_rawfile(get(), &size);
  return size;
}

}  // namespace fathom::symbols
