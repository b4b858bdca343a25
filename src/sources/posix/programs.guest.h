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
#include "guest/quiet.h"
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

// Records that can be taken back: no handler writes between them.
class Written {
 public:
  template <class Write>
  explicit Written(Write write) {
    const Quiet quiet;
    before_ = tls;
    write();
    behind_ = tls.cursor.at;
  }

  // Whether the thread is where it was before them. Not if a handler wrote something behind them
  // meanwhile, or the segment was left, or they lie in that of a handler which interrupted a
  // writer.
  [[nodiscard]] bool taken_back() const {
    const Quiet quiet;
    fathom_segment* const segment = tls.cursor.segment;
    if (segment == nullptr || before_.cursor.segment != segment || tls.cursor.at != behind_ ||
        before_.cursor.at == behind_)
      return false;
    tls.cursor = before_.cursor;
    tls.last_depth = before_.last_depth;
    store_progress();
    return true;
  }

 private:
  Tls before_;
  const uint8_t* behind_;
};

// A program is about to replace this one. Its record is written before, since there may be no
// after; where the call comes back it has failed, and the record that said otherwise is taken back;
// where it cannot be, another one says that it failed.
template <const Spec& S, class Call>
int exec_hook(const char* path, char* const* environment, bool searched, Call call) {
  const bool recorded = is_recording();
  if (!recorded && !tells_of_programs()) return call();
  Facts facts;
  if (recorded) facts.depth = open_level(FATHOM_FRAME);
  facts.file = program_path(path, kNobodyReadIt, searched);
  facts.begin = facts.end = tick();
  const Written written([&] {
    if (recorded) write_call<S>(facts);
    const int child = tls.vforks != 0 ? sys_getpid() : 0;
    if (child >= 0) {
      write_exec(child, facts.file, environment);
    } else {
      count_loss(FATHOM_SOURCE_RUNTIME, FATHOM_LOSS_CONFINED);
    }
  });
  const int ret = call();
  facts.error = errno;
  if (recorded) close_level(facts.depth);
  if (!written.taken_back()) {
    if (tls.vforks == 0) write_exec_failed();
  } else if (recorded) {
    facts.end = tick();
    facts.ret = ret;
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
