// SPDX-License-Identifier: MIT
// What src/sources/perf/python/layout.cc says of the version that is asked for.
#include <cstdio>
#include <cstdlib>

#include "sources/perf/python/layout.h"

int main(int /*count*/, char** words) {
  const auto layout = fathom::sources::PythonLayout::of_version(std::atoi(words[1]));
  if (!layout) return 1;
  const auto say = [](const char* name, std::uint64_t offset) {
    if (offset != fathom::sources::PythonLayout::kNone)
      std::printf("%s %llu\n", name, static_cast<unsigned long long>(offset));
  };
#define SAY(name) say(#name, layout->name)
  SAY(first_interpreter), SAY(next_interpreter), SAY(first_thread), SAY(next_thread);
  SAY(interpreter_of_thread), SAY(native_id), SAY(top), SAY(top_in_record);
  if (layout->top_in_record != layout->kNone) SAY(outer_record);
  SAY(outer), SAY(code), SAY(instruction), SAY(variables), SAY(owner), SAY(is_entry);
  SAY(file), SAY(name), SAY(first_line), SAY(line_table), SAY(bytecode), SAY(type), SAY(size);
  SAY(bytes), SAY(text_length), SAY(text_state), SAY(ascii_text), SAY(other_text);
  return 0;
}
