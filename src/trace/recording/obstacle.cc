// SPDX-License-Identifier: MIT
// Reads a program's file as the kernel would (scripts, ELF class, loader, set-user-id), to explain
// why it was not recorded. The guest asks the same in guest/new_program.cc.
#include "trace/recording/obstacle.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <cstring>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace fathom::trace {
namespace {

constexpr int kMostScripts = 4;  // as the kernel
constexpr std::size_t kHeadBytes = 4096;

std::string head_of(const std::string& path) {
  const Result<File> file = File::open(path, O_RDONLY | O_NONBLOCK);
  if (!file) return "";
  std::string bytes(kHeadBytes, '\0');
  const Result<std::size_t> got = file->pread_some(std::as_writable_bytes(std::span(bytes)), 0);
  bytes.resize(got ? *got : 0);
  return bytes;
}

std::string script_interpreter(const std::string& head) {
  if (!head.starts_with("#!")) return "";
  const std::string_view line = trim(std::string_view(head).substr(2, head.find('\n') - 2));
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

bool gains_privilege(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0)
    return true;
  return ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

std::uint16_t own_machine() {
#if defined(__x86_64__)
  return EM_X86_64;
#elif defined(__aarch64__)
  return EM_AARCH64;
#else
  return EM_NONE;
#endif
}

bool is_elf(const std::string& head) {
  return head.size() >= sizeof(Elf64_Ehdr) && std::memcmp(head.data(), ELFMAG, SELFMAG) == 0;
}

Elf64_Ehdr header_of(const std::string& head) {
  Elf64_Ehdr header{};
  std::memcpy(&header, head.data(), sizeof header);
  return header;
}

bool has_64_bits(const std::string& head) {
  return header_of(head).e_ident[EI_CLASS] == ELFCLASS64;
}

std::uint16_t machine_of(const std::string& head) {
  return has_64_bits(head) ? header_of(head).e_machine : std::uint16_t{EM_NONE};
}

// The loader that the program names; "" for a static one.
std::string loader_of(const std::string& path, const std::string& head) {
  const Elf64_Ehdr header = header_of(head);
  const Result<File> file = File::open(path, O_RDONLY);
  if (!file || header.e_phentsize != sizeof(Elf64_Phdr)) return "";
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  const Result<std::size_t> got =
      file->pread_some(std::as_writable_bytes(std::span(segments)), header.e_phoff);
  if (!got || *got != segments.size() * sizeof(Elf64_Phdr)) return "";
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_INTERP || segment.p_filesz == 0 || segment.p_filesz > kHeadBytes)
      continue;
    std::string loader(segment.p_filesz, '\0');
    const Result<std::size_t> length =
        file->pread_some(std::as_writable_bytes(std::span(loader)), segment.p_offset);
    if (length) return loader.c_str();
  }
  return "";
}

// What stands against the library, and whether the program's loader minds it.
struct Obstacle {
  std::string reason;
  bool turns_away = false;
};

Obstacle elf_obstacle(const std::string& program, const std::string& head,
                      const std::string& library) {
  const std::string library_head = library.empty() ? "" : head_of(library);
  const std::uint16_t wanted = is_elf(library_head) ? machine_of(library_head) : own_machine();
  if (!has_64_bits(head)) return {"32 bits", true};
  if (wanted != EM_NONE && machine_of(head) != wanted) return {"another architecture", true};
  const std::string loader = loader_of(program, head);
  if (loader.empty()) return {"static binary", false};
  // glibc's loaders: ld-linux-x86-64.so.2, ld-linux-aarch64.so.1, ld64.so.1, ld-lsb-x86-64.so.3;
  // musl's is ld-musl-x86_64.so.1.
  const std::string_view name = base_name(loader);
  for (const std::string_view own : {"ld-linux", "ld64.so", "ld-lsb"}) {
    if (name.starts_with(own)) return {};
  }
  return {"another libc (" + loader + ")", true};
}

Obstacle find_obstacle(const std::string& program, const std::string& library) {
  std::string path = program;
  for (int scripts = 0; scripts < kMostScripts && !path.empty(); scripts++) {
    const std::string head = head_of(path);
    const std::string interpreter = script_interpreter(head);
    if (!interpreter.empty()) {
      path = interpreter;
      continue;
    }
    if (!is_elf(head)) return {};
    if (gains_privilege(path)) return {"set-user-id", false};
    return elf_obstacle(path, head, library);
  }
  return {};
}

}  // namespace

std::string obstacle_of(const std::string& program, const std::string& library) {
  return find_obstacle(program, library).reason;
}

bool turns_library_away(const std::string& program, const std::string& library) {
  return find_obstacle(program, library).turns_away;
}

}  // namespace fathom::trace
