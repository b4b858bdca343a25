// SPDX-License-Identifier: MIT
// Clones the collector without an exit signal, so that the program's wait() never sees it. Below a
// program that adopts orphans a guard stays in between.
#include "guest/launch.h"

#include <link.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <initializer_list>

#include "guest/attach.h"
#include "guest/private_place.h"
#include "guest/runtime.h"
#include "guest/say.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "guest/text.h"

extern "C" char** environ;

namespace fathom::guest {
namespace {

constexpr size_t kMostVariables = 1000;

struct Program {
  char path[4352];
  char directory[4096];
  const char* arguments[8];
  const char* environment[kMostVariables + 1];
};
constinit Program program = {};

// --- which program
// -----------------------------------------------------------------------------------------------

bool look_behind(const char* path, struct stat& facts) {
  return kernel_call(SYS_newfstatat, AT_FDCWD, as_long(path), as_long(&facts), 0) == 0;
}

// `path` without its last name.
size_t folder_length(const char* path) {
  size_t length = 0;
  for (size_t at = 0; path[at] != 0; at++) {
    if (path[at] == '/') length = at;
  }
  return length;
}

// Whoever may exchange the library has this process already. Nobody else may be able to exchange
// what is started, or to have put it there.
bool is_as_safe(const struct stat& one, const struct stat& as) {
  if (one.st_uid != 0 && one.st_uid != kernel_call(SYS_geteuid) && one.st_uid != as.st_uid)
    return false;
  if ((one.st_mode & S_IWOTH) != 0) return false;
  return (one.st_mode & S_IWGRP) == 0 || one.st_gid == one.st_uid ||
         ((as.st_mode & S_IWGRP) != 0 && one.st_gid == as.st_gid);
}

// The program's folder has `length` bytes. In one like /tmp, what lies there is its owner's.
bool is_trusted(const char* own, size_t length) {
  struct stat library {};
  struct stat beside {};
  struct stat found {};
  struct stat around {};
  char* const folder = program.directory;  // free until the program is prepared
  Text(folder, sizeof program.directory).add(own, folder_length(own));
  if (!look_behind(own, library) || !look_behind(folder, beside)) return false;
  if (!look_behind(program.path, found) || !S_ISREG(found.st_mode)) return false;
  Text(folder, sizeof program.directory).add(program.path, length);
  if (!look_behind(folder, around)) return false;
  if ((around.st_mode & S_ISVTX) != 0) around.st_mode &= ~static_cast<mode_t>(S_IWOTH | S_IWGRP);
  return is_as_safe(found, library) && is_as_safe(around, beside);
}

// Whether `fathom` in this folder can be started; `own` is the library's file.
bool take_from(const char* folder, size_t length, const char* place, const char* own) {
  Text path(program.path, sizeof program.path);
  path.add(folder, length).add(place);
  const size_t whole = path.length();
  path.add("/fathom");
  return kernel_call(SYS_faccessat, AT_FDCWD, as_long(program.path), 1 /* X_OK */) == 0 &&
         is_trusted(own, whole);
}

// Beside the library, as both are built and installed, or in `bin` beside its folder.
bool take_from_beside(const char* own) {
  if (own[0] != '/') return false;  // a name that means something else in each directory
  const size_t length = folder_length(own);
  return take_from(own, length, "", own) || take_from(own, length, "/../bin", own);
}

bool take_from_path(const char* own) {
  const char* at = setting("PATH");
  while (at != nullptr && *at != 0) {
    const char* const end = strchrnul(at, ':');
    if (*at == '/' && take_from(at, static_cast<size_t>(end - at), "", own)) return true;
    at = *end != 0 ? end + 1 : end;
  }
  return false;
}

// --- the new process
// ----------------------------------------------------------------------------------------------

bool is_handed_on(const char* variable) {
  for (const char* prefix : {"LD_PRELOAD=", "LD_AUDIT=", "FATHOM_", "DFTRACER_", "PFLOG="}) {
    if (strncmp(variable, prefix, strlen(prefix)) == 0) return false;
  }
  return true;
}

void prepare_program() {
  Text(program.directory, sizeof program.directory).add(guest.out, length_of_recording());
  size_t count = 0;
  for (const char* word : {"fathom", "collect", "--quiet", "--"}) program.arguments[count++] = word;
  program.arguments[count++] = program.directory;
  program.arguments[count] = nullptr;
  count = 0;
  for (char** variable = environ; *variable != nullptr && count < kMostVariables; variable++) {
    if (is_handed_on(*variable)) program.environment[count++] = *variable;
  }
  program.environment[count] = nullptr;
}

void close_from(int first) {
  if (kernel_call(SYS_close_range, first, ~0U, 0) == 0) return;
  for (int fd = first; fd < 4096; fd++) sys_close(fd);  // before Linux 5.9
}

// Nothing of the program's stays open, but the lock, which is descriptor 3.
[[noreturn]] void become_collector(int lock_fd) {
  kernel_call(SYS_setsid);
  const int nothing = sys_openat(AT_FDCWD, "/dev/null", O_RDWR, 0);
  if (lock_fd != 3) kernel_call(SYS_dup3, lock_fd, 3, 0);
  kernel_call(SYS_fcntl, 3, F_SETFD, 0);
  for (int fd = 0; fd < 3; fd++) kernel_call(SYS_dup3, nothing, fd, 0);
  close_from(4);
  kernel_call(SYS_chdir, as_long("/"));
  const uint64_t none = 0;
  kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&none), 0, 8);
  kernel_call(SYS_execve, as_long(program.path), as_long(program.arguments),
              as_long(program.environment));
  for (;;) kernel_call(SYS_exit_group, 127);
}

