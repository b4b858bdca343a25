// SPDX-License-Identifier: MIT
#include "guest/collector.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <initializer_list>

#include "guest/attach.h"
#include "guest/quiet.h"
#include "guest/runtime.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "guest/text.h"

extern "C" char** environ;

namespace fathom::guest {
namespace {

constexpr long kMilli = 1000000;  // ns

void nap(long nanoseconds) {
  const timespec time{0, nanoseconds};
  raw_syscall(SYS_nanosleep, as_long(&time), 0);
}

bool lock(int fd, int how) { return raw_syscall(SYS_flock, fd, how | LOCK_NB) == 0; }

// Whether the directory is still what its path leads to.
bool is_at(int fd, const char* path) {
  struct stat here {};
  struct stat there {};
  if (raw_syscall(SYS_newfstatat, fd, as_long(""), as_long(&here), AT_EMPTY_PATH) != 0)
    return false;
  if (raw_syscall(SYS_newfstatat, AT_FDCWD, as_long(path), as_long(&there), 0) != 0) return false;
  return here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

const char* in_spool(char* room, const char* name, uint64_t number = 0) {
  Text path(room, Scratch::kRoom);
  path.add(guest.out).add(name);
  if (number != 0) path.add_number(number);
  return room;
}

// An orphan becomes a child of the nearest subreaper, or of PID 1: if that is the program, its
// wait() would meet a child that it did not make.
bool adopts_orphans() {
  int subreaper = 0;
  raw_syscall(SYS_prctl, PR_GET_CHILD_SUBREAPER, as_long(&subreaper));
  return subreaper != 0 || sys_getpid() == 1;
}

// --- the new process
// ----------------------------------------------------------------------------------------------

constexpr size_t kMostVariables = 1000;

struct Program {
  char path[4352];
  char directory[4096];
  const char* arguments[8];
  const char* environment[kMostVariables + 1];
};
constinit Program program = {};

bool is_handed_on(const char* variable) {
  for (const char* prefix : {"LD_PRELOAD=", "LD_AUDIT=", "FATHOM_", "DFTRACER_", "PFLOG="}) {
    if (strncmp(variable, prefix, strlen(prefix)) == 0) return false;
  }
  return true;
}

// The program lies beside the library, as it was built and as it is installed, or in `bin` beside
// its folder.
bool find_program() {
  const char* slash = nullptr;
  for (const char* at = guest.library; *at != 0; at++) {
    if (*at == '/') slash = at;
  }
  if (slash == nullptr) return false;
  for (const char* place : {"/fathom", "/../bin/fathom"}) {
    Text(program.path, sizeof program.path)
        .add(guest.library, static_cast<size_t>(slash - guest.library))
        .add(place);
    if (raw_syscall(SYS_faccessat, AT_FDCWD, as_long(program.path), 1 /* X_OK */) == 0) return true;
  }
  return false;
}

void prepare_program() {
  const size_t length = strlen(guest.out);
  constexpr size_t kSpool = sizeof "/spool" - 1;
  Text(program.directory, sizeof program.directory).add(guest.out, length - kSpool);
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

// In the grandchild: nothing of the program's stays open, but the lock, which is descriptor 3.
[[noreturn]] void become_collector(int lock_fd) {
  raw_syscall(SYS_setsid);
  const int nothing = sys_openat(AT_FDCWD, "/dev/null", O_RDWR, 0);
  if (lock_fd != 3) raw_syscall(SYS_dup3, lock_fd, 3, 0);
  raw_syscall(SYS_fcntl, 3, F_SETFD, 0);
  for (int fd = 0; fd < 3; fd++) raw_syscall(SYS_dup3, nothing, fd, 0);
  if (raw_syscall(SYS_close_range, 4, ~0U, 0) != 0) {  // before Linux 5.9
    for (int fd = 4; fd < 4096; fd++) sys_close(fd);
  }
  raw_syscall(SYS_chdir, as_long("/"));
  const uint64_t none = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&none), 0, 8);
  raw_syscall(SYS_execve, as_long(program.path), as_long(program.arguments),
              as_long(program.environment));
  for (;;) raw_syscall(SYS_exit_group, 127);
}

// Two clones without an exit signal: the child ends at once and is waited for here, the grandchild
// belongs to nobody here. The program's own wait() sees neither.
void launch(int lock_fd) {
  const long child = raw_syscall(SYS_clone, 0);
  if (child == 0) {
    if (raw_syscall(SYS_clone, 0) == 0) become_collector(lock_fd);
    for (;;) raw_syscall(SYS_exit_group, 0);
  }
  if (child > 0) raw_syscall(SYS_wait4, child, 0, __WCLONE, 0);
}

// Above what become_collector() puts elsewhere.
int high_descriptor(int fd) {
  const long high = raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 10);
  sys_close(fd);
  return static_cast<int>(high);
}

int open_lock(const char* path) { return sys_openat(AT_FDCWD, path, O_CREAT | O_RDWR, 0600); }

void add_host(Text& to) {
  char host[65] = {};
  const int fd = sys_openat(AT_FDCWD, "/proc/sys/kernel/hostname", O_RDONLY, 0);
  const long length = fd >= 0 ? sys_read(fd, host, sizeof host - 1) : 0;
  if (fd >= 0) sys_close(fd);
  for (long i = 0; i < length; i++) {
    if (host[i] == '\n' || host[i] == '/') host[i] = 0;
  }
  to.add(host);
}

}  // namespace

