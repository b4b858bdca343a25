// SPDX-License-Identifier: MIT
// What of an interpreter's functions is recorded: the settings FATHOM_PYTHON_*. Read once, when the
// interpreter is found; the texts are the environment's own, copied.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace fathom::guest::python {

// Words separated by commas; "-word" leaves out. Empty: everything is meant.
class WordList {
 public:
  void read(const char* variable);
  [[nodiscard]] bool empty() const { return text_[0] == 0; }
  // `meant(word, length)` tells whether a word means the thing that is asked for.
  template <class Meant>
  [[nodiscard]] bool keeps(Meant meant) const {
    bool named = false, any = false;
    for (const char* at = text_; *at != 0;) {
      const char* end = at;
      while (*end != 0 && *end != ',') end++;
      const bool excludes = *at == '-';
      const char* word = excludes ? at + 1 : at;
      const bool means = word < end && meant(word, static_cast<size_t>(end - word));
      if (excludes && means) return false;
      any |= !excludes && word < end;
      named |= !excludes && means;
      at = *end != 0 ? end + 1 : end;
    }
    return named || !any;
  }

 private:
  char text_[4096];
};

struct Filters {
  WordList modules;  // "a" means a and what lies in it; * and ? as in file names
  WordList paths;    // absolute: files at or below
  WordList loops;    // modules
  bool loops_asked;
  bool c_calls;
  uint32_t depth;   // frames inside each other that are recorded
  uint64_t min_ns;  // functions that are shorter are not
  uint64_t turns;   // of a loop, that are events of their own
};
extern Filters filters;

void read_filters();
[[nodiscard]] bool keeps_module(const WordList& list, const char* module);  // nullptr: has no name
[[nodiscard]] bool keeps_path(const char* file);

}  // namespace fathom::guest::python
