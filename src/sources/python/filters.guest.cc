// SPDX-License-Identifier: MIT
// Matches modules and paths once for each code object, not for each call. No recursion and no
// allocation: this is guest code.
#include "sources/python/filters.h"

#include <string.h>

#include "guest/attach.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "guest/text.h"

namespace fathom::guest::python {

constinit Filters filters = {};

namespace {

// * is any text, ? any letter. Goes back to the last * alone: no recursion, no allocation.
bool matches(const char* pattern, size_t pattern_length, const char* text) {
  size_t at = 0, star = SIZE_MAX;
  const char* resume = nullptr;
  while (*text != 0) {
    if (at < pattern_length && pattern[at] == '*') {
      star = at++;
      resume = text;
    } else if (at < pattern_length && (pattern[at] == '?' || pattern[at] == *text)) {
      at++;
      text++;
    } else if (star != SIZE_MAX) {
      at = star + 1;
      text = ++resume;
    } else {
      return false;
    }
  }
  while (at < pattern_length && pattern[at] == '*') at++;
  return at == pattern_length;
}

bool lies_within(const char* word, size_t length, const char* text, char separator) {
  return strncmp(text, word, length) == 0 &&
         (text[length] == 0 || text[length] == separator || word[length - 1] == separator);
}

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* text = setting(variable);
  if (text == nullptr || *text < '0' || *text > '9') return otherwise;
  uint64_t number = 0;
  for (; *text >= '0' && *text <= '9' && number < UINT64_MAX / 100; text++)
    number = number * 10 + static_cast<uint64_t>(*text - '0');
  return number;
}

// A number with ns (or nothing), us, ms or s behind it.
uint64_t ns_of(const char* variable) {
  const char* text = setting(variable);
  const uint64_t number = number_of(variable, 0);
  if (number == 0) return 0;
  while (*text >= '0' && *text <= '9') text++;
  const uint64_t unit = *text == 'u'   ? 1000
                        : *text == 'm' ? 1000000
                        : *text == 's' ? 1000000000
                                       : 1;
  return number > UINT64_MAX / 1000 / unit ? UINT64_MAX / 1000 : number * unit;
}

bool is_on(const char* variable) {
  const char* text = setting(variable);
  return text != nullptr && *text != 0 && strcmp(text, "0") != 0;
}

}  // namespace

void WordList::read(const char* variable) {
  const char* text = setting(variable);
  Text(text_, sizeof text_).add(text != nullptr ? text : "");
}

void read_filters() {
  filters.modules.read("FATHOM_PYTHON_MODULES");
  filters.paths.read("FATHOM_PYTHON_PATHS");
  filters.loops.read("FATHOM_PYTHON_LOOPS");
  filters.loops_asked = !filters.loops.empty();
  filters.c_calls = is_on("FATHOM_PYTHON_C");
  const uint64_t depth = number_of("FATHOM_PYTHON_DEPTH", UINT32_MAX);
  filters.depth = depth < UINT32_MAX ? static_cast<uint32_t>(depth) : UINT32_MAX;
  filters.min_ns = ns_of("FATHOM_PYTHON_MIN");
  filters.turns = number_of("FATHOM_PYTHON_TURNS", 0);
}

bool keeps_module(const WordList& list, const char* module) {
  if (module == nullptr) module = "";
  return list.keeps([module](const char* word, size_t length) {
    return matches(word, length, module) || lies_within(word, length, module, '.');
  });
}

bool keeps_path(const char* file) {
  if (filters.paths.empty()) return true;
  if (file == nullptr) file = "";
  const Scratch scratch;
  if (*file != '/' && *file != 0 && *file != '<' && scratch.text() != nullptr) {
    const long length = sys_getcwd(scratch.text(), Scratch::kRoom);
    const size_t more = strlen(file);
    if (length > 1 && static_cast<size_t>(length) + more < Scratch::kRoom) {
      scratch.text()[length - 1] = '/';
      memcpy(scratch.text() + length, file, more + 1);
      file = scratch.text();
    }
  }
  return filters.paths.keeps([file](const char* word, size_t length) {
    return matches(word, length, file) || lies_within(word, length, file, '/');
  });
}

}  // namespace fathom::guest::python