// --- the usual program: the child ends at once and is waited for here, the grandchild is nobody's.
// Neither has an exit signal, so that the program's own wait() sees neither.
// ----------------------------------------------------------------------------------------------

void launch_orphan(int lock_fd) {
  const long child = kernel_call(SYS_clone, 0);
  if (child == 0) {
    if (kernel_call(SYS_clone, 0) == 0) become_collector(lock_fd);
    for (;;) kernel_call(SYS_exit_group, 0);
  }
  if (child > 0) kernel_call(SYS_wait4, child, 0, __WCLONE, 0);
}

// --- a program that adopts orphans: a guard stands between it and the collector
// ----------------------------------------------------------------------------------------------

// An orphan becomes a child of the nearest subreaper, or of PID 1.
bool adopts_orphans() {
  int subreaper = 0;
  kernel_call(SYS_prctl, PR_GET_CHILD_SUBREAPER, as_long(&subreaper));
  return subreaper != 0 || sys_getpid() == 1;
}

struct Range {
  uintptr_t begin, end;
};

constexpr uintptr_t kPage = 65536;  // the largest that there is

// Where this code lies.
int look_for_library(dl_phdr_info* info, size_t, void* data) {
  auto* range = static_cast<Range*>(data);
  const auto here = reinterpret_cast<uintptr_t>(&look_for_library);
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t at = info->dlpi_addr + segment.p_vaddr;
    if (at < begin) begin = at;
    if (at + segment.p_memsz > end) end = at + segment.p_memsz;
  }
  if (here < begin || here >= end) return 0;
  *range = {begin / kPage * kPage, (end + kPage - 1) / kPage * kPage};
  return 1;
}

void unmap(uintptr_t begin, uintptr_t end) {
  if (begin < end)
    kernel_call(SYS_munmap, static_cast<long>(begin), static_cast<long>(end - begin));
}

// The copy of the program's memory would keep each page that the program writes to from now on. All
// that is needed is this library and the stack in use.
void give_back_memory(Range library) {
  const auto stack = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const Range used{(stack - kPage) / kPage * kPage, (stack + 2 * kPage) / kPage * kPage};
  const bool stack_first = used.begin < library.begin;
  const Range low = stack_first ? used : library;
  const Range high = stack_first ? library : used;
  unmap(kPage, low.begin);
  unmap(low.end, high.begin);
  for (int bits = 52; bits >= 38; bits--) unmap(high.end, (uintptr_t{1} << bits) - kPage);
}

// Until the collector has ended: its orphan would be the program's. Every signal is held back.
[[noreturn]] __attribute__((noinline)) void stand_guard(int lock_fd, const Range& library) {
  kernel_call(SYS_setsid);
  kernel_call(SYS_prctl, PR_SET_NAME, as_long("fathom-guard"));
  kernel_call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
  if (kernel_call(SYS_clone, 0) == 0) become_collector(lock_fd);
  const uint64_t all = ~UINT64_C(0);
  kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&all), 0, 8);
  close_from(0);
  kernel_call(SYS_chdir, as_long("/"));
  give_back_memory(library);
  constexpr long kInterrupted = -4;
  for (long ended = 0; ended >= 0 || ended == kInterrupted;)
    ended = kernel_call(SYS_wait4, -1, 0, __WALL, 0);
  for (;;) kernel_call(SYS_exit_group, 0);
}

constinit long guard = 0;  // its pid

void reap_guard() {
  if (guard > 0) kernel_call(SYS_wait4, guard, 0, WNOHANG | __WCLONE, 0);
}

// A process that runs another program gets the exit signal SIGCHLD, and wait() sees it: the guard,
// which has none, runs nothing but this code. The first clone is like vfork, and calls no function:
// it is on our stack. Since it shares our memory it has no restartable sequences (rseq), nor has
// the guard, whose parent we are: the kernel would kill it for theirs when its memory is gone.
void launch_guarded(int lock_fd) {
  Range library{};
  dl_iterate_phdr(look_for_library, &library);
  if (library.end == 0) return;
  reap_guard();
  const long first = kernel_call(SYS_clone, CLONE_VM | CLONE_VFORK);
  if (first == 0) {
    const long second = kernel_call(SYS_clone, CLONE_PARENT);
    if (second == 0) stand_guard(lock_fd, library);
    __atomic_store_n(&guard, second, __ATOMIC_RELAXED);
    for (;;) kernel_call(SYS_exit_group, 0);
  }
  if (first > 0) kernel_call(SYS_wait4, first, 0, __WCLONE, 0);
}

}  // namespace

// By the library's name as the loader has it, and by its file: users link to it, or copy it, where
// their scripts expect it.
bool find_program() {
  if (is_confined()) return false;
  if (take_from_beside(guest.library)) return true;
  const Scratch file;
  const bool known = file.text() != nullptr && find_own_file(file.text(), Scratch::kRoom);
  if (known && take_from_beside(file.text())) return true;
  return take_from_path(known ? file.text() : guest.library);
}

// By bare calls: what a guard runs on may be gone (`tls`), and a child shares our memory.
void launch_program(int lock_fd) {
  if (is_confined()) return;
  prepare_program();
  if (adopts_orphans()) {
    launch_guarded(lock_fd);
  } else {
    launch_orphan(lock_fd);
  }
}

}  // namespace fathom::guest
