// SPDX-License-Identifier: MIT
// A reader for the few YAML constructs that DFTracer's configuration uses, without the heap. A
// whole YAML library has no place in somebody else's process.
#include "sources/dftracer/settings.guest.h"

#include <string.h>

#include <initializer_list>

#include "guest/attach.h"
#include "guest/syscalls.h"
#include "guest/text.h"

namespace fathom::guest::dftracer {
namespace {

constinit Settings known = {};
constinit uint32_t known_state = 0;  // atomic: 1 while it is read, 2 after
constinit bool known_on = false;     // apart: most programs need no page of `known`

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
}

bool same_word(const char* text, const char* word) {
  for (; *word != 0; text++, word++) {
    if (lower(*text) != *word) return false;
  }
  return *text == 0;
}

Switch switch_of(const char* text) {
  for (const char* word : {"1", "true", "on", "yes"}) {
    if (same_word(text, word)) return Switch::kOn;
  }
  return Switch::kOff;
}

Switch opposite(Switch one) { return one == Switch::kOn ? Switch::kOff : Switch::kOn; }

Mode mode_of(const char* text) {
  if (same_word(text, "preload")) return Mode::kPreload;
  return same_word(text, "hybrid") ? Mode::kHybrid : Mode::kFunction;
}

// --- the file: nested keys, one value a line, lists of directories
// ---------------------------------------------------------------------------------------------

constexpr int kDeepest = 6;

struct Line {
  int indent = 0;
  char* key = nullptr;    // nullptr: an item of a list
  char* value = nullptr;  // never nullptr
};

char* skip_spaces(char* at) {
  while (*at == ' ' || *at == '\t') at++;
  return at;
}

// The value without the spaces, quotes and comment around it.
char* bare_value(char* at) {
  at = skip_spaces(at);
  const char quote = *at == '"' || *at == '\'' ? *at : 0;
  if (quote != 0) {
    char* end = strchr(++at, quote);
    if (end != nullptr) *end = 0;
    return at;
  }
  char* end = strstr(at, " #");
  if (end == nullptr) end = at + strlen(at);
  if (*at == '#') end = at;
  while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
  *end = 0;
  return at;
}

// Where the key's colon is: a colon inside a value has no space behind it.
char* colon_of(char* at) {
  for (; *at != 0 && *at != '#'; at++) {
    if (*at == ':' && (at[1] == 0 || at[1] == ' ' || at[1] == '\t' || at[1] == '\r')) return at;
  }
  return nullptr;
}

bool read_line(char* text, Line& line) {
  char* at = text;
  while (*at == ' ') at++;
  line.indent = static_cast<int>(at - text);
  if (*at == 0 || *at == '#' || *at == '\r' || strncmp(at, "---", 3) == 0) return false;
  if (*at == '-' && at[1] == ' ') {
    line.key = nullptr;
    line.value = bare_value(at + 2);
    return true;
  }
  char* colon = colon_of(at);
  if (colon == nullptr) return false;
  *colon = 0;
  line.key = at;
  line.value = bare_value(colon + 1);
  return true;
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

// `path` is the key with those around it, dots between.
void take_value(const char* path, char* value, Settings& to) {
  const bool block = strncmp(path, "tracer.", 7) == 0;
  const bool other_block = strncmp(path, "profiler.", 9) == 0;
  const char* key = block ? path + 7 : other_block ? path + 9 : path;
  if (*value == 0) return;
  if (strcmp(path, "enable") == 0) to.enable = switch_of(value);
  if (strcmp(path, "features.metadata") == 0) to.metadata = switch_of(value);
  if (strcmp(path, "features.io.enable") == 0) to.io = switch_of(value);
  if (strcmp(path, "features.io.posix") == 0) to.posix = switch_of(value);
  if (strcmp(path, "features.io.stdio") == 0) to.stdio = switch_of(value);
  if (!block && !other_block) return;
  if (strcmp(key, "init") == 0) to.mode = mode_of(value);
  if (strcmp(key, "compression") == 0) to.compression = switch_of(value);
  if (strcmp(key, "log_file") == 0) Text(to.log_file, sizeof to.log_file).add(value);
  if (strcmp(key, "data_dirs") == 0) add_directories(value, to);
}

// Which keys a line lies under, by how far they are indented.
class Nesting {
 public:
  // The path of this line's key; an item of a list has that of its list.
  const char* path_of(const Line& line) {
    while (depth_ > 0 && (line.key != nullptr ? indents_[depth_ - 1] >= line.indent
                                              : indents_[depth_ - 1] > line.indent))
      depth_--;
    if (line.key != nullptr && depth_ < kDeepest) {
      indents_[depth_] = line.indent;
      keys_[depth_++] = line.key;
    }
    Text path(path_, sizeof path_);
    for (int i = 0; i < depth_; i++) {
      if (i > 0) path.add(".");
      path.add(keys_[i]);
    }
    return path_;
  }

 private:
  int depth_ = 0;
  int indents_[kDeepest] = {};
  const char* keys_[kDeepest] = {};
  char path_[256] = {};
};

void read_file(const char* path, Settings& to) {
  static constinit char content[32768];
  const int fd = sys_openat(AT_FDCWD, path, O_RDONLY, 0);
  if (fd < 0) return;
  size_t length = 0;
  for (long got; length < sizeof content - 1 &&
                 (got = sys_read(fd, content + length, sizeof content - 1 - length)) > 0;)
    length += static_cast<size_t>(got);
  sys_close(fd);
  content[length] = 0;
  read_yaml(content, to);
}

const char* variable(const char* name) {
  const char* value = setting(name);
  return value != nullptr && *value != 0 ? value : nullptr;
}

void read_variables(Settings& to) {
  if (const char* value = variable("DFTRACER_ENABLE")) to.enable = switch_of(value);
  if (const char* value = variable("DFTRACER_INIT")) to.mode = mode_of(value);
  if (const char* value = variable("DFTRACER_LOG_FILE"))
    Text(to.log_file, sizeof to.log_file).add(value);
  if (const char* value = variable("DFTRACER_DATA_DIR"))
    Text(to.data_dirs, sizeof to.data_dirs).add(value);
  if (const char* value = variable("DFTRACER_INC_METADATA")) to.metadata = switch_of(value);
  if (const char* value = variable("DFTRACER_TRACE_COMPRESSION")) to.compression = switch_of(value);
  if (const char* value = variable("DFTRACER_DISABLE_IO")) to.io = opposite(switch_of(value));
  if (const char* value = variable("DFTRACER_DISABLE_POSIX")) to.posix = opposite(switch_of(value));
  if (const char* value = variable("DFTRACER_DISABLE_STDIO")) to.stdio = opposite(switch_of(value));
}

}  // namespace

void read_yaml(char* text, Settings& to) {
  Nesting nesting;
  while (*text != 0) {
    char* end = strchrnul(text, '\n');
    char* next = *end != 0 ? end + 1 : end;
    *end = 0;
    Line line;
    if (read_line(text, line)) take_value(nesting.path_of(line), line.value, to);
    text = next;
  }
}

const Settings& settings() {
  uint32_t state = 0;
  if (__atomic_compare_exchange_n(&known_state, &state, 1, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    const char* file = variable("DFTRACER_CONFIGURATION");
    if (file != nullptr) read_file(file, known);
    read_variables(known);
    if (file != nullptr || variable("DFTRACER_ENABLE") != nullptr)
      known_on = known.enable == Switch::kOn;
    __atomic_store_n(&known_state, 2, __ATOMIC_RELEASE);
  }
  return known;
}

bool enabled() {
  settings();
  return known_on;
}

}  // namespace fathom::guest::dftracer
