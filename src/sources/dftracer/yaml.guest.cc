// SPDX-License-Identifier: MIT
// A reader for the few YAML constructs that DFTracer's configuration uses, without the heap. A
// whole YAML library has no place in somebody else's process. What this one does not understand it
// says, and then nothing of the file holds.
#include <string.h>

#include <initializer_list>

#include "guest/text.h"
#include "sources/dftracer/settings.guest.h"

namespace fathom::guest::dftracer {
namespace {

constexpr int kDeepest = 6;

struct Line {
  int indent = 0;
  char* key = nullptr;    // nullptr: an item of a list
  char* value = nullptr;  // never nullptr
};

enum class Read : uint8_t { kNothing, kLine, kBroken };

char* skip_spaces(char* at) {
  while (*at == ' ' || *at == '\t') at++;
  return at;
}

// The value without the spaces, quotes and comment around it; nullptr: a quote or bracket is open.
char* bare_value(char* at) {
  at = skip_spaces(at);
  const char quote = *at == '"' || *at == '\'' ? *at : 0;
  if (quote != 0) {
    char* end = strchr(++at, quote);
    if (end == nullptr) return nullptr;
    *end = 0;
    return at;
  }
  char* end = strstr(at, " #");
  if (end == nullptr) end = at + strlen(at);
  if (*at == '#') end = at;
  while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
  *end = 0;
  if (*at == '{' || (*at == '[') != (end > at && end[-1] == ']')) return nullptr;
  return at;
}

// Where the key's colon is: a colon inside a value has no space behind it.
char* colon_of(char* at) {
  for (; *at != 0 && *at != '#'; at++) {
    if (*at == ':' && (at[1] == 0 || at[1] == ' ' || at[1] == '\t' || at[1] == '\r')) return at;
  }
  return nullptr;
}

// The key without quotes.
char* bare_key(char* at, char* colon) {
  while (colon > at && colon[-1] == ' ') colon--;
  *colon = 0;
  const bool quoted = (*at == '"' || *at == '\'') && colon > at + 1 && colon[-1] == *at;
  if (!quoted) return at;
  colon[-1] = 0;
  return at + 1;
}

Read read_line(char* text, Line& line) {
  char* at = text;
  while (*at == ' ') at++;
  line.indent = static_cast<int>(at - text);
  if (*at == 0 || *at == '#' || *at == '\r') return Read::kNothing;
  if (strncmp(at, "---", 3) == 0 || strncmp(at, "...", 3) == 0) return Read::kNothing;
  if (*at == '\t') return Read::kBroken;
  if (*at == '-' && (at[1] == ' ' || at[1] == 0)) {
    line.value = bare_value(at + 1);
    return line.value != nullptr ? Read::kLine : Read::kBroken;
  }
  char* colon = colon_of(at);
  if (colon == nullptr || colon == at) return Read::kBroken;
  line.value = bare_value(colon + 1);
  line.key = bare_key(at, colon);
  return line.value != nullptr ? Read::kLine : Read::kBroken;
}

// Further directories, one or several; `[a, b]` is a list, too.
void add_directories(char* value, Settings& to) {
  for (char* at = value; *at != 0; at++) {
    if (*at == '[' || *at == ']' || *at == ',' || *at == '"' || *at == '\'') *at = ' ';
  }
  for (char* at = skip_spaces(value); *at != 0; at = skip_spaces(at)) {
    char* end = at;
    while (*end != 0 && *end != ' ') end++;
    const size_t used = strlen(to.data_dirs);
    Text more(to.data_dirs + used, sizeof to.data_dirs - used);
    if (used > 0) more.add(":");
    more.add(at, static_cast<size_t>(end - at));
    at = end;
  }
}

struct SwitchKey {
  char path[32];
  Switch Settings::*to;
};
constexpr SwitchKey kSwitches[] = {{"enable", &Settings::enable},
                                   {"features.metadata", &Settings::metadata},
                                   {"features.io.enable", &Settings::io},
                                   {"features.io.posix", &Settings::posix},
                                   {"features.io.stdio", &Settings::stdio},
                                   {"features.aggregation.enable", &Settings::aggregation},
                                   {"tracer.compression", &Settings::compression},
                                   {"profiler.compression", &Settings::compression}};
constexpr char kIdle[][28] = {"log_level", "libuv_threads"};  // of a block
constexpr char kIdleBlocks[][28] = {"internal.",         "gotcha.",      "features.papi",
                                    "features.variorum", "features.tid", "features.core_affinity"};

// Whether the value is one. `key` is of a block `tracer` or `profiler`.
bool take_of_block(const char* key, char* value, Settings& to, Problems& found) {
  if (strcmp(key, "init") == 0) return read_mode(value, to.mode);
  if (strcmp(key, "time_metric") == 0) return read_metric(value, to.metric);
  if (strcmp(key, "log_file") == 0) Text(to.log_file, sizeof to.log_file).add(value);
  if (strcmp(key, "data_dirs") == 0) add_directories(value, to);
  for (const char* idle : kIdle) {
    if (strcmp(key, idle) == 0) add_idle(found, idle);
  }
  return true;
}

bool is_rule_list(const char* path) {
  return strcmp(path, "inclusion") == 0 || strcmp(path, "exclusion") == 0;
}

// The collector understands rules (render/export/dftracer_rules.h); here it is enough to know what
// cannot be one.
bool add_rule(const char* list, const char* rule, Settings& to) {
  const size_t used = strlen(to.rules);
  bool compares = strstr(rule, " IN ") != nullptr || strstr(rule, " LIKE ") != nullptr;
  for (const char* sign : {"==", "!=", "<", ">"}) compares |= strstr(rule, sign) != nullptr;
  if (!compares || used + strlen(rule) + 10 > sizeof to.rules) return false;
  Text more(to.rules + used, sizeof to.rules - used);
  more.add(*list == 'i' ? "include=" : "exclude=").add(rule).add("\n");
  return true;
}

// `path` is the key with those around it, dots between. Whether the value is one.
bool take_value(const char* path, char* value, Settings& to, Problems& found) {
  if (*value == 0) return true;
  for (const SwitchKey& one : kSwitches) {
    if (strcmp(path, one.path) == 0) return read_switch(value, to.*one.to);
  }
  if (strncmp(path, "tracer.", 7) == 0) return take_of_block(path + 7, value, to, found);
  if (strncmp(path, "profiler.", 9) == 0) return take_of_block(path + 9, value, to, found);
  if (strcmp(path, "features.interval") == 0) return read_number(value, to.interval_ms);
  if (is_rule_list(path)) return add_rule(path, value, to);
  if (strcmp(path, "features.aggregation.file") == 0)
    Text(to.rules_file, sizeof to.rules_file).add(value);
  if (strcmp(path, "features.aggregation.type") == 0) to.selective = *value == 's' || *value == 'S';
  for (const char* block : kIdleBlocks) {
    if (strncmp(path, block, strlen(block)) == 0) add_idle(found, path);
  }
  return true;
}

// Which keys a line lies under, by how far they are indented.
class Nesting {
 public:
  // The path of this line's key; an item of a list has that of its list. nullptr: it lies under no
  // key, or under one that has a value.
  const char* path_of(const Line& line) {
    const bool item = line.key == nullptr;
    while (depth_ > 0 &&
           (item ? indents_[depth_ - 1] > line.indent : indents_[depth_ - 1] >= line.indent))
      depth_--;
    if (item && depth_ == 0) return nullptr;
    if (depth_ > 0 && full_[depth_ - 1]) return nullptr;
    if (!item && depth_ == 0 && line.indent != 0) return nullptr;
    if (!item && depth_ == kDeepest) return nullptr;
    if (!item) {
      indents_[depth_] = line.indent;
      full_[depth_] = *line.value != 0;
      keys_[depth_++] = line.key;
    }
    Text path(path_, sizeof path_);
    for (int i = 0; i < depth_; i++) path.add(i > 0 ? "." : "").add(keys_[i]);
    return path_;
  }

