// SPDX-License-Identifier: MIT
// Starts at most one collector for a run and waits for its files. A lock that the collector
// inherits is the proof that it lives: pids would be reused.
#include "guest/collector.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "guest/attach.h"
#include "guest/elf_object.h"
#include "guest/launch.h"
#include "guest/private_place.h"
#include "guest/quiet.h"
#include "guest/runtime.h"
#include "guest/say.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "guest/text.h"
#include "wire/drop_in.h"

namespace fathom::guest {
namespace {

constexpr long kMilli = 1000000;  // ns

void nap(long nanoseconds) {
  const timespec time{0, nanoseconds};
  raw_syscall(SYS_nanosleep, as_long(&time), 0);
}

constexpr int kPatience = 500;       // naps of 2 ms
constexpr int kLongest = 10000 / 2;  // of them: for a file

// What this process wished for, and with which kind of run.
struct Promised {
  bool files;
  bool hidden;
};
constinit Promised promised = {};

bool lock(int fd, int how) { return raw_syscall(SYS_flock, fd, how | LOCK_NB) == 0; }

// Whether the directory is still what its path leads to.
bool is_at(int fd, const char* path) {
  struct stat here {};
  struct stat there {};
  return look_at(fd, "", here) && look_at(path, there) && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

// A spool of this user, which nobody else can have put anything into.
bool is_closed_to_others(int fd) {
  struct stat facts {};
  return look_at(fd, "", facts) && facts.st_uid == raw_syscall(SYS_geteuid) &&
         (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool own_spool() {
  const int fd = sys_openat(AT_FDCWD, guest.out, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
  if (fd < 0) return false;
  const bool own = is_closed_to_others(fd);
  sys_close(fd);
  return own;
}

const char* in_spool(char* room, const char* name, uint64_t number = 0) {
  Text path(room, Scratch::kRoom);
  path.add(guest.out).add(name);
  if (number != 0) path.add_number(number);
  return room;
}

// Above what become_collector() puts elsewhere.
int high_descriptor(int fd) {
  const long high = raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 10);
  sys_close(fd);
  return static_cast<int>(high);
}

int open_lock(const char* path) {
  return sys_openat(AT_FDCWD, path, O_CREAT | O_RDWR | O_NOFOLLOW, 0600);
}

void add_hash(Text& to, const char* text, size_t length) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ static_cast<uint8_t>(text[i])) * UINT64_C(0x100000001b3);
  to.add_hex(hash);
}

// Under the name of another tool's library, whose user expects its files. Who has linked ours gets
// no word on stderr.
bool stands_for_another() {
  constexpr char kOwn[] = "libfathom";
  return strncmp(base_name_of(guest.library), kOwn, sizeof kOwn - 1) != 0;
}

void say_where_it_waits() {
  if (!stands_for_another()) return;
  const Scratch words;
  if (words.text() == nullptr) return;
  Text text(words.text(), Scratch::kRoom);
  text.add(
      "fathom: no program fathom to trust beside the library or on PATH; run `fathom collect ");
  text.add(guest.out, length_of_recording()).add("` to write the files\n");
  say_once(kSaid, words.text());
}

// With every directory above it.
void make_folder(char* path) {
  for (char* slash = path + 1; *slash != 0; slash++) {
    if (*slash != '/') continue;
    *slash = 0;
    raw_syscall(SYS_mkdirat, AT_FDCWD, as_long(path), 0777);
    *slash = '/';
  }
  raw_syscall(SYS_mkdirat, AT_FDCWD, as_long(path), 0777);
}

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
  for (int tries = 0; tries < kPatience; tries++) {
    const int fd = sys_openat(AT_FDCWD, spool, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0) return;
    if (is_closed_to_others(fd) && lock(fd, LOCK_SH) && is_at(fd, spool)) {
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

// A name that others could have taken is none: where they can write beside the log, the run lies in
// this user's own place.
bool choose_hidden_run(char* place, size_t room, const char* folder, size_t length,
                       const char* name) {
  const Scratch wanted, plain;
  if (wanted.text() == nullptr || plain.text() == nullptr) return false;
  if (!find_private_place(plain.text(), Scratch::kRoom)) return false;  // nobody could be told
  Text(wanted.text(), Scratch::kRoom).add(folder, length);
  make_folder(wanted.text());
  Text to(place, room);
  if (is_ours_alone(wanted.text(), plain.text(), Scratch::kRoom)) {
    to.add(plain.text()).add("/.").add(name);
  } else if (find_private_place(plain.text(), Scratch::kRoom)) {
    to.add(plain.text()).add("/");
    add_hash(to, folder, length);
    to.add("-").add(name);
  } else {
    return false;
  }
  to.add("-");
  add_host(to);
  to.add("-").add_number(static_cast<uint64_t>(raw_syscall(SYS_geteuid))).add(".fathom");
  return to.length() + 1 < room;
}

// The directory is made before the gate can be: attach finds it there.
bool attach_to_hidden(const char* directory, unsigned how, void (*joined)(const void*),
                      const void* with) {
  for (int tries = 0; tries < 3; tries++) {
    const Scratch spool;
    if (spool.text() == nullptr || !make_own_directory(directory)) return false;
    if (!make_spool_of(directory)) return false;
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

bool wish_for(const char* drop_in, const char* log, bool hidden) {
  promised.hidden = hidden;
  promised.files =
      own_spool() && (!hidden || note_wish(FATHOM_WISH_HIDDEN, "")) && note_wish(drop_in, log);
  return promised.files;
}

void start_collector() {
  const Quiet quiet;
  const Scratch scratch;
  if (scratch.text() == nullptr || !own_spool()) return;
  if (raw_syscall(SYS_faccessat, AT_FDCWD, as_long(in_spool(scratch.text(), kNobody)), 0) == 0)
    return;
  if (!find_program()) {
    const int mark = open_lock(scratch.text());
    if (mark >= 0) sys_close(mark);
    return say_where_it_waits();
  }
  const int opened = open_lock(in_spool(scratch.text(), kCollectorLock));
  if (opened < 0) return;
  const int fd = high_descriptor(opened);
  if (fd < 0) return;
  if (lock(fd, LOCK_EX)) launch_program(fd);
  sys_close(fd);  // the collector has it, too
}

namespace {

// Until the collector has taken the entry away.
void wait_behind(const char* entry) {
  constexpr int kLook = 25;  // how often whether somebody works on it is asked
  const Scratch wanted, held;
  if (wanted.text() == nullptr || held.text() == nullptr) return;
  in_spool(wanted.text(), entry, static_cast<uint64_t>(guest.pid));
  in_spool(held.text(), kCollectorLock);
  const int mark = open_lock(wanted.text());
  if (mark < 0) return;
  sys_close(mark);
  for (int naps = 0; naps < kLongest; naps++) {
    if (raw_syscall(SYS_faccessat, AT_FDCWD, as_long(wanted.text()), 0) != 0) return;
    if (naps % kLook == 0) {
      const int fd = sys_openat(AT_FDCWD, held.text(), O_RDWR | O_NOFOLLOW, 0);
      const bool nobody = fd < 0 || lock(fd, LOCK_SH);
      if (fd >= 0) sys_close(fd);
      if (nobody) break;
    }
    nap(2 * kMilli);
  }
  raw_syscall(SYS_unlinkat, AT_FDCWD, as_long(wanted.text()), 0);
}

// A run that goes has another name first. Whoever waits for us is to find neither.
void wait_until_removed(int run, const char* place) {
  for (int naps = 0; naps < kLongest && !is_at(run, place); naps++) {
    struct stat facts {};
    if (!look_at(run, "", facts) || facts.st_nlink == 0) return;
    nap(kMilli / 2);
  }
}

void wait_for_all_files(bool hidden) {
  const Scratch scratch;
  if (scratch.text() == nullptr) return;
  const int mark = open_lock(in_spool(scratch.text(), kLast));
  if (mark < 0) return;
  sys_close(mark);
  const int held =
      sys_openat(AT_FDCWD, in_spool(scratch.text(), kCollectorLock), O_RDWR | O_NOFOLLOW, 0);
  wait_behind(kWanted);
  for (int naps = 0; hidden && held >= 0 && naps < kLongest && !lock(held, LOCK_SH); naps++)
    nap(2 * kMilli);
  if (held >= 0) sys_close(held);
}

}  // namespace

void wait_for_file() { wait_behind(kWanted); }

void leave_run() {
  if (!promised.files) return;
  promised.files = false;
  if (guest.pid == 1) return wait_for_all_files(promised.hidden);
  const Scratch place;
  if (place.text() == nullptr) return;
  Text(place.text(), Scratch::kRoom).add(guest.out, length_of_recording());
  const int run = sys_openat(AT_FDCWD, place.text(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
  wait_behind(kLeaves);
  if (run < 0) return;
  wait_until_removed(run, place.text());
  sys_close(run);
}

}  // namespace fathom::guest
