// SPDX-License-Identifier: MIT
// The variables that DFTracer has, what their words mean, and what is said of those that mean
// nothing here. They are read once, by whoever asks first. A variable wins over the file, which is
// read in yaml.guest.cc; a word that cannot be meant is told and ignored, since a program that ran
// with it before must not fail now.
#include "sources/dftracer/settings.guest.h"

#include <string.h>

#include <initializer_list>

#include "guest/attach.h"
#include "guest/runtime.h"
#include "guest/syscalls.h"
#include "guest/text.h"

namespace fathom::guest::dftracer {
namespace {

constinit Settings known = {};
constinit uint32_t known_state = 0;  // atomic: 1 while it is read, 2 after
constinit bool known_on = false;     // apart: most programs need no page of `known`
constinit bool known_broken = false;
alignas(kLarge) constinit Problems known_problems = {};

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
}

bool same_word(const char* text, const char* word) {
  for (; *word != 0; text++, word++) {
    if (lower(*text) != *word) return false;
  }
  return *text == 0;
}

bool is_one_of(const char* text, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (same_word(text, word)) return true;
  }
  return false;
}

void opposite(Switch& one) {
  if (one != Switch::kUnset) one = one == Switch::kOn ? Switch::kOff : Switch::kOn;
}

const char* variable(const char* name) {
  const char* value = setting(name);
  return value != nullptr && *value != 0 ? value : nullptr;
}

void complain_of(const char* name, const char* value, const char* why) {
  char what[256];
  Text(what, sizeof what).add(name).add("=").add(value);
  add_broken(known_problems, what, why);
}

// `read` takes the variable's word, where there is one.
template <class Value>
void take(const char* name, bool (*read)(const char*, Value&), Value& to, const char* why) {
  const char* value = variable(name);
  if (value != nullptr && !read(value, to)) complain_of(name, value, why);
}

bool complain_of_file(const char* path, const char* why) {
  add_broken(known_problems, path, why);
  return false;
}

constexpr char kNoSwitch[] = "is neither on nor off and is ignored";

void take_switch(const char* name, Switch& to) { take(name, read_switch, to, kNoSwitch); }

void take_disabling(const char* name, Switch& to) {
  Switch off = Switch::kUnset;
  take_switch(name, off);
  opposite(off);
  if (off != Switch::kUnset) to = off;
}

bool read_type(const char* text, bool& selective) {
  const bool some = same_word(text, "selective");
  if (!some && !same_word(text, "full")) return false;
  selective = some;
  return true;
}

void read_variables(Settings& to) {
  take_switch("DFTRACER_ENABLE", to.enable);
  take("DFTRACER_INIT", read_mode, to.mode, "is none of FUNCTION, PRELOAD, HYBRID and is ignored");
  if (const char* value = variable("DFTRACER_LOG_FILE"))
    Text(to.log_file, sizeof to.log_file).add(value);
  if (const char* value = variable("DFTRACER_DATA_DIR"))
    Text(to.data_dirs, sizeof to.data_dirs).add(value);
  take_switch("DFTRACER_INC_METADATA", to.metadata);
  take_switch("DFTRACER_TRACE_COMPRESSION", to.compression);
  take_disabling("DFTRACER_DISABLE_IO", to.io);
  take_disabling("DFTRACER_DISABLE_POSIX", to.posix);
  take_disabling("DFTRACER_DISABLE_STDIO", to.stdio);
  take("DFTRACER_TIME_METRIC", read_metric, to.metric,
       "is none of NS, US, MS, SEC; times are in US");
  take_switch("DFTRACER_ENABLE_AGGREGATION", to.aggregation);
  take("DFTRACER_AGGREGATION_TYPE", read_type, to.selective,
       "is neither FULL nor SELECTIVE and is ignored");
  if (const char* value = variable("DFTRACER_AGGREGATION_FILE"))
    Text(to.rules_file, sizeof to.rules_file).add(value);
  take("DFTRACER_TRACE_INTERVAL_MS", read_number, to.interval_ms,
       "is no number of milliseconds and is ignored");
}

// Those that docs/moving.md says "no effect" or "not yet" of.
constexpr char kIdle[][36] = {"DFTRACER_LOG_LEVEL",
                              "DFTRACER_SET_CORE_AFFINITY",
                              "DFTRACER_DISABLE_TIDS",
                              "DFTRACER_WRITE_BUFFER_SIZE",
                              "DFTRACER_BIND_SIGNALS",
                              "DFTRACER_ERROR",
                              "DFTRACER_GOTCHA_PRIORITY",
                              "DFTRACER_LIBUV_THREADS",
                              "DFTRACER_ENABLE_PAPI_TRACING",
                              "DFTRACER_PAPI_EVENTS",
                              "DFTRACER_PAPI_MULTIPLEX",
                              "DFTRACER_PAPI_SAMPLE_INTERVAL_MS",
                              "DFTRACER_DISABLE_VARIORUM_POWER"};

