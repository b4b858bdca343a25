// SPDX-License-Identifier: MIT
// A run that DFTracer's settings ask for: where it lies, who joins it, and what its processes tell
// the collector. It has a hidden directory beside the log file, the same for all processes that
// write such files on this machine, unless FATHOM_OUT names a recording that is to be kept.
#include <errno.h>
#include <fathom/dftracer.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/attach.h"
#include "guest/binding.h"
#include "guest/collector.h"
#include "guest/process.h"
#include "guest/quiet.h"
#include "guest/say.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "guest/text.h"
#include "sources/dftracer/settings.guest.h"

#define FATHOM_EXPORT extern "C" __attribute__((visibility("default")))

namespace fathom::guest {
namespace dftracer {
namespace {

struct Run {
  uint32_t busy;  // atomic: somebody joins or leaves
  bool joined;    // this process told the collector what it wants
  bool named;     // the program named the log itself, or its parent did before a fork
  bool ended;     // finalize was called
  uint32_t told;  // how often
};
constinit Run run = {};
alignas(kLarge) constinit char run_log[4096] = {};    // absolute
alignas(kLarge) constinit char run_place[4096] = {};  // the directory that was made up

constexpr fathom_dftracer_start kNobodyAsked = {nullptr, nullptr, -1, 0, 0};

// Whoever comes second does not wait: a signal handler may have interrupted the first.
class OneAtATime {
 public:
  OneAtATime() : first_(__atomic_exchange_n(&run.busy, 1, __ATOMIC_ACQUIRE) == 0) {}
  ~OneAtATime() {
    if (first_) __atomic_store_n(&run.busy, 0, __ATOMIC_RELEASE);
  }
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;
  [[nodiscard]] bool first() const { return first_; }