Gate::Gate(const char* spool) {
  constexpr int kPatience = 500;
  for (int tries = 0; tries < kPatience; tries++) {
    const int fd = sys_openat(AT_FDCWD, spool, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) return;
    if (lock(fd, LOCK_SH) && is_at(fd, spool)) {
      fd_ = fd;
      return;
    }
    sys_close(fd);
    nap(2 * kMilli);
  }
}

Gate::~Gate() {
  if (fd_ >= 0) sys_close(fd_);
}

void name_hidden_run(Text& to, const char* folder, size_t length, const char* name) {
  to.add(folder, length).add(".").add(name).add("-");
  add_host(to);
  to.add("-").add_number(static_cast<uint64_t>(raw_syscall(SYS_geteuid))).add(".fathom");
}

// The directory is made before the gate can be: attach finds it there.
bool attach_to_hidden(const char* directory, unsigned how, void (*joined)(const void*),
                      const void* with) {
  for (int tries = 0; tries < 3; tries++) {
    const Scratch spool;
    if (spool.text() == nullptr || !make_spool_of(directory)) return false;
    Text(spool.text(), Scratch::kRoom).add(directory).add("/spool");
    const Gate gate(spool.text());
    if (!gate.open()) continue;  // taken away under our hands
    if (!attach_to(directory, how)) return false;
    joined(with);
    return true;
  }
  return false;
}

void add_namespace(Text& lines) {
  char link[64] = {};
  if (sys_readlink("/proc/self/ns/pid", link, sizeof link - 1) > 0)
    lines.add("pidns=").add(link).add("\n");
}

bool supervised() { return guest.run != nullptr && guest.run->supervised != 0; }

void start_collector() {
  const Quiet quiet;
  const Scratch scratch;
  if (scratch.text() == nullptr) return;
  if (raw_syscall(SYS_faccessat, AT_FDCWD, as_long(in_spool(scratch.text(), kNobody)), 0) == 0)
    return;
  if (adopts_orphans() || !find_program()) {
    const int mark = open_lock(scratch.text());
    if (mark >= 0) sys_close(mark);
    return;
  }
  prepare_program();
  const int opened = open_lock(in_spool(scratch.text(), kCollectorLock));
  if (opened < 0) return;
  const int fd = high_descriptor(opened);
  if (fd < 0) return;
  if (lock(fd, LOCK_EX)) launch(fd);
  sys_close(fd);  // the collector has it, too
}

void wait_for_file() {
  constexpr int kLongest = 10000 / 2;
  constexpr int kLook = 25;  // how often whether somebody works on it is asked
  const Scratch wanted, held;
  if (wanted.text() == nullptr || held.text() == nullptr) return;
  in_spool(wanted.text(), kWanted, static_cast<uint64_t>(guest.pid));
  in_spool(held.text(), kCollectorLock);
  const int mark = open_lock(wanted.text());
  if (mark < 0) return;
  sys_close(mark);
  for (int naps = 0; naps < kLongest; naps++) {
    if (raw_syscall(SYS_faccessat, AT_FDCWD, as_long(wanted.text()), 0) != 0) return;
    if (naps % kLook == 0) {
      const int fd = sys_openat(AT_FDCWD, held.text(), O_RDWR, 0);
      const bool nobody = fd < 0 || lock(fd, LOCK_SH);
      if (fd >= 0) sys_close(fd);
      if (nobody) break;
    }
    nap(2 * kMilli);
  }
  raw_syscall(SYS_unlinkat, AT_FDCWD, as_long(wanted.text()), 0);
}

}  // namespace fathom::guest
