// SPDX-License-Identifier: MIT
// How the library comes into a process: settings, the run's header, the first pool, the process's
// own facts.
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "guest/attach.h"
#include "guest/binding.h"
#include "guest/broker.h"
#include "guest/call.h"
#include "guest/confinement.h"
#include "guest/descriptors.h"
#include "guest/intern.h"
#include "guest/loaded.h"
#include "guest/namespaces.h"
#include "guest/own_files.h"
#include "guest/pool.h"
#include "guest/pool_file.h"
#include "guest/private_place.h"
#include "guest/process.h"
#include "guest/region_counts.h"
#include "guest/relative_out.h"
#include "guest/schema.h"
#include "guest/scratch.h"
#include "guest/sizes.h"
#include "guest/source_rows.h"
#include "guest/syscalls.h"
#include "guest/text.h"
#include "guest/threads.h"
#include "guest/uncovered.h"
#include "wire/exec.h"

extern "C" char** environ;

namespace fathom::guest {
namespace {

// The counter is a clock only if it never stops and the kernel trusts it too.
uint32_t best_tick_source() {
  if (clocks_are_restricted) return FATHOM_TICK_MONOTONIC_NS;
#if defined(__x86_64__)
  char name[16] = {};
  const int fd = sys_openat(
      AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY, 0);
  if (fd < 0) return FATHOM_TICK_MONOTONIC_NS;
  const long length = sys_read(fd, name, sizeof name - 1);
  sys_close(fd);
  return length >= 4 && memcmp(name, "tsc\n", 4) == 0 ? FATHOM_TICK_COUNTER
                                                      : FATHOM_TICK_MONOTONIC_NS;
#else
  return FATHOM_TICK_COUNTER;
#endif
}

void read_line(const char* path, char* to, size_t room) {
  const int fd = sys_openat(AT_FDCWD, path, O_RDONLY, 0);
  if (fd < 0) return;
  const long length = sys_read(fd, to, room - 1);
  sys_close(fd);
  for (long i = 0; i < length; i++) {
    if (to[i] == '\n') to[i] = 0;
  }
}

// What FATHOM_SPOOL_MAX said, where it is no size: the recording tells.
constinit const char* refused_budget = nullptr;

uint64_t budget_from_environment() {
  constexpr uint64_t kUsual = UINT64_C(4) << 30;
  const char* text = setting(FATHOM_SPOOL_MAX_VARIABLE);
  if (text == nullptr) return kUsual;
  const Size size = parse_size(text);
  if (!size.known) refused_budget = text;
  return size.known ? size.bytes : kUsual;
}

void tell_refused() {
  if (refused_budget == nullptr) return;
  write_meta(FATHOM_META_REFUSED FATHOM_SPOOL_MAX_VARIABLE, refused_budget, strlen(refused_budget));
}

void fill_run_header(fathom_run_header& header) {
  header.magic = FATHOM_RUN_MAGIC;
  header.version = FATHOM_WIRE_VERSION;
  header.tick_source = best_tick_source();
  raw_syscall(SYS_getrandom, as_long(header.run_id), sizeof header.run_id, 0);
  header.start_tick =
      header.tick_source == FATHOM_TICK_COUNTER ? read_counter() : clock_ns(CLOCK_MONOTONIC);
  header.start_monotonic_ns = clock_ns(CLOCK_MONOTONIC);
  header.start_realtime_ns = clock_ns(CLOCK_REALTIME);
  header.spool_max = budget_from_environment();
  header.creator_pid = static_cast<uint32_t>(sys_getpid());
  header.pid_namespace = own_pid_namespace();
  header.uid = static_cast<uint32_t>(raw_syscall(SYS_geteuid));
  read_line("/proc/sys/kernel/random/boot_id", header.boot_id, sizeof header.boot_id);
  read_line("/proc/sys/kernel/hostname", header.host, sizeof header.host);
}

// What this process wrote for us, which is not the program's.
struct Published {
  int pid;
  uint64_t bytes;
};
constinit Published published = {};

// A file that appears whole or not at all, and never replaces another: several processes may try at
// once.
void publish(const char* path, const void* content, size_t size) {
  if (!allowed_size(size)) return;
  const Scratch room;
  if (room.text() == nullptr) return;
  const char* temporary = room.text();
  Text(room.text(), Scratch::kRoom)
      .add(path)
      .add(".")
      .add_number(static_cast<uint64_t>(sys_getpid()));
  const int fd = create_own_file(temporary, O_WRONLY);
  if (fd < 0) return;
  const bool whole = sys_write(fd, content, size) == static_cast<long>(size);
  sys_close(fd);
  const int pid = sys_getpid();
  published = {pid, (published.pid == pid ? published.bytes : 0) + size};  // not a parent's
  if (whole) raw_syscall(SYS_linkat, AT_FDCWD, as_long(temporary), AT_FDCWD, as_long(path), 0);
  raw_syscall(SYS_unlinkat, AT_FDCWD, as_long(temporary), 0);
}

// Directories above the recording are made as mkdir -p makes them; the recording and its spool are
// their owner's alone.
void make_directories() {
  const Scratch room;
  char* const path = room.text();
  if (path == nullptr) return;
  Text(path, Scratch::kRoom).add(guest.out);
  const char* const recording_end = path + strlen(path) - strlen("/spool");
  for (char* slash = path + 1; *slash != 0; slash++) {
    if (*slash != '/') continue;
    *slash = 0;
    constexpr int kUsable = 3;  // W_OK | X_OK
    const bool made = slash == recording_end
                          ? make_own_directory(path)
                          : raw_syscall(SYS_mkdirat, AT_FDCWD, as_long(path), 0777) == 0;
    if (made && raw_syscall(SYS_faccessat, AT_FDCWD, as_long(path), kUsable) != 0)
      raw_syscall(SYS_fchmodat, AT_FDCWD, as_long(path), 0700);
    *slash = '/';
  }
  make_own_directory(path);
}

// Another user's spool is his to read, and to cut under our feet; one behind a link is somebody's
// choice. What lies in a directory of ours that nobody else can write to is ours, or root's.
bool is_own_spool() {
  struct stat facts;
  return look_at(guest.out, facts) && S_ISDIR(facts.st_mode) &&
         (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
         facts.st_uid == static_cast<uid_t>(raw_syscall(SYS_geteuid));
}

int open_run_header(const char* path) {
  int fd = sys_openat(AT_FDCWD, path, O_RDWR, 0);
  if (is_out_of_reach(fd)) {
    const int given = brokered_run_header();
    guest.brokered = given >= 0;
    if (given >= 0) return given;
  }
  if (fd != -ENOENT) return fd;
  make_directories();
  if (!is_own_spool()) return -EPERM;
  alignas(kLarge) static constinit uint8_t page[FATHOM_RUN_HEADER_SIZE];
  fill_run_header(*reinterpret_cast<fathom_run_header*>(page));
  publish(path, page, sizeof page);
  return sys_openat(AT_FDCWD, path, O_RDWR, 0);
}

bool map_run_header() {
  const Scratch path;
  if (path.text() == nullptr) return false;
  Text(path.text(), Scratch::kRoom).add(guest.out).add("/" FATHOM_RUN_FILE);
  const int fd = open_run_header(path.text());
  if (fd < 0) return false;
  if (!guest.brokered && !is_own_spool()) {
    sys_close(fd);
    return false;
  }
  // One that another user gave us is his to write to: we get a copy.
  const int sharing = guest.brokered ? MAP_PRIVATE : MAP_SHARED;
  void* at = sys_mmap(FATHOM_RUN_HEADER_SIZE, PROT_READ | PROT_WRITE, sharing, fd);
  const bool whole = raw_syscall(SYS_lseek, fd, 0, 2 /* SEEK_END */) >= FATHOM_RUN_HEADER_SIZE;
  sys_close(fd);
  if (at == nullptr || !whole) return false;
  guest.run = static_cast<fathom_run_header*>(at);
  guest.shared =
      reinterpret_cast<fathom_run_shared*>(static_cast<uint8_t*>(at) + FATHOM_RUN_SHARED_OFFSET);
  guest.tick_source = guest.run->tick_source;
  // A run that an older one of us began is joined: it only lacks what it does not know.
  return guest.run->magic == FATHOM_RUN_MAGIC && guest.run->version - 1 < FATHOM_WIRE_VERSION;
}

void publish_schema() {
  const Scratch path;
  if (path.text() == nullptr) return;
  Text text(path.text(), Scratch::kRoom);
  text.add(guest.out).add("/" FATHOM_SCHEMA_PREFIX);
  char digits[17];
  Text(digits, sizeof digits).add_hex(schema_hash());
  for (size_t i = strlen(digits); i < 16; i++) text.add("0");
  text.add(digits);
  if (raw_syscall(SYS_faccessat, AT_FDCWD, as_long(path.text()), 0) != 0)
    publish(path.text(), schema_text(), schema_length());
}

bool in_list(const char* list, const char* name) {
  const size_t length = strlen(name);
  for (const char* at = list; *at != 0;) {
    const char* end = strchrnul(at, ',');
    if (static_cast<size_t>(end - at) == length && memcmp(at, name, length) == 0) return true;
    at = *end != 0 ? end + 1 : end;
  }
  return false;
}

void choose_layers() {
  const char* layers = setting("FATHOM_LAYERS");
  const bool said = layers != nullptr && *layers != 0;
  guest.wanted[FATHOM_SOURCE_RUNTIME] = 1;
  for (const SourceRow& row : kSourceRows) {
    guest.wanted[row.source] =
        said ? in_list(layers, row.layer) : (row.flags & FATHOM_LAYER_USUAL) != 0;
  }
  if (!said && is_alnair_library()) guest.wanted[FATHOM_SOURCE_CUDA] = 1;
  // What the device does, say, is told by the calls that ask for it.
  for (const SourceRow& row : kSourceRows) {
    if (guest.wanted[row.source] != 0) guest.wanted[row.needs] = 1;
  }
}

// The page that a fork empties. Where the kernel cannot (before 4.14), forks are seen by the hooks
// alone.
bool map_live() {
  const size_t size = page_size();
  void* page = sys_mmap(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (page == nullptr) return false;
  raw_syscall(SYS_madvise, as_long(page), static_cast<long>(size), MADV_WIPEONFORK);
  guest.live = static_cast<Live*>(page);
  // Written first: a fresh page that is only read now is faulted in twice.
  __atomic_store_n(&guest.live->alive, 0, __ATOMIC_RELAXED);
  return true;
}

bool set_directory(const char* directory) {
  static constinit char short_room[kShortSpool];
  if (*directory == '/') {
    guest.out = strlen(directory) + sizeof "/spool" <= kShortSpool ? short_room : spool_room;
    Text(guest.out, guest.out == short_room ? kShortSpool : kSpoolRoom)
        .add(directory)
        .add("/spool");
    return true;
  }
  guest.out = spool_room;
  if (sys_getcwd(guest.out, kSpoolRoom) <= 0) return false;
  static constinit char absolute[kSpoolRoom];
  Text(absolute, sizeof absolute).add(guest.out).add("/").add(directory).add("/spool");
  Text(guest.out, kSpoolRoom).add(absolute);
  Text(absolute, sizeof absolute).add(directory);
  relative_out = absolute;
  return true;
}

}  // namespace

// Whether the program has more rights than its caller: set-user-id, set-group-id, capabilities of
// its file. What its caller wishes for is nothing to it then.
bool is_trusted_program() { return getauxval(AT_SECURE) != 0; }

const char* setting(const char* name) {
  if (is_trusted_program()) return nullptr;
  const size_t length = strlen(name);
  for (char** variable = environ; variable != nullptr && *variable != nullptr; variable++) {
    if (**variable == *name && strncmp(*variable, name, length) == 0 && (*variable)[length] == '=')
      return *variable + length + 1;
  }
  return nullptr;
}

void switch_on() {
  guest.live->alive = 1;
  for (int source = 0; source < FATHOM_SOURCES; source++)
    guest.live->on[source] = guest.wanted[source];
}

bool make_spool_of(const char* directory) {
  if (is_trusted_program() || !set_directory(directory)) return false;
  make_directories();
  return raw_syscall(SYS_faccessat, AT_FDCWD, as_long(guest.out), 0) == 0;
}

bool attach_to(const char* directory, unsigned how) {
  if (guest.attached || is_trusted_program() || !set_directory(directory)) return false;
  look_for_counter();
  if (!map_run_header() || !choose_clock()) return false;
  guest.pid = sys_getpid();
  guest.space = own_space();
  guest.process_key = (tick() << 22) | static_cast<uint64_t>(guest.pid);
  choose_layers();
  if (const char* calls = setting("FATHOM_CALLS")) choose_calls(calls);
  if (const char* events = setting(FATHOM_REGION_EVENTS_VARIABLE)) choose_region_events(events);
  if (!guest.brokered) publish_schema();
  Live* before = guest.live;
  if (!prepare_names() || !prepare_descriptors() || !map_live()) return false;
  prepare_threads();
  first_record_of_thread();
  if (tls.thread == nullptr || !make_first_pool()) {
    __atomic_fetch_add(&guest.run->refused, 1, __ATOMIC_RELAXED);
    guest.live = before;
    return false;
  }
  guest.attached = true;
  write_process(0, 0, how, sys_getppid());
  if (guest.space != 0) write_namespace();
  write_process_facts();
  tell_refused();
  switch_on();
  return true;
}

bool attach(unsigned how) {
  const char* out = setting("FATHOM_OUT");
  guest.confined = starts_confined();
  if (guest.confined) return false;
  if (address_limit() < FATHOM_LEAST_ADDRESSES) {
    const bool told = out != nullptr && *out != 0 && set_directory(out) && is_own_spool();
    if (told && !is_trusted_program()) note_uncovered(FATHOM_EXEC_FEW_ADDRESSES);
    return false;
  }
  if (out != nullptr && *out != 0) return attach_to(out, how);
  for (const DropIn* one = kAllDropIns; one->attach != nullptr; one++) {
    if (one->attach(how)) return true;
  }
  return false;
}

void leave_drop_ins() {
  for (const DropIn* one = kAllDropIns; one->attach != nullptr; one++) {
    if (one->leave != nullptr) one->leave();
  }
}

// Memory that libc or an interpreter takes for these steps is not the program's.
void attached_now() {
  const uint8_t uncounted = guest.wanted[FATHOM_SOURCE_HEAP];
  tls.outside = static_cast<uint8_t>(tls.outside + uncounted);
  watch_exit();
  if (guest.late) bind_new_objects();
  for (size_t i = 0; i < kAllArrivalsCount; i++) {
    if (kAllArrivals[i] != nullptr) kAllArrivals[i]();
  }
  tls.outside = static_cast<uint8_t>(tls.outside - uncounted);
}

uint64_t published_bytes() { return published.pid == guest.pid ? published.bytes : 0; }

bool remake_spool() {
  if (!make_own_directory(guest.out)) return false;
  if (guest.run != nullptr) {
    const Scratch path;
    if (path.text() == nullptr) return false;
    Text(path.text(), Scratch::kRoom).add(guest.out).add("/" FATHOM_RUN_FILE);
    // The mapping outlives its file, and goes on counting what we write; the new file counts what
    // those who map it write.
    alignas(kLarge) static constinit uint8_t page[FATHOM_RUN_HEADER_SIZE];
    memcpy(page, guest.run, sizeof page);
    reinterpret_cast<fathom_run_header*>(page)->refused = 0;
    auto* const shared = reinterpret_cast<fathom_run_shared*>(page + FATHOM_RUN_SHARED_OFFSET);
    *shared = {.losses = {},
               .pools_made = shared->pools_made,
               .newest_pool = 0,
               .runs = 0,
               .more_losses = {}};
    publish(path.text(), page, sizeof page);
  }
  publish_schema();
  return true;
}

// Once, at our constructor or, when another library's constructor calls a hook before, then: that
// may be an allocator which holds its lock, so that nothing here may allocate or wait for a lock.
// Not before libc is ready, though: the initializers of a program itself (the run-time libraries of
// sanitizers have such) come first of all, when there is no environment yet.
void arrive() {
  static constinit uint32_t arrived = 0;
  if (environ == nullptr || __atomic_exchange_n(&arrived, 1, __ATOMIC_ACQ_REL) != 0) return;
  const int error = errno;
  note_first_loaded();
  note_own_path();
  guest.late = loaded_late();
  // Here the loader waits for us: later, what it lists may go while we look at it.
  if (guest.late) find_all_originals();
  attach(guest.late ? FATHOM_ATTACH_LATE : FATHOM_ATTACH_PRELOAD);
  errno = error;
}

namespace {

// What libc and the loader may take memory and locks for.
void library_loaded() {
  const int error = errno;
  arrive();
  if (guest.attached) attached_now();
  turn_to_daemon();
  errno = error;
}

}  // namespace
}  // namespace fathom::guest

__attribute__((constructor)) static void fathom_library_loaded(int count, char** arguments) {
  fathom::guest::note_arguments(count, arguments);
  fathom::guest::library_loaded();
}
