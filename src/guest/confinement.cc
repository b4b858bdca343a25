// SPDX-License-Identifier: MIT
// Three parts: clocks that go on without the counter, filters that were there before us, and
// threads that have to leave our code before the program's sandbox closes.
#include "guest/confinement.h"

#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <time.h>

#include "guest/attach.h"
#include "guest/broker.h"
#include "guest/descriptors.h"
#include "guest/pool.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "guest/threads.h"

namespace fathom::guest {

constinit bool clocks_are_restricted = false;

namespace {

// --- clocks
// -----------------------------------------------------------------------------------------------------------

// How ticks follow from CLOCK_MONOTONIC where the counter cannot be read.
struct Conversion {
  uint64_t tick, ns;
  double ticks_per_ns;
};
constinit Conversion conversion = {};
constinit bool counter_is_gone = false;
constinit uint64_t last_converted = 0;  // atomic: the coarse clock lags behind the fine one

bool convert_by(uint64_t tick, uint64_t ns) {
  const fathom_run_header& run = *guest.run;
  if (tick <= run.start_tick || ns <= run.start_monotonic_ns) return false;
  conversion = {tick, ns,
                static_cast<double>(tick - run.start_tick) /
                    static_cast<double>(ns - run.start_monotonic_ns)};
  // Other threads may have read the counter a moment ago: time does not run backwards for them.
  constexpr double kMarginNs = 1000000;
  last_converted = tick + static_cast<uint64_t>(conversion.ticks_per_ns * kMarginNs);
  return true;
}

// Coarse clocks come out of a page of the kernel's, if there is one.
bool has_vdso() { return getauxval(AT_SYSINFO_EHDR) != 0; }

clockid_t coarse(clockid_t clock) {
  return clock == CLOCK_REALTIME ? CLOCK_REALTIME_COARSE : CLOCK_MONOTONIC_COARSE;
}

// --- filters
// -----------------------------------------------------------------------------------------------------------

// How many filters a process is behind: 0, or 1 where an older kernel does not count them.
unsigned number_behind(const char* text, const char* name) {
  const char* at = strstr(text, name);
  if (at == nullptr) return 0;
  at += strlen(name);
  while (*at == ' ' || *at == '\t') at++;
  unsigned number = 0;
  for (; *at >= '0' && *at <= '9'; at++) number = number * 10 + static_cast<unsigned>(*at - '0');
  return number;
}

unsigned filters_of(const char* path) {
  const Scratch scratch;
  char* const text = scratch.text();
  const int fd = text != nullptr ? sys_openat(AT_FDCWD, path, O_RDONLY, 0) : -1;
  if (fd < 0) return 0;
  const long length = sys_read(fd, text, Scratch::kRoom - 1);
  sys_close(fd);
  text[length > 0 ? length : 0] = 0;
  if (number_behind(text, "\nSeccomp:") == 0) return 0;
  const unsigned count = number_behind(text, "\nSeccomp_filters:");
  return count > 0 ? count : 1;
}

// --- threads
// -----------------------------------------------------------------------------------------------------------

// Where glibc keeps a thread's number, in what pthread_self() points to. The kernel itself writes
// it, for threads and for forked children.
#if defined(__x86_64__)
constexpr size_t kTidPlace = 720;
#else
constexpr size_t kTidPlace = 208;
#endif
constinit bool tid_is_there = false;

int tid_of_libc() {
  int tid;
  memcpy(&tid, reinterpret_cast<const char*>(pthread_self()) + kTidPlace, sizeof tid);
  return tid;
}

bool records_here() { return guest.attached && in_program(); }

void prepare() {
  tid_is_there = tid_of_libc() == sys_gettid();
  if (!records_here()) return;
  if (tls.thread == nullptr) first_record_of_thread();
  settle_descriptors();
  make_spare_threads();
  make_spare_room();
}

}  // namespace

void rights_go(bool recorder_stays) {
  if (!records_here() || is_confined() || (recorder_stays && has_broker())) return;
  make_spare_room();
}

namespace {

// Threads that asked whether they may call before the answer changed. What they wait for themselves
// is short.
void wait_for_callers() {
  constexpr int kPatience = 1000;
  const timespec moment{0, 100000};
  for (int naps = 0; naps < kPatience; naps++) {
    kernel_call(SYS_nanosleep, as_long(&moment), 0, 0, 0, 0, 0);
    if (!others_are_calling()) return;
  }
}

}  // namespace

uint64_t restricted_clock_ns(clockid_t clock) {
  timespec now{};
  if (!is_confined()) {
    raw_syscall(SYS_clock_gettime, clock, as_long(&now));
  } else if (has_vdso()) {
    clock_gettime(coarse(clock), &now);
  }
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t converted_tick(uint64_t ns) {
  const double passed = ns > conversion.ns ? static_cast<double>(ns - conversion.ns) : 0;
  const uint64_t now = conversion.tick + static_cast<uint64_t>(passed * conversion.ticks_per_ns);
  uint64_t last = __atomic_load_n(&last_converted, __ATOMIC_RELAXED);
  while (now > last && !__atomic_compare_exchange_n(&last_converted, &last, now, false,
                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return now > last ? now : last;
}

void lose_counter() {
  if (guest.run != nullptr && guest.tick_source == FATHOM_TICK_COUNTER) {
    if (!convert_by(read_counter(), clock_ns(CLOCK_MONOTONIC))) silence();
    guest.tick_source = kTickConverted;
  }
  counter_is_gone = true;
  clocks_are_restricted = true;
}

// A child of vfork has our memory and a life of its own.
void confine(bool counter_goes) {
  const bool shared = tls.vforks != 0;
  if (!shared && !is_confined()) prepare();
  if (counter_goes) lose_counter();
  if (is_confined()) return;
  if (!has_vdso()) silence();
  clocks_are_restricted = true;
  guest.confined_by_child = shared;
  __atomic_store_n(&guest.confined, true, __ATOMIC_SEQ_CST);
  if (!shared && guest.next_thread > 1) wait_for_callers();
}

void unconfine() {
  clocks_are_restricted = counter_is_gone;
  guest.confined_by_child = false;
  __atomic_store_n(&guest.confined, false, __ATOMIC_SEQ_CST);
}

void silence() {
  guest.silenced = true;
  if (guest.live == &nothing_on) return;
  memset(guest.live->on, 0, sizeof guest.live->on);
  guest.live->alive = kAlive;
}

bool starts_confined() {
  const unsigned own = filters_of("/proc/self/status");
  if (own == 0) return false;
  const char* known = setting("FATHOM_FILTERS");
  if (known != nullptr && own <= number_behind(known, "")) return false;
  return own > filters_of("/proc/1/status");
}

void look_for_counter() {
  int state = PR_TSC_ENABLE;
  counter_is_gone =
      raw_syscall(SYS_prctl, PR_GET_TSC, as_long(&state)) == 0 && state == PR_TSC_SIGSEGV;
  clocks_are_restricted = counter_is_gone;
}

bool choose_clock() {
  if (!counter_is_gone || guest.run->tick_source != FATHOM_TICK_COUNTER) return true;
  const uint64_t tick = __atomic_load_n(&guest.run->last_tick, __ATOMIC_ACQUIRE);
  const uint64_t ns = __atomic_load_n(&guest.run->last_monotonic_ns, __ATOMIC_RELAXED);
  guest.tick_source = kTickConverted;
  return convert_by(tick, ns);
}

int own_tid() {
  if (!is_confined()) return sys_gettid();
  return tid_is_there ? tid_of_libc() : 0;
}

// A child that was made without libc has its parent's number there.
int pid_of_child() {
  if (!is_confined()) return sys_getpid();
  const int tid = own_tid();
  return tid == guest.pid || (tls.thread != nullptr && tid == tls.thread->tid) ? 0 : tid;
}

void count_unasked() { count_loss(FATHOM_SOURCE_POSIX, FATHOM_LOSS_UNASKED); }

}  // namespace fathom::guest
