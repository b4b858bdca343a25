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
#include "guest/new_environment.h"
#include "guest/pool.h"
#include "guest/quiet.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"

namespace fathom::guest::posix {
namespace {

bool is_recording() { return recording(FATHOM_SOURCE_POSIX); }

// What children call first is looked for once, here, and not by each of them.
void resolve_for_children();  // posix.guest.cc

template <const Spec& S>
FATHOM_AT_START int fork_hook(int (*&original)(void)) {
  resolve(original, S.entry);
  const bool recorded = is_recording();
  const bool ours = in_program();
  if (ours) {
    resolve_for_children();
    prepare_fork();
  }
  if (!recorded) {
    const int child = original();
    if (child == 0 && ours) attach_child();
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

// Nothing of ours may be held when a child of vfork becomes the program: it would stay so in its
// parent.
uint32_t program_path(const NewProgram& named, int error) {
  const Scratch room;
  if (room.text() == nullptr) return 0;
  const NewProgram program = found_program(named, room.text());
  if (program.path != nullptr) return path_of_call(program.directory, program.path, error);
  return program.directory >= 0 ? static_cast<uint32_t>(use_begins(program.directory)) : 0;
}

// Programs are told of though calls of this layer are not recorded, and by a child of vfork, too:
// it has this thread's cursor to itself until it is another program, which may be one that we
// cannot enter.
bool tells_of_programs() { return in_program() || is_lodger(); }

// Records that can be taken back: no handler writes between them. The segment is left meanwhile to
// the program that comes, for there may be no after; a lodger's is left by its parent.
class Written {
 public:
  template <class Write>
  explicit Written(Write write) {
    const Quiet quiet;
    before_ = tls;
    write();
    behind_ = tls.cursor.at;
    if (tls.vforks != 0 || tls.writing != 0 || tls.level != 0) return;
    left_ = tls.cursor;
    if (left_.segment != nullptr) generation_ = left_.segment->generation;
    release_segment(tls.cursor, FATHOM_SEGMENT_PARTIAL, guest.pid);
  }

  // Whether the thread is where it was before them. Not if a handler wrote something behind them
  // meanwhile, or the segment was left or is another's, or they lie in that of a handler which
  // interrupted a writer.
  [[nodiscard]] bool taken_back() const {
    const Quiet quiet;
    if (left_.segment != nullptr && !come_back()) return false;
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
  // Nobody has been there if it is still handed over, by us.
  [[nodiscard]] bool come_back() const {
    const auto used = static_cast<uint64_t>(behind_ - reinterpret_cast<uint8_t*>(left_.segment));
    if (tls.cursor.segment != nullptr || !reclaim_segment(left_.segment, generation_, used))
      return false;
    tls.cursor = left_;
    return true;
  }

  Tls before_;
  Cursor left_ = {};
  uint32_t generation_ = 0;
  const uint8_t* behind_;
};

// A program is about to replace this one. Its record is written before, since there may be no
// after; where the call comes back it has failed, and the record that said otherwise is taken back;
// where it cannot be, another one says that it failed.
template <const Spec& S, class Call>
int exec_hook(const NewProgram& program, char* const* variables, Call call) {
  const bool lodger = is_lodger();
  const bool recorded = is_recording() || (lodger && guest.wanted[FATHOM_SOURCE_POSIX] != 0);
  const NewEnvironment environment(program, variables);
  if (!recorded && !tells_of_programs()) {
    if (is_confined()) count_loss(FATHOM_SOURCE_RUNTIME, FATHOM_LOSS_CONFINED);
    return call(environment);
  }
  Facts facts;
  if (recorded && !lodger) facts.depth = open_level(FATHOM_FRAME);
  facts.file = program_path(program, environment.path_was_read() ? 0 : kNobodyReadIt);
  facts.begin = facts.end = tick();
  const Written written([&] {
    if (recorded) write_call<S>(facts);
    write_exec(0, facts.file, environment.flags(), facts.begin);
  });
  const int ret = call(environment);
  facts.error = errno;
  if (recorded && !lodger) close_level(facts.depth);
  if (!written.taken_back()) {
    write_exec_failed();
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
               const void* attributes, char* const* arguments, char* const* variables) {
  const bool recorded = begins<S>(original);
  const NewProgram program{AT_FDCWD, path, kSearched};
  const NewEnvironment environment(program, variables);
  if (!recorded && !in_program())
    return original(child, path, actions, attributes, arguments, environment.variables());
  prepare_fork();
  Facts facts;
  int pid = 0;
  const int ret = FATHOM_TIMED(
      facts, S, original(&pid, path, actions, attributes, arguments, environment.variables()));
  if (ret == 0 && child != nullptr) *child = pid;
  facts.ret = ret;
  facts.file = program_path(program, facts.error);
  if (recorded) write_call<S>(facts);
  if (ret == 0) write_exec(pid, facts.file, environment.flags(), facts.begin);
  return ret;
}

// A child's end, as its parent sees it. (waitid returns no pid, and tells it in its own way.)
template <const Spec& S, class Call>
int wait_hook(int* status, Call call) {
  const bool recorded = is_recording();
  if (!recorded && !in_program()) return call(status);
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
