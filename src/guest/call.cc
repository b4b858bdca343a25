// SPDX-License-Identifier: MIT
#include "guest/call.h"

#include <sys/uio.h>

#include "guest/confinement.h"
#include "guest/schema.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"

namespace fathom::guest {
namespace {

// After these the kernel has read the whole text.
bool text_was_read(int error) {
  return error == 0 || error == ENOENT || error == EEXIST || error == ENOTDIR || error == EACCES ||
         error == EISDIR || error == ENOTEMPTY;
}

uint32_t base_of(int directory) {
  if (directory == AT_FDCWD) return __atomic_load_n(&guest.cwd, __ATOMIC_RELAXED);
  return static_cast<uint32_t>(use_begins(directory));
}

}  // namespace

uint32_t path_of_call(int directory, const char* path, int error) {
  if (path == nullptr || error == EFAULT) return 0;
  const uint32_t base = base_of(directory);
  if (FATHOM_LIKELY(text_was_read(error))) return intern_path(base, path, strnlen(path, 4096));
  const Scratch scratch;
  if (scratch.text() == nullptr) return 0;
  if (is_confined()) count_unasked();
  const long copied = sys_copy_own(scratch.text(), path, 4096);
  if (copied <= 0) return 0;
  const size_t length = strnlen(scratch.text(), static_cast<size_t>(copied));
  return length == static_cast<size_t>(copied) && copied < 4096
             ? 0
             : intern_path(base, scratch.text(), length);
}

uint64_t size_of_pieces(const iovec* pieces, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += pieces[i].iov_len;
  return sum;
}

// The choice of FATHOM_CALLS as a bit for each kind, made at attach.
namespace {
constinit uint8_t unwanted[(FATHOM_KIND_MASK + 1) / 8] = {};

bool list_names(const char* list, const char* name, bool excluding) {
  const size_t length = strlen(name);
  for (const char* at = list; *at != 0;) {
    const char* end = strchrnul(at, ',');
    const char* word = excluding && *at == '-' ? at + 1 : at;
    if ((*at == '-') == excluding && static_cast<size_t>(end - word) == length &&
        memcmp(word, name, length) == 0)
      return true;
    at = *end != 0 ? end + 1 : end;
  }
  return false;
}
}  // namespace

bool call_wanted(uint16_t kind) { return (unwanted[kind / 8] >> (kind % 8) & 1) == 0; }

// "read,write" records those alone; "-stat,-fstat" all but those.
void choose_calls(const char* list) {
  if (list == nullptr || *list == 0) return;
  const bool excluding = *list == '-';
  for (unsigned kind = FATHOM_KIND_FIRST; kind <= FATHOM_KIND_MASK; kind++) {
    const char* name = name_of_kind(static_cast<uint16_t>(kind));
    if (*name == 0 || list_names(list, name, excluding) != excluding) continue;
    unwanted[kind / 8] = static_cast<uint8_t>(unwanted[kind / 8] | 1u << (kind % 8));
  }
  guest.filtered = true;
}

// The kernel tells the new directory: one call more for a chdir, and right for every way in.
void directory_changed() {
  const Scratch scratch;
  uint32_t cwd = 0;
  if (is_confined()) count_unasked();
  if (scratch.text() != nullptr) {
    const long length = sys_getcwd(scratch.text(), Scratch::kRoom);
    if (length > 1 && scratch.text()[0] == '/')
      cwd = intern_path(0, scratch.text(), static_cast<size_t>(length - 1));
  }
  __atomic_store_n(&guest.cwd, cwd, __ATOMIC_RELAXED);
}

}  // namespace fathom::guest