 private:
  int depth_ = 0;
  int indents_[kDeepest] = {};
  bool full_[kDeepest] = {};
  const char* keys_[kDeepest] = {};
  char path_[256] = {};
};

bool complain(const char* name, unsigned number, const char* word, const char* why,
              Problems& found) {
  if (found.of_file) return false;
  found.of_file = true;
  char what[512];
  Text(what, sizeof what).add(name).add(", line ").add_number(number).add(": ").add(word);
  add_broken(found, what, why);
  return false;
}

}  // namespace

bool read_yaml(const char* name, char* text, Settings& to, Problems& found) {
  static constinit Settings read = {};
  Nesting nesting;
  read = to;
  for (unsigned number = 1; *text != 0; number++) {
    char* end = strchrnul(text, '\n');
    char* next = *end != 0 ? end + 1 : end;
    *end = 0;
    Line line;
    const Read what = read_line(text, line);
    const char* const path = what == Read::kLine ? nesting.path_of(line) : nullptr;
    if (what == Read::kBroken || (what == Read::kLine && path == nullptr))
      return complain(name, number, "this", "is not understood; nothing of the file is used",
                      found);
    if (path != nullptr && !take_value(path, line.value, read, found))
      complain(name, number, line.value,
               is_rule_list(path) ? "is no rule, or one too many, and is left out"
                                  : "is no value of this setting, which keeps its default",
               found);
    text = next;
  }
  to = read;
  return true;
}

}  // namespace fathom::guest::dftracer