 private:
  bool first_;
};

bool given(const char* text) { return text != nullptr && *text != 0; }

bool recording_named() { return given(setting("FATHOM_OUT")); }

// The variable wins over what was imported.
int generation_of(int imported) {
  const char* asked = setting("FATHOM_DFTRACER");
  if (given(asked)) return *asked == '1' ? 1 : 2;
  return imported == 1 ? 1 : 2;
}

void set_log(const char* asked) {
  run.named = given(asked);
  const char* log = given(asked)                  ? asked
                    : settings().log_file[0] != 0 ? settings().log_file
                                                  : "trace";
  if (*log == '/') {
    Text(run_log, sizeof run_log).add(log);
    return;
  }
  const Scratch scratch;
  if (scratch.text() == nullptr || sys_getcwd(scratch.text(), Scratch::kRoom) <= 0) return;
  if (strncmp(log, "./", 2) == 0) log += 2;
  Text(run_log, sizeof run_log).add(scratch.text()).add("/").add(log);
}

// `dir/.log-host-uid.fathom` for the log `dir/log`, as a rule.
bool set_place() {
  const char* base = run_log;
  for (const char* at = run_log; *at != 0; at++) {
    if (*at == '/') base = at + 1;
  }
  const auto length = static_cast<size_t>(base - run_log);
  return choose_hidden_run(run_place, sizeof run_place, run_log, length, base);
}

// --- what the collector is told
// -----------------------------------------------------------------------------------------

void add_line(Text& to, const char* key, const char* value) {
  to.add(key).add("=").add(value).add("\n");
}
void add_switch(Text& to, const char* key, Switch value) {
  if (value != Switch::kUnset) add_line(to, key, value == Switch::kOn ? "1" : "0");
}

// Generation 1 has no word for events that were added up.
void add_sums(Text& to, int generation) {
  if (settings().metric != Metric::kUs) add_line(to, "time_metric", word_of(settings().metric));
  if (settings().aggregation != Switch::kOn || generation == 1) return;
  add_line(to, "aggregation", "1");
  if (settings().interval_ms != 0)
    to.add("interval_ms=").add_number(settings().interval_ms).add("\n");
  to.add(settings().rules);
}

void add_directories(Text& to, const char* more) {
  to.add("data_dirs=").add(settings().data_dirs);
  if (given(more)) to.add(settings().data_dirs[0] != 0 ? ":" : "").add(more);
  to.add("\n");
}

void tell(const fathom_dftracer_start& start, bool asked, bool preloaded) {
  static constinit char text[FATHOM_TEXT_MAX];
  Text lines(text, sizeof text);
  add_line(lines, "generation", generation_of(start.generation) == 1 ? "1" : "2");
  add_line(lines, "log", run_log);
  if (run.named) add_line(lines, "named", "1");
  if (asked) add_line(lines, "asked", "1");
  add_line(lines, "mode", preloaded ? "preload" : "app");
  add_switch(lines, "metadata", settings().metadata);
  add_switch(lines, "compression", settings().compression);
  add_sums(lines, generation_of(start.generation));
  add_directories(lines, start.data_dirs);
  if (start.process_id >= 0)
    lines.add("pid=").add_number(static_cast<uint64_t>(start.process_id)).add("\n");
  add_namespace(lines);
  char key[32];
  Text(key, sizeof key).add("dftracer.").add_number(run.told++);
  write_meta(key, text, lines.length());
}

void choose_sources(bool binds_nothing) {
  const Settings& asked = settings();
  const bool io = asked.io != Switch::kOff && !binds_nothing;
  guest.wanted[FATHOM_SOURCE_RUNTIME] = guest.wanted[FATHOM_SOURCE_APP] = 1;
  guest.wanted[FATHOM_SOURCE_STDIO] = io && asked.stdio != Switch::kOff;
  guest.wanted[FATHOM_SOURCE_POSIX] = io && asked.posix != Switch::kOff;
  switch_on();
}

// What the user said and does not get, once for a run.
void say_problems() {
  const Problems& found = problems();
  const Scratch words;
  if (words.text() == nullptr || (found.broken[0] == 0 && found.idle[0] == 0)) return;
  Text text(words.text(), Scratch::kRoom);
  text.add(found.broken);
  if (found.idle[0] != 0) text.add("fathom: no effect here: ").add(found.idle).add("\n");
  say_once(kSaidSettings, words.text());
}

// Of a process that has no run, perhaps for that reason.
void say_why_not() {
  static constinit bool said = false;
  if (!is_broken() || said) return;
  said = true;
  note_stderr();
  if (!has_parent_with_library()) say(problems().broken);
}

// The file's last line bears this moment, not that of the last event.
void tell_end() {
  char digits[24];
  Text text(digits, sizeof digits);
  text.add_number(tick());
  write_meta("dftracer.end", digits, text.length());
}

// Of an attached process: from now on its file is somebody's work.
void join(const fathom_dftracer_start& start, bool asked) {
  if (supervised()) return;
  note_stderr();
  say_problems();
  if (run_log[0] == 0 || given(start.log_file)) set_log(start.log_file);
  const bool known = wish_for("dftracer", run_log, !recording_named());
  tell(start, asked, !asked && !guest.late);
  run.joined = true;
  run.ended = false;
  if (!recording_named()) choose_sources(start.binds_nothing != 0);
  if (known) start_collector();
}

struct Asked {
  const fathom_dftracer_start& start;
  bool by_program;
};

bool attach_in_place(const fathom_dftracer_start& start, bool asked, unsigned how) {
  set_log(start.log_file);
  if (run_log[0] == 0 || !set_place()) return false;
  const Asked with{start, asked};
  const auto joined = [](const void* of) {
    const auto* what = static_cast<const Asked*>(of);
    join(what->start, what->by_program);
  };
  return attach_to_hidden(run_place, how, joined, &with);
}

// Of a time in the unit of the file.
uint64_t ticks_of(int64_t time) {
  if (time <= 0 || guest.run == nullptr) return 0;
  const Metric metric = settings().metric;
  const auto ns = static_cast<unsigned __int128>(time) * (metric == Metric::kNs   ? 1
                                                          : metric == Metric::kUs ? 1'000
                                                          : metric == Metric::kMs ? 1'000'000
                                                                                  : 1'000'000'000);
  if (guest.tick_source == FATHOM_TICK_MONOTONIC_NS) return static_cast<uint64_t>(ns);
  const uint64_t ticks = tick() - guest.run->start_tick;
  const uint64_t elapsed = clock_ns(CLOCK_MONOTONIC) - guest.run->start_monotonic_ns;
  return elapsed == 0 ? 0 : static_cast<uint64_t>(ns * ticks / elapsed);
}

}  // namespace
}  // namespace dftracer

using namespace dftracer;

// Preloaded, or linked with DFTRACER_INIT=PRELOAD: recording begins before main().
bool attach_for_dftracer(unsigned how) {
  if (!enabled()) {
    say_why_not();
    return false;
  }
  note_stderr();
  if (settings().mode == Mode::kFunction) return false;
  return attach_in_place(kNobodyAsked, false, how);
}

void join_dftracer() {
  if (!enabled() || run.joined || settings().mode == Mode::kFunction) return;
  join(kNobodyAsked, false);
}

void leave_dftracer() {
  if (!run.joined || run.ended) return;
  run.ended = true;
  tell_end();
}

}  // namespace fathom::guest

using namespace fathom::guest;
using namespace fathom::guest::dftracer;

// A recording takes the annotations of every program, as it does those of C and C++.
FATHOM_EXPORT int fathom_dftracer_enabled() {
  if (!enabled()) say_why_not();
  return enabled() || recording_named() ? 1 : 0;
}

FATHOM_EXPORT int fathom_dftracer_takes_args() {
  return settings().metadata == Switch::kOn || recording_named() ? 1 : 0;
}

FATHOM_EXPORT const char* fathom_dftracer_config(const char* variable) {
  const Settings& now = settings();
  const auto is = [&](const char* name) { return strcmp(variable, name) == 0; };
  const auto word = [](Switch value) { return value == Switch::kOn ? "1" : "0"; };
  if (is("DFTRACER_ENABLE")) return word(now.enable);
  if (is("DFTRACER_INC_METADATA")) return word(now.metadata);
  if (is("DFTRACER_TRACE_COMPRESSION")) return now.compression == Switch::kOff ? "0" : "1";
  if (is("DFTRACER_LOG_FILE")) return run_log[0] != 0 ? run_log : now.log_file;
  if (is("DFTRACER_DATA_DIR")) return now.data_dirs;
  if (is("DFTRACER_TIME_METRIC")) return word_of(now.metric);
  if (is("DFTRACER_ENABLE_AGGREGATION")) return word(now.aggregation);
  if (is("DFTRACER_INIT"))
    return now.mode == Mode::kFunction  ? "FUNCTION"
           : now.mode == Mode::kPreload ? "PRELOAD"
                                        : "HYBRID";
  return nullptr;
}

FATHOM_EXPORT int fathom_dftracer_initialize(const fathom_dftracer_start* start) {
  const OneAtATime one;
  if (!one.first()) return 0;
  const int error = errno;
  bool recorded = guest.attached;
  if (!enabled()) return recorded ? 1 : 0;
  if (guest.attached) {
    join(*start, true);
  } else {
    const unsigned how = guest.late ? FATHOM_ATTACH_LATE : FATHOM_ATTACH_PRELOAD;
    recorded = attach_in_place(*start, true, how);
    if (recorded) attached_now();
  }
  errno = error;
  return recorded ? 1 : 0;
}

FATHOM_EXPORT void fathom_dftracer_finalize() {
  const OneAtATime one;
  if (!one.first() || !run.joined || run.ended) return;
  const int error = errno;
  tell_end();
  run.ended = true;
  if (!recording_named()) {
    for (int source = FATHOM_SOURCE_RUNTIME + 1; source < FATHOM_SOURCES; source++)
      guest.wanted[source] = guest.live->on[source] = 0;
  }
  wait_for_file();
  errno = error;
}

// An event: of the facts of a process, which a recording has as well, each key has one value.
FATHOM_EXPORT void fathom_dftracer_metadata(const char* key, const char* value) {
  static constinit fathom_site site = {"metadata", "dftracer", nullptr, 0, 0};
  const fathom_region region = fathom_span_begin();
  if (region.begin == 0) return;
  fathom_arg_text(key, value);
  fathom_span_end(&site, region, region.depth);
  if (recording_named()) fathom_metadata(key, value);
}

FATHOM_EXPORT fathom_region fathom_dftracer_event_begin() { return fathom_span_begin(); }

// The exact times go along as arguments: those of the record are ticks.
FATHOM_EXPORT void fathom_dftracer_event_end(fathom_site* site, fathom_region region, int64_t start,
                                             int64_t duration) {
  if (region.begin == 0) return;
  fathom_arg_int("dftracer.ts", start);
  fathom_arg_int("dftracer.dur", duration);
  const uint64_t ticks = ticks_of(duration);
  if (ticks < region.begin) region.begin -= ticks;
  fathom_span_end(site, region, region.depth);
}

namespace fathom::guest {
namespace {

void* nothing_original = nullptr;
#define ROW(symbol) \
  { #symbol, reinterpret_cast < void*>(&symbol), &nothing_original }
const Binding kRows[] = {
    ROW(fathom_dftracer_enabled),   ROW(fathom_dftracer_takes_args),
    ROW(fathom_dftracer_config),    ROW(fathom_dftracer_initialize),
    ROW(fathom_dftracer_finalize),  ROW(fathom_dftracer_event_begin),
    ROW(fathom_dftracer_event_end), ROW(fathom_dftracer_metadata),
};
#undef ROW

}  // namespace

extern const Bindings kDftracerBindings;
const Bindings kDftracerBindings{kRows, sizeof kRows / sizeof *kRows};

}  // namespace fathom::guest
