// SPDX-License-Identifier: MIT
// The parts of a hook that need not be inlined: paths, writing the record, choosing calls by
// FATHOM_CALLS. They are here so that call.h stays small in each of its instantiations.
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
  if (directory == AT_FDCWD) return working_directory();
  if (FATHOM_UNLIKELY(tls.vforks != 0)) return file_of_lodger(directory);
  return static_cast<uint32_t>(use_begins(directory));
}

// One that begins at a directory whose own path nobody can tell has no name. The descriptor that it
// opens is asked for then.
uint32_t named_from(uint32_t base, const char* path, size_t length) {
  if (FATHOM_LIKELY(base != 0) || length == 0 || path[0] == '/')
    return intern_path(base, path, length);
  count_unnamed();
  return 0;
}

}  // namespace

uint32_t path_of_call(int directory, const char* path, int error) {
  if (path == nullptr || error == EFAULT) return 0;
  const uint32_t base = base_of(directory);
  if (FATHOM_LIKELY(text_was_read(error))) return named_from(base, path, strnlen(path, 4096));
  const Scratch scratch;
  if (scratch.text() == nullptr) return 0;
  if (is_confined()) count_unasked();
  const long copied = sys_copy_own(scratch.text(), path, 4096);
  if (copied <= 0) return 0;
  const size_t length = strnlen(scratch.text(), static_cast<size_t>(copied));
  return length == static_cast<size_t>(copied) && copied < 4096
             ? 0
             : named_from(base, scratch.text(), length);
}

void write_facts(const Spec& spec, const Facts& facts) {
  if (guest.filtered && !call_wanted(spec.kind)) return;
  Writer writer(spec.source);
  if (!writer.ok()) return;
  Cursor& cursor = tls.cursor;
  uint8_t* const head = cursor.at;
  uint8_t* at = put_timed_head(spec.kind, facts.depth, facts.end);
  at = fathom_put_varint(at, facts.end - facts.begin);
  const bool failed = facts.error != 0;
  unsigned flags = failed ? FATHOM_FLAG_ERROR : 0;
  if (failed) at = fathom_put_varint(at, static_cast<unsigned>(facts.error));
  if (has_file(spec)) at = put_file(at, cursor, flags, facts.fd, facts.file);
  if (has_offset(spec)) at = put_offset(at, cursor, facts.offset, failed ? 0 : facts.ret);
  if (has_size(spec)) at = fathom_put_varint(at, facts.size);
  if (has_item(spec)) at = fathom_put_varint(at, facts.item);
  if (has_ret(spec) && !failed) at = fathom_put_varint(at, fathom_zigzag(facts.ret));
  if (has_bytes(spec)) at = fathom_put_varint(at, facts.bytes);
  if (spec.flags >= 0) at = fathom_put_varint(at, fathom_zigzag(facts.flags));
  if (has_target(spec)) at = fathom_put_varint(at, facts.path2);
  uint16_t word;
  memcpy(&word, head, 2);
  word = static_cast<uint16_t>(word | flags);
  memcpy(head, &word, 2);
  writer.commit(at);
}

uint64_t size_of_pieces(const iovec* pieces, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += pieces[i].iov_len;
  return sum;
}

// The choice of FATHOM_CALLS as a bit for each kind, made at attach.
namespace {
constinit uint8_t unwanted[(FATHOM_KIND_MASK + 1) / 8] = {};

bool list_names(const char* list, const char* name, size_t length, bool excluding) {
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

// A line of the schema: kind, source, layer, name …
struct KindLine {
  unsigned kind = 0;
  const char* name = nullptr;
  size_t length = 0;

  explicit KindLine(const char* at) {
    for (; *at >= '0' && *at <= '9'; at++) kind = kind * 10 + static_cast<unsigned>(*at - '0');
    for (int columns = 0; columns < 3; columns++) at = column_behind(at);
    name = at;
    length = static_cast<size_t>(column_behind(at) - at) - 1;
  }

 private:
  static const char* column_behind(const char* at) {
    while (*at != '\t' && *at != '\n') at++;
    return at + 1;
  }
};
}  // namespace

bool call_wanted(uint16_t kind) { return (unwanted[kind / 8] >> (kind % 8) & 1) == 0; }

// "read,write" records those alone; "-stat,-fstat" all but those. Names are read from the schema's
// text: a table of them would have to be relocated at the start of every program.
void choose_calls(const char* list) {
  if (*list == 0) return;
  const bool excluding = *list == '-';
  const char* const end = schema_text() + schema_length();
  for (const char* at = schema_text(); at < end; at++) {
    const KindLine line(at);
    while (*at != '\n') at++;
    if (!is_chosen_by_name(line.kind) ||
        list_names(list, line.name, line.length, excluding) != excluding)
      continue;
    unwanted[line.kind / 8] = static_cast<uint8_t>(unwanted[line.kind / 8] | 1u << (line.kind % 8));
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
