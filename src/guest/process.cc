// SPDX-License-Identifier: MIT
// What a process tells about itself once, and the moments at which it becomes another: fork, exec,
// exit. Forked children touch as few pages as possible here.
#include "guest/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "guest/attach.h"
#include "guest/collector.h"
#include "guest/confinement.h"
#include "guest/descriptors.h"
#include "guest/loaded.h"
#include "guest/namespaces.h"
#include "guest/pool.h"
#include "guest/quiet.h"
#include "guest/records.h"
#include "guest/scratch.h"
#include "guest/sharing.h"
#include "guest/syscalls.h"
#include "guest/text.h"
#include "guest/threads.h"
#include "guest/unseen.h"
#include "wire/exec.h"
#include "wire/rank.h"

extern "C" char** environ;

namespace fathom::guest {
namespace {

constexpr const char* kRankVariables[] = {FATHOM_RANK_VARIABLES};

void write_link(const char* key, const char* link) {
  const Scratch scratch;
  if (scratch.text() == nullptr) return;
  const long length = sys_readlink(link, scratch.text(), Scratch::kRoom);
  if (length > 0) write_meta(key, scratch.text(), static_cast<size_t>(length));
}

// argv as the kernel keeps it, joined by spaces.
void write_command(char* text, size_t length) {
  if (length > 0 && text[length - 1] == 0) length--;
  // Arguments may hold secrets: then the program's name is all.
  const char* alone = setting("FATHOM_NO_COMMAND");
  if (length > 0 && alone != nullptr && *alone != 0 && strcmp(alone, "0") != 0)
    length = strnlen(text, length);
  for (size_t i = 0; i < length; i++) {
    if (text[i] == 0) text[i] = ' ';
  }
  if (length > 0) write_meta("command", text, length);
}

// The kernel gives all of it that fits at once.
size_t read_command(int fd, char* to, size_t room) {
  const long got = raw_syscall(SYS_pread64, fd, as_long(to), static_cast<long>(room), 0);
  return got > 0 ? static_cast<size_t>(got) : 0;
}

void write_long_command(int fd) {
  constexpr size_t kRoom = FATHOM_TEXT_MAX;
  auto* text =
      static_cast<char*>(sys_mmap(kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
  if (text == nullptr) return;
  write_command(text, read_command(fd, text, kRoom));
  sys_munmap(text, kRoom);
}

// As the loader hands them to constructors; none where nobody has told.
struct Arguments {
  int count;
  const char* const* values;
};
constinit Arguments arguments = {};

// With a NUL behind each, as the kernel keeps them; 0 where they do not fit.
size_t copy_arguments(char* to, size_t room) {
  size_t length = 0;
  for (int i = 0; i < arguments.count; i++) {
    const size_t size = strlen(arguments.values[i]) + 1;
    if (size > room - length) return 0;
    memcpy(to + length, arguments.values[i], size);
    length += size;
  }
  return length;
}

void tell_command() {
  const Scratch scratch;
  // Where we come late, the program may have written over them.
  if (scratch.text() != nullptr && !guest.late) {
    const size_t length = copy_arguments(scratch.text(), Scratch::kRoom);
    if (length > 0) return write_command(scratch.text(), length);
  }
  const int fd = sys_openat(AT_FDCWD, "/proc/self/cmdline", O_RDONLY, 0);
  if (fd < 0) return;
  const size_t length =
      scratch.text() != nullptr ? read_command(fd, scratch.text(), Scratch::kRoom) : 0;
  if (length > 0 && length < Scratch::kRoom) {
    write_command(scratch.text(), length);
  } else {
    write_long_command(fd);
  }
  sys_close(fd);
}

void write_rank() {
  for (const char* name : kRankVariables) {
    const char* value = setting(name);
    if (value == nullptr || *value == 0) continue;
    write_meta("rank", value, strlen(value));
    return;
  }
}

bool is_hex(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
}

// Engines name the control group of a container by its id, each with words of its own around it
// (docker-ID.scope, libpod-ID.scope, kubepods/…/ID): the last 64 hexadecimal digits in a row.
void write_container() {
  constexpr long kDigits = 64;
  const Scratch scratch;
  if (scratch.text() == nullptr) return;
  const int fd = sys_openat(AT_FDCWD, "/proc/self/cgroup", O_RDONLY, 0);
  if (fd < 0) return;
  const long length = raw_syscall(SYS_read, fd, as_long(scratch.text()), Scratch::kRoom);
  sys_close(fd);
  for (long end = length, run = 0; end > 0; end--) {
    run = is_hex(scratch.text()[end - 1]) ? run + 1 : 0;
    const bool whole = end == 1 || !is_hex(scratch.text()[end - 2]);
    if (run == kDigits && whole) return write_meta("container", scratch.text() + end - 1, kDigits);
  }
}

void leave_for_good() {
  leave_run();
  leave_segments();
}

// The last of the handlers of exit() where we came with the program, behind all destructors.
void process_exits(int status, void*) {
  const int error = errno;
  if (recording(FATHOM_SOURCE_RUNTIME)) {
    write_process_end(status, true);
    if (!guest.late) leave_for_good();
  }
  errno = error;
}

// Where we came late, this is behind that handler: what is recorded until here belongs to the
// process, too.
__attribute__((destructor)) void hand_segments_on() {
  if (!guest.attached || !in_program()) return;
  if (guest.late) return leave_for_good();
  leave_segments();
}

}  // namespace

// A loader that was started as a program has taken its own arguments away: the kernel has them.
void note_arguments(int count, char* const* values) {
  if (getauxval(AT_BASE) != 0) arguments = {count, values};
}

void write_meta(const char* key, const char* value, size_t length) {
  const uint32_t key_id = intern_text(key, strlen(key));
  const uint32_t value_id = intern_text(value, length);
  Writer writer(FATHOM_SOURCE_RUNTIME);
  if (!writer.ok()) return;
  writer.commit(fathom_put_varint(
      fathom_put_varint(put_head(tls.cursor.at, FATHOM_KIND_META), key_id), value_id));
}

uint8_t* put_process(uint8_t* at, uint64_t parent_key, int pid, int ppid, uint32_t inherited,
                     uint64_t start, unsigned how) {
  at = put_head(at, FATHOM_KIND_PROCESS);
  memcpy(at, &parent_key, 8);
  at = fathom_put_varint(at + 8, static_cast<uint64_t>(pid));
  at = fathom_put_varint(at, static_cast<uint64_t>(ppid));
  at = fathom_put_varint(at, inherited);
  memcpy(at, &start, 8);
  return fathom_put_varint(at + 8, how);
}

void write_process(uint64_t parent_key, uint32_t inherited, unsigned how, int parent_pid) {
  const uint64_t now = tick();
  Writer writer(FATHOM_SOURCE_RUNTIME);
  if (!writer.ok()) return;
  writer.commit(put_process(tls.cursor.at, parent_key, tls.thread->outer_pid, parent_pid, inherited,
                            now, how));
}

void write_process_facts() {
  write_link("exe", "/proc/self/exe");
  tell_command();
  const Scratch scratch;
  if (scratch.text() != nullptr) {
    const long length = sys_getcwd(scratch.text(), Scratch::kRoom);
    if (length > 1) {
      guest.cwd = intern_path(0, scratch.text(), static_cast<size_t>(length - 1));
      write_meta("cwd", scratch.text(), static_cast<size_t>(length - 1));
    }
  }
  write_rank();
  write_container();
  // Told now: such a program ends without exit(), and never tells what the kernel counted.
  if (is_go_program())
    write_meta(FATHOM_META_UNSEEN "Go", FATHOM_META_UNSEEN_LOADED,
               strlen(FATHOM_META_UNSEEN_LOADED));
}

void write_namespace() {
  const Thread& own = *tls.thread;
  // Without /proc nobody tells the namespace; where both numbers are equal it is the recorder's.
  if (own.space == FATHOM_SPACE_UNKNOWN && own.outer_pid == own.pid) return;
  char digits[24];
  Text(digits, sizeof digits).add_number(static_cast<uint64_t>(own.pid));
  write_meta(FATHOM_META_NSPID, digits, strlen(digits));
  const uint64_t inode = own_pid_namespace();  // a confined process cannot ask
  Text(digits, sizeof digits).add_number(inode != 0 ? inode : own.space);
  write_meta(FATHOM_META_NAMESPACE, digits, strlen(digits));
}

void watch_exit() { on_exit(process_exits, nullptr); }

void prepare_fork() {
  all_shared();
  learn_newest_pool();
}

// The child has this thread and a copy of everything; what other threads were doing they do in the
// parent. It writes into segments of its own, in the pools that it shares with the parent. Every
// page that is touched here costs each fork a fault: what need not be written is not.
void attach_child() {
  // Written first: a wiped page that is only read now is faulted in twice.
  __atomic_fetch_add(&guest.live->alive, 0, __ATOMIC_RELAXED);
  const Quiet quiet;
  // A handler may have been here before. Its pid tells where the kernel wipes nothing (emulators).
  if (guest.live->alive != 0 && is_confined()) return;
  const int pid = pid_of_child();
  if (guest.live->alive != 0 && guest.pid == pid) return;
  if (pid == 0) return silence();
  const int parent_pid = is_confined() ? guest.pid : sys_getppid();
  const uint64_t parent = tls.thread != nullptr ? tls.thread->key : guest.process_key;
  const uint32_t inherited = __atomic_load_n(&guest.next_id, __ATOMIC_RELAXED);
  forget_sharers();
  forget_other_threads();
  forget_makers();
  forget_changes();
  forget_starts();
  Scratch::forget_all();
  if (guest.wanted[FATHOM_SOURCE_CUDA] != 0) forget_device_work();
  all_shared();
  guest.space = space_of_child(parent_pid);
  guest.pid = pid;
  guest.outer_pid = 0;
  guest.forked = tick();
  guest.process_key = (guest.forked << 22) | static_cast<uint64_t>(pid);
  guest.next_thread = 0;
  guest.first_id = inherited;
  inherit_thread();
  if (tls.thread == nullptr) first_record_of_thread();
  write_process(parent, inherited, FATHOM_ATTACH_FORK, parent_pid);
  if (FATHOM_UNLIKELY(guest.space != 0)) write_namespace();
  switch_on();
}

// Nothing is on here: before attach, after a failed one, in a child that was made behind our back,
// or while hooks ask who calls them.
bool wake_up(fathom_source source) {
  if (guest.live->alive == kWatched) return in_program_watched() && guest.wanted[source] != 0;
  if (tls.outside > tls.vforks) return false;
  if (guest.silenced && guest.wanted[source] != 0) count_loss(source, FATHOM_LOSS_CONFINED);
  if (guest.live->alive != 0) return false;
  if (guest.attached) {
    attach_child();
  } else {
    arrive();
    if (source == FATHOM_SOURCE_CUDA) cuda_is_used();
  }
  return guest.live->on[source] != 0;
}

namespace {

// The program that comes may not be let to the spool.
unsigned obstacle_of_user() {
  const bool other = guest.run != nullptr && !is_confined() &&
                     guest.run->uid != static_cast<uint32_t>(raw_syscall(SYS_geteuid));
  return other ? FATHOM_EXEC_ANOTHER_USER : 0;
}

}  // namespace

void write_exec(int child, uint32_t file, unsigned flags, uint64_t begin) {
  flags |= obstacle_of_user();
  Writer writer(FATHOM_SOURCE_RUNTIME);
  if (!writer.ok()) return;
  uint8_t* at = put_timed_head(FATHOM_KIND_EXEC, tls.last_depth, begin);
  at = fathom_put_varint(at, static_cast<uint64_t>(child));
  writer.commit(fathom_put_varint(fathom_put_varint(at, file), flags));
}

void write_exec_failed() { write_timed(FATHOM_KIND_EXEC_FAILED); }

void write_waited(int pid, int status) {
  sharer_ended(pid);
  Writer writer(FATHOM_SOURCE_RUNTIME);
  if (!writer.ok()) return;
  uint8_t* at = put_timed_head(FATHOM_KIND_WAITED, tls.last_depth, tick());
  at = fathom_put_varint(at, static_cast<uint64_t>(pid));
  writer.commit(fathom_put_varint(at, static_cast<uint32_t>(status)));
}

static bool write_end(int status, bool known) {
  Writer writer(FATHOM_SOURCE_RUNTIME);
  if (!writer.ok()) return false;
  uint8_t* at = put_timed_head(FATHOM_KIND_PROCESS_END, tls.last_depth, tick());
  at = fathom_put_varint(at, fathom_zigzag(status & 0xff));
  writer.commit(fathom_put_varint(at, known ? 1 : 0));
  return true;
}

void write_process_end(int status, bool known) {
  tell_unseen_at_end();
  const bool written = write_end(status, known);
  note_clock();  // behind the last record, so that every reader tells the same time of it
  if (written && tls.vforks == 0) leave_drop_ins();
}

}  // namespace fathom::guest
