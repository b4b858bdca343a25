// SPDX-License-Identifier: MIT
// The drop-in for Alnair's interposer: its users preload libpfinterpose.so, or name a directory in
// PFLOG, and read metrics.log and timeline.log there while the program runs. A process joins when
// it first uses the CUDA driver: the shells and tools around it, which inherit the variables, make
// no directory and no run.
#include <errno.h>
#include <string.h>

#include "guest/attach.h"
#include "guest/binding.h"
#include "guest/collector.h"
#include "guest/process.h"
#include "guest/say.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "guest/text.h"

namespace fathom::guest {

// In libpfinterpose.so and libpfinterpose_heap.so alone.
extern const Bindings kAlnairBindings __attribute__((weak, visibility("hidden")));

bool is_alnair_library() { return &kAlnairBindings != nullptr; }

namespace alnair {
namespace {

struct Run {
  uint32_t waits;  // atomic: for the driver to be used; until the run is joined
  unsigned how;    // to attach then
  uint32_t busy;   // atomic: the thread that joins
  bool joined;     // this process told the collector what it wants
};
constinit Run run = {};
alignas(kLarge) constinit char run_folder[4096] = {};  // of the logs, absolute, with '/' at its end
alignas(kLarge) constinit char run_place[4096] = {};   // the directory that was made up

const char* wished_folder() {
  const char* named = setting("PFLOG");
  if (named != nullptr && *named != 0) return named;
  return is_alnair_library() ? "test" : nullptr;
}

bool set_folder() {
  const char* wish = wished_folder();
  if (wish == nullptr) return false;
  Text folder(run_folder, sizeof run_folder);
  if (*wish != '/') {
    const Scratch scratch;
    if (scratch.text() == nullptr || sys_getcwd(scratch.text(), Scratch::kRoom) <= 0) return false;
    folder.add(scratch.text()).add("/");
    if (strncmp(wish, "./", 2) == 0) wish += 2;
  }
  folder.add(wish).add("/");
  return true;
}

bool recording_named() {
  const char* out = setting("FATHOM_OUT");
  return out != nullptr && *out != 0;
}

void tell() {
  static constinit char text[FATHOM_TEXT_MAX];
  Text lines(text, sizeof text);
  lines.add("log=").add(run_folder).add("\n");
  add_namespace(lines);
  write_meta("alnair.0", text, lines.length());
}

// Of an attached process. What its scripts ask for is the driver's calls and nothing else.
void join(const void*) {
  if (supervised()) return;
  note_stderr();
  const bool known = wish_for("alnair", run_folder, !recording_named());
  tell();
  run.joined = true;
  if (!recording_named()) {
    for (int source = 0; source < FATHOM_SOURCES; source++)
      guest.wanted[source] = source == FATHOM_SOURCE_RUNTIME || source == FATHOM_SOURCE_CUDA;
    switch_on();
  }
  if (known) start_collector();
}

bool attach_in_place() {
  if (!set_folder()) return false;
  if (!choose_hidden_run(run_place, sizeof run_place, run_folder, strlen(run_folder), "pflog"))
    return false;
  return attach_to_hidden(run_place, run.how, join, nullptr);
}

// Another thread that comes to the driver meanwhile waits: what it is given depends on this.
bool begin_joining() {
  const auto self = static_cast<uint32_t>(raw_syscall(SYS_gettid));
  for (int tries = 0; tries < 100000; tries++) {
    uint32_t nobody = 0;
    if (__atomic_compare_exchange_n(&run.busy, &nobody, self, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
      return true;
    if (nobody == self) return false;
    raw_syscall(SYS_sched_yield);
  }
  return false;
}

}  // namespace
}  // namespace alnair

using namespace alnair;

bool attach_for_alnair(unsigned how) {
  if (wished_folder() == nullptr) return false;
  note_stderr();
  run.waits = 1;
  run.how = how;
  guest.wanted[FATHOM_SOURCE_CUDA] = 1;  // so that look-ups of the driver are looked at
  return false;
}

void cuda_is_used() {
  const auto waits = [] { return __atomic_load_n(&run.waits, __ATOMIC_ACQUIRE) != 0; };
  if (!waits() || !begin_joining()) return;
  const int error = errno;
  if (waits()) {
    if (!guest.attached && attach_in_place()) attached_now();
    __atomic_store_n(&run.waits, 0, __ATOMIC_RELEASE);
  }
  errno = error;
  __atomic_store_n(&run.busy, 0, __ATOMIC_RELEASE);
}

// A recording that FATHOM_OUT names has its logs, too.
void join_alnair() {
  if (guest.wanted[FATHOM_SOURCE_CUDA] == 0 || run.joined || !set_folder()) return;
  join(nullptr);
}

}  // namespace fathom::guest
