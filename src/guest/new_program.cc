// SPDX-License-Identifier: MIT
// Reads the ELF header, the loader's name and the scripts' first lines of a program before exec, to
// know whether its loader would take the library.
#include "guest/new_program.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/elf_object.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "guest/text.h"
#include "wire/exec.h"

extern "C" char** environ;

namespace fathom::guest {
namespace {

constexpr int kMostScripts = 5;  // as the kernel
constexpr size_t kHead = 1024;   // of a file: all that is asked of most, and in one page
static_assert(kHead < Scratch::kRoom);

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#else
constexpr uint16_t kMachine = EM_AARCH64;
#endif

class ProgramFile {
 public:
  // Only a regular file is opened: the others cannot be run, and may mind.
  ProgramFile(int directory, const char* path) {
    struct stat facts {};
    const long looked = raw_syscall(SYS_newfstatat, directory, as_long(path), as_long(&facts), 0);
    path_was_read_ = looked == 0;
    if (looked == 0 && S_ISREG(facts.st_mode))
      fd_ = sys_openat(directory, path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
  }
  ~ProgramFile() {
    if (fd_ >= 0) sys_close(fd_);
  }
  ProgramFile(const ProgramFile&) = delete;
  ProgramFile& operator=(const ProgramFile&) = delete;

  [[nodiscard]] bool path_was_read() const { return path_was_read_; }

  // How many bytes were read.
  size_t read(void* to, size_t size, uint64_t offset) const {
    if (fd_ < 0) return 0;
    const long got = raw_syscall(SYS_pread64, fd_, as_long(to), static_cast<long>(size),
                                 static_cast<long>(offset));
    return got > 0 ? static_cast<size_t>(got) : 0;
  }

 private:
  int fd_ = -1;
  bool path_was_read_ = false;
};

// glibc's loaders: ld-linux-x86-64.so.2, ld-linux-aarch64.so.1, ld64.so.1, ld-lsb-x86-64.so.3.
// musl's is ld-musl-x86_64.so.1.
unsigned obstacle_in_loader(const char* loader) {
  const char* name = base_name_of(loader);
  const bool ours =
      starts_with(name, "ld-linux") || starts_with(name, "ld64.so") || starts_with(name, "ld-lsb");
  return ours ? 0 : FATHOM_EXEC_OTHER_LIBC;
}

// `text` holds the file's first `length` bytes, and has room for kRoom.
unsigned obstacles_in_elf(const ProgramFile& file, char* text, size_t length) {
  ElfW(Ehdr) header;
  if (length < sizeof header) return 0;
  memcpy(&header, text, sizeof header);
  constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (header.e_ident[EI_CLASS] != kClass || header.e_machine != kMachine)
    return FATHOM_EXEC_OTHER_MACHINE;
  if (header.e_phentsize != sizeof(ElfW(Phdr))) return 0;
  for (unsigned i = 0; i < header.e_phnum; i++) {
    ElfW(Phdr) segment;
    const uint64_t at = header.e_phoff + i * sizeof segment;
    if (at + sizeof segment <= length) {
      memcpy(&segment, text + at, sizeof segment);
    } else if (file.read(&segment, sizeof segment, at) != sizeof segment) {
      return 0;
    }
    if (segment.p_type != PT_INTERP) continue;
    const size_t room = segment.p_filesz < Scratch::kRoom ? segment.p_filesz : Scratch::kRoom - 1;
    if (segment.p_offset < length && room < length - segment.p_offset) {
      text += segment.p_offset;  // as in most programs
      text[room] = 0;
    } else {
      text[file.read(text, room, segment.p_offset)] = 0;
    }
    return obstacle_in_loader(text);
  }
  return FATHOM_EXEC_STATIC;
}

// The path in a script's first line, cut out of `text`; nullptr where there is none.
const char* interpreter_in(char* text) {
  if (!starts_with(text, "#!")) return nullptr;
  char* path = text + 2;
  while (*path == ' ' || *path == '\t') path++;
  char* end = path;
  while (*end != 0 && *end != ' ' && *end != '\t' && *end != '\n') end++;
  *end = 0;
  return *path != 0 ? path : nullptr;
}

bool may_run(const char* path) {
  struct stat facts {};
  return raw_syscall(SYS_newfstatat, AT_FDCWD, as_long(path), as_long(&facts), 0) == 0 &&
         S_ISREG(facts.st_mode) && (facts.st_mode & 0111) != 0;
}

// Where execvp finds it; nullptr: nowhere.
const char* found_in_path(const char* name, char* room) {
  const char* folders = nullptr;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; variable++) {
    if (starts_with(*variable, "PATH=")) folders = *variable + 5;
  }
  if (folders == nullptr) folders = "/bin:/usr/bin";
  while (true) {
    const char* end = strchrnul(folders, ':');
    Text path(room, Scratch::kRoom);
    path.add(folders, static_cast<size_t>(end - folders)).add(end != folders ? "/" : "").add(name);
    if (may_run(room)) return room;
    if (*end == 0) return nullptr;
    folders = end + 1;
  }
}

unsigned obstacles_in_file(int directory, const char* path, char* text, bool* path_was_read) {
  for (int scripts = 0; scripts < kMostScripts && path != nullptr; scripts++) {
    const ProgramFile file(directory, path);
    if (scripts == 0) *path_was_read = file.path_was_read();
    const size_t length = file.read(text, kHead, 0);
    text[length] = 0;
    if (length >= SELFMAG && memcmp(text, ELFMAG, SELFMAG) == 0)
      return obstacles_in_elf(file, text, length);
    path = interpreter_in(text);
    directory = AT_FDCWD;
  }
  return 0;
}

}  // namespace

NewProgram found_program(const NewProgram& program, char* room) {
  if (!program.searched || strchr(program.path, '/') != nullptr) return program;
  const char* path = found_in_path(program.path, room);
  return {path != nullptr ? AT_FDCWD : -1, path, false};
}

unsigned obstacles_in(const NewProgram& named, bool* path_was_read) {
  const Scratch head, name;
  if (head.text() == nullptr || name.text() == nullptr) return 0;
  const NewProgram program = found_program(named, name.text());
  if (program.path != nullptr)
    return obstacles_in_file(program.directory, program.path, head.text(), path_was_read);
  if (program.directory < 0) return 0;
  Text(name.text(), Scratch::kRoom)
      .add("/proc/self/fd/")
      .add_number(static_cast<uint64_t>(program.directory));
  return obstacles_in_file(AT_FDCWD, name.text(), head.text(), path_was_read);
}

}  // namespace fathom::guest
