// SPDX-License-Identifier: MIT
// Signs of calls that pass no hook: what the kernel counted, libraries for requests, the note of
// Go's linker. Whoever reads the recording compares and tells (trace/recording/unseen.h).
#include "guest/unseen.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "guest/attach.h"
#include "guest/confinement.h"
#include "guest/loaded.h"
#include "guest/pool.h"
#include "guest/process.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "guest/text.h"
#include "wire/exec.h"

namespace fathom::guest {
namespace {

// The number behind a word; false where there is none.
bool number_behind(const char* text, const char* word, uint64_t* number) {
  const char* at = strstr(text, word);
  if (at == nullptr) return false;
  at += strlen(word);
  while (*at == ' ') at++;
  for (*number = 0; *at >= '0' && *at <= '9'; at++)
    *number = *number * 10 + static_cast<uint64_t>(*at - '0');
  return true;
}

// Told only where every call that moves bytes is recorded: else the difference means nothing.
void tell_kernels_count() {
  const bool sees_all = guest.wanted[FATHOM_SOURCE_POSIX] != 0 &&
                        guest.wanted[FATHOM_SOURCE_STDIO] != 0 && !guest.filtered && !guest.late;
  const Scratch scratch;
  char* const text = scratch.text();
  if (!sees_all || tls.vforks != 0 || is_confined() || text == nullptr) return;
  const int fd = sys_openat(AT_FDCWD, "/proc/self/io", O_RDONLY, 0);
  if (fd < 0) return;
  const long got = sys_read(fd, text, Scratch::kRoom - 1);
  sys_close(fd);
  text[got > 0 ? got : 0] = 0;
  uint64_t was_read = 0, was_written = 0;
  if (!number_behind(text, "rchar:", &was_read) || !number_behind(text, "wchar:", &was_written))
    return;
  const uint64_t own = published_bytes();
  char both[48];
  Text words(both, sizeof both);
  words.add_number(was_read).add(" ").add_number(was_written > own ? was_written - own : 0);
  write_meta(FATHOM_META_KERNEL_IO, both, words.length());
}

struct RequestLibrary {
  const char* name;
  const char* key;
};
constexpr RequestLibrary kRequestLibraries[] = {{"/libaio.so", FATHOM_META_UNSEEN "libaio"},
                                                {"/liburing.so", FATHOM_META_UNSEEN "io_uring"}};

bool tell_request_library(const Loaded& object, void*) {
  for (const RequestLibrary& one : kRequestLibraries) {
    if (object.name != nullptr && strstr(object.name, one.name) != nullptr)
      write_meta(one.key, FATHOM_META_UNSEEN_LOADED, strlen(FATHOM_META_UNSEEN_LOADED));
  }
  return false;
}

// A note of that name in a segment of notes. Go counts the bytes that fill up its name, too.
bool has_note(const char* at, size_t bytes, const char* name, size_t length) {
  constexpr size_t kAlign = 4;
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    memcpy(&head, at, sizeof head);
    const size_t named = (size_t{head.n_namesz} + kAlign - 1) & ~(kAlign - 1);
    const size_t whole =
        sizeof head + named + ((size_t{head.n_descsz} + kAlign - 1) & ~(kAlign - 1));
    if (whole > bytes) return false;
    if (head.n_namesz >= length && memcmp(at + sizeof head, name, length) == 0) return true;
    at += whole;
    bytes -= whole;
  }
  return false;
}

struct Headers {
  const ElfW(Phdr) * first = nullptr;
  size_t count = 0;

  [[nodiscard]] const ElfW(Phdr) * begin() const { return first; }
  [[nodiscard]] const ElfW(Phdr) * end() const { return first + count; }
};

bool is_loaded(const Headers& headers, const ElfW(Phdr) & part) {
  for (const auto& one : headers) {
    const bool readable = one.p_type == PT_LOAD && (one.p_flags & PF_R) != 0;
    if (readable && part.p_vaddr >= one.p_vaddr &&
        part.p_vaddr + part.p_filesz <= one.p_vaddr + one.p_filesz)
      return true;
  }
  return false;
}

}  // namespace

// Go's linker leaves a note. Where the program lies is told by the entry for the headers
// themselves, which stands before all others that count.
bool is_go_program() {
  constexpr char kName[] = "Go";
  const uintptr_t place = getauxval(AT_PHDR);
  if (place == 0) return false;
  const Headers headers{reinterpret_cast<const ElfW(Phdr)*>(place), getauxval(AT_PHNUM)};
  const char* base = nullptr;
  for (const auto& part : headers) {
    if (part.p_type == PT_PHDR) base = reinterpret_cast<const char*>(place - part.p_vaddr);
    if (part.p_type == PT_NOTE && base != nullptr && is_loaded(headers, part) &&
        has_note(base + part.p_vaddr, part.p_filesz, kName, sizeof kName))
      return true;
  }
  return false;
}

void tell_unseen(const char* key) {
  if (recording(FATHOM_SOURCE_RUNTIME)) write_meta(key, "1", 1);
}

void tell_unseen_at_end() {
  if (tls.vforks == 0) visit_loaded(tell_request_library, nullptr, Objects::kFirst);
  tell_kernels_count();
}

}  // namespace fathom::guest
