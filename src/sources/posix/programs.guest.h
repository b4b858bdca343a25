// SPDX-License-Identifier: MIT
// Bodies of the hooks that make processes, replace their programs and see their ends. Guest code;
// included by posix.guest.cc alone.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

#include "guest/call.h"
#include "guest/syscalls.h"

namespace fathom::guest::posix {
namespace {

bool is_recording() { return recording(FATHOM_SOURCE_POSIX); }

template <const Spec& S>
int fork_hook(int (*&original)(void)) {
  if (FATHOM_UNLIKELY(original == nullptr)) resolve_originals();
  if (guest.attached && tls.apart == 0) prepare_fork();
  if (!is_recording()) {
    const int child = original();
    if (child == 0 && guest.attached && tls.apart == 0) attach_child();
    return child;
  }
  Facts facts;
  const int child = FATHOM_TIMED(facts, S, original());
  if (child == 0) {
    attach_child();
    close_level(facts.depth);
    return 0;
  }
  facts.ret = child;
  write_call<S>(facts);
  return child;
}

constexpr int kNobodyReadIt =
    EPERM;  // an error after which path_of_call does not trust the pointer

// The path of a program; a plain name that is looked up in PATH is no path.
uint32_t program_path(const char* path, int error, bool searched) {
  if (path == nullptr) return 0;
  const uint32_t file = path_of_call(AT_FDCWD, path, error);
  return file != 0 && searched && strchr(path, '/') == nullptr ? 0 : file;
}

// Programs are told of though calls of this layer are not recorded, and by a child of vfork, too:
// it has this thread's cursor to itself until it is another program, which may be one that we
// cannot enter.
bool tells_of_programs() { return guest.live->alive != 0 && (tls.apart == 0 || tls.vforks != 0); }

// A program is about to replace this one. Its record is written before, since there may be no
// after; where the call comes back it has failed, and the record that said otherwise is taken back.
template <const Spec& S, class Call>
int exec_hook(const char* path, char* const* environment, bool searched, Call call) {
  const bool recorded = is_recording();
  if (!recorded && !tells_of_programs()) return call();
  Facts facts;
  if (recorded) facts.depth = open_level(FATHOM_FRAME);
  facts.file = program_path(path, kNobodyReadIt, searched);
  const Tls before = tls;
  fathom_segment* segment = tls.cursor.segment;
  const uint64_t progress =
      segment != nullptr ? __atomic_load_n(&segment->progress, __ATOMIC_RELAXED) & UINT32_MAX : 0;
  facts.begin = facts.end = tick();
  if (recorded) write_call<S>(facts);
  write_exec(tls.vforks != 0 ? sys_getpid() : 0, facts.file, environment);
  const uint8_t* const behind = tls.cursor.at;
  const int ret = call();
  facts.error = errno;
  // Not if a handler wrote something behind it meanwhile, or the segment was left.
  if (segment != nullptr && before.cursor.segment == segment && tls.cursor.segment == segment &&
      tls.cursor.at == behind) {
    tls.cursor = before.cursor;
    tls.last_depth = before.last_depth;
    __atomic_store_n(&segment->progress, progress, __ATOMIC_RELEASE);
  } else if (tls.vforks == 0) {
    write_exec_failed();
  }
  if (recorded) {
    facts.end = tick();
    facts.ret = ret;
    close_level(facts.depth);
    write_call<S>(facts);
  }
  errno = facts.error;
  return ret;
}

template <const Spec& S, bool kSearched, class Original>
int spawn_hook(Original& original, int* child, const char* path, const void* actions,
               const void* attributes, char* const* arguments, char* const* environment) {
  const bool recorded = begins(original, FATHOM_SOURCE_POSIX);
  if (!recorded && (!tells_of_programs() || tls.apart != 0))
    return original(child, path, actions, attributes, arguments, environment);
  prepare_fork();
  Facts facts;
  int pid = 0;
  const int ret =
      FATHOM_TIMED(facts, S, original(&pid, path, actions, attributes, arguments, environment));
  if (ret == 0 && child != nullptr) *child = pid;
  facts.ret = ret;
  facts.file = program_path(path, facts.error, kSearched);
  if (recorded) write_call<S>(facts);
  if (ret == 0) write_exec(pid, facts.file, environment);
  return ret;
}

// A child's end, as its parent sees it. (waitid returns no pid, and tells it in its own way.)
template <const Spec& S, class Call>
int wait_hook(int* status, Call call) {
  const bool recorded = is_recording();
  if (!recorded && (!tells_of_programs() || tls.apart != 0)) return call(status);
  int own = 0;
  int* to = status != nullptr ? status : &own;
  Facts facts;
  const int pid = FATHOM_TIMED(facts, S, call(to));
  facts.ret = pid;
  if (recorded) write_call<S>(facts);
  if (pid > 0 && (WIFEXITED(*to) || WIFSIGNALED(*to))) write_waited(pid, *to);
  return pid;
}

// The arguments of execl and its kin, as an array. argv ends with a null pointer; `count` does not
// count it.
size_t count_arguments(va_list list) {
  size_t count = 1;
  while (va_arg(list, char*) != nullptr) count++;
  return count;
}
void take_arguments(va_list list, const char* first, size_t count, char** to) {
  to[0] = const_cast<char*>(first);
  for (size_t i = 1; i <= count; i++) to[i] = va_arg(list, char*);
}

}  // namespace
}  // namespace fathom::guest::posix
