// SPDX-License-Identifier: MIT
// What DFTracer's users say in its variables (DFTRACER_*) and in the YAML file that
// DFTRACER_CONFIGURATION names; a variable wins over the file. Read once, without the heap.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace fathom::guest::dftracer {

enum class Mode : uint8_t { kFunction, kPreload, kHybrid };

// A switch that nobody touched means what its generation means by default.
enum class Switch : uint8_t { kUnset, kOff, kOn };

// The unit of all times in the file, and of get_time().
enum class Metric : uint8_t { kUs, kNs, kMs, kSec };

struct Settings {
  Switch enable, metadata, compression, io, posix, stdio, aggregation;
  Mode mode;
  Metric metric;
  bool selective;        // only events that rules choose are added up
  uint32_t interval_ms;  // that events are added up over; 0: nobody said
  char log_file[4096];   // "" where nobody named one
  char data_dirs[8192];  // with colons between; "" where nobody named one
  char rules_file[4096];
  char rules[2048];  // lines `include=RULE` and `exclude=RULE`
};

// What a user said and does not get: told on stderr, never guessed.
struct Problems {
  char broken[2048];  // lines: what could not be understood
  bool of_file;       // there is one of the file, and one is enough
  char idle[1024];    // names with ", " between: what has no effect here
};

const Settings& settings();
const Problems& problems();
bool is_broken();  // something could not be understood

// Whether the program asks for DFTracer at all.
bool enabled();

// A word as a value; false where it is none, and nothing is changed.
bool read_switch(const char* text, Switch& to);
bool read_mode(const char* text, Mode& to);
bool read_metric(const char* text, Metric& to);
bool read_number(const char* text, uint32_t& to);

// Reads a configuration, or rules, into `to`; the text is changed on the way. One that is no YAML
// changes nothing but `found`, and gives false.
bool read_yaml(const char* name, char* text, Settings& to, Problems& found);

void add_broken(Problems& to, const char* what, const char* why);
void add_idle(Problems& to, const char* name);

// "US" and so on.
const char* word_of(Metric metric);

}  // namespace fathom::guest::dftracer