void look_for_idle() {
  for (const char* name : kIdle) {
    if (variable(name) != nullptr) add_idle(known_problems, name);
  }
}

// Whether it could be used.
bool read_file(const char* path, Settings& to) {
  static constinit char content[32768];
  const int fd = sys_openat(AT_FDCWD, path, O_RDONLY, 0);
  if (fd < 0) return complain_of_file(path, "cannot be read and is ignored");
  size_t length = 0;
  for (long got; length < sizeof content - 1 &&
                 (got = sys_read(fd, content + length, sizeof content - 1 - length)) > 0;)
    length += static_cast<size_t>(got);
  sys_close(fd);
  content[length] = 0;
  if (length == sizeof content - 1)
    return complain_of_file(path, "is larger than 32 KiB and is ignored");
  return read_yaml(path, content, to, known_problems);
}

// Rules choose events that are added up. Without those that the user wrote every event would be,
// and what was to be seen one by one would be lost.
void read_rules(Settings& to) {
  if (to.aggregation != Switch::kOn || !to.selective || to.rules_file[0] == 0) return;
  known_problems.of_file = false;  // it is another one
  if (read_file(to.rules_file, to)) return;
  to.aggregation = Switch::kOff;
  add_idle(known_problems, "DFTRACER_AGGREGATION_FILE (no event is added up)");
}

}  // namespace

bool read_switch(const char* text, Switch& to) {
  const bool on = is_one_of(text, {"1", "true", "on", "yes"});
  if (!on && !is_one_of(text, {"0", "false", "off", "no"})) return false;
  to = on ? Switch::kOn : Switch::kOff;
  return true;
}

bool read_mode(const char* text, Mode& to) {
  if (!is_one_of(text, {"function", "preload", "hybrid"})) return false;
  to = lower(*text) == 'f' ? Mode::kFunction : lower(*text) == 'p' ? Mode::kPreload : Mode::kHybrid;
  return true;
}

bool read_metric(const char* text, Metric& to) {
  if (!is_one_of(text, {"us", "ns", "ms", "sec", "s"})) return false;
  to = lower(*text) == 'u'   ? Metric::kUs
       : lower(*text) == 'n' ? Metric::kNs
       : lower(*text) == 'm' ? Metric::kMs
                             : Metric::kSec;
  return true;
}

bool read_number(const char* text, uint32_t& to) {
  uint32_t number = 0;
  for (const char* at = text; *at != 0; at++) {
    if (*at < '0' || *at > '9' || number > 99'999'999) return false;
    number = number * 10 + static_cast<uint32_t>(*at - '0');
  }
  if (number == 0) return false;
  to = number;
  return true;
}

const char* word_of(Metric metric) {
  return metric == Metric::kUs   ? "US"
         : metric == Metric::kNs ? "NS"
         : metric == Metric::kMs ? "MS"
                                 : "SEC";
}

void add_broken(Problems& to, const char* what, const char* why) {
  const size_t used = strlen(to.broken);
  known_broken = true;
  Text(to.broken + used, sizeof to.broken - used)
      .add("fathom: ")
      .add(what)
      .add(" ")
      .add(why)
      .add("\n");
}

void add_idle(Problems& to, const char* name) {
  const size_t used = strlen(to.idle);
  Text(to.idle + used, sizeof to.idle - used).add(used > 0 ? ", " : "").add(name);
}

const Settings& settings() {
  uint32_t state = 0;
  if (__atomic_compare_exchange_n(&known_state, &state, 1, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    const char* file = variable("DFTRACER_CONFIGURATION");
    if (file != nullptr) read_file(file, known);
    if (file != nullptr || variable("DFTRACER_ENABLE") != nullptr) {
      read_variables(known);
      known_on = known.enable == Switch::kOn;
    }
    if (known_on) {
      look_for_idle();
      read_rules(known);
    }
    __atomic_store_n(&known_state, 2, __ATOMIC_RELEASE);
  }
  return known;
}

const Problems& problems() {
  settings();
  return known_problems;
}

bool is_broken() {
  settings();
  return known_broken;
}

bool enabled() {
  settings();
  return known_on;
}

}  // namespace fathom::guest::dftracer
