// SPDX-License-Identifier: MIT
// Reads our own vdso by the address that the kernel told, and that of another process by
// process_vm_readv(). The sizes in its header are the kernel's; a process's range has a limit.
#include "symbols/vdso.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/os_error.h"

namespace fathom::symbols {

// Its last bytes are the table of sections.
Result<std::string> vdso_image() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel tells it as a number
  const auto* begin = reinterpret_cast<const char*>(::getauxval(AT_SYSINFO_EHDR));
  if (begin == nullptr) return Error{Code::kUnsupported, "this kernel has no vdso", ""};
  Elf64_Ehdr header;
  std::memcpy(&header, begin, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return Error{Code::kUnsupported, "the vdso cannot be read", ""};
  std::uint64_t size = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    std::memcpy(&part, begin + header.e_phoff + std::size_t(i) * header.e_phentsize, sizeof part);
    if (part.p_type == PT_LOAD) size = std::max<std::uint64_t>(size, part.p_offset + part.p_filesz);
  }
  return std::string(begin, size);
}

Result<std::string> memory_image(pid_t pid, std::uint64_t begin, std::uint64_t size) {
  constexpr std::uint64_t kMost = 16ULL << 20;
  if (size > kMost) return Error{Code::kUnsupported, "more memory than an image takes", ""};
  std::string bytes(size, '\0');
  const iovec local{bytes.data(), bytes.size()};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process
  const iovec remote{reinterpret_cast<void*>(begin), bytes.size()};
  const ssize_t done = ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
  if (done < 0) return os_error(errno, "read memory of process " + std::to_string(pid));
  bytes.resize(static_cast<std::size_t>(done));
  return bytes;
}

}  // namespace fathom::symbols
