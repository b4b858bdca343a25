// SPDX-License-Identifier: MIT
// Where the parts of CPython's structures lie, by version. From 3.13 on the interpreter says so
// itself; before that it is the same for all builds of a version on a 64-bit machine, except for
// debug builds, which readers notice: the type of what should be a code object is another.
#pragma once

#include <cstdint>
#include <optional>

#include "sources/perf/python/foreign_memory.h"

namespace fathom::sources {

// How a code object says which line an instruction belongs to.
enum class LineFormat : std::uint8_t {
  kSteps,      // 3.8, 3.9: pairs of steps, co_lnotab
  kRanges,     // 3.10: pairs of a length and a step
  kLocations,  // from 3.11 on
};

// Offsets of one version, in bytes; kNone where it has no such field.
struct PythonLayout {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  int minor = 0;
  LineFormat lines = LineFormat::kLocations;

  // _PyRuntime, interpreters, threads: lists.
  std::uint64_t first_interpreter = 0;
  std::uint64_t next_interpreter = 0;
  std::uint64_t first_thread = 0;
  std::uint64_t next_thread = 0;
  std::uint64_t interpreter_of_thread = 0;
  std::uint64_t native_id = kNone;  // of a thread: its number in the process's own pid namespace
  std::uint64_t top = 0;            // of a thread: its innermost frame, or the record that has it
  std::uint64_t top_in_record = kNone;  // 3.11, 3.12: a record on the C stack for each entry
  std::uint64_t outer_record = 0;       // of that one: the next
  // A frame.
  std::uint64_t outer = 0;
  std::uint64_t code = 0;
  std::uint64_t instruction = 0;
  std::uint64_t variables = kNone;    // from 3.11 on: its variables, behind which the next begins
  std::uint64_t owner = kNone;        // from 3.12 on: 3 and more for those that mark an entry
  std::uint64_t is_entry = kNone;     // 3.11
  bool instruction_is_index = false;  // of bytes or pairs of bytes; else an address
  std::uint64_t index_unit = 1;
  // A code object.
  std::uint64_t file = 0;
  std::uint64_t name = 0;
  std::uint64_t first_line = 0;
  std::uint64_t line_table = 0;
  std::uint64_t bytecode = 0;
  bool bytecode_inside = true;  // else there is the address of a bytes object
  // Any object.
  std::uint64_t type = 8;
  std::uint64_t size = 16;
  std::uint64_t bytes = 32;
  std::uint64_t text_length = 16;
  std::uint64_t text_state = 32;
  std::uint64_t ascii_text = 40;
  std::uint64_t other_text = 56;

  // Frames of several functions share one C function.
  [[nodiscard]] bool marks_entries() const { return minor >= 11; }

  // Of 3.8 to 3.12; none for others.
  static std::optional<PythonLayout> of_version(int minor);
  // From 3.13 on: what the interpreter says at the address of _PyRuntime. None: it says nothing, or
  // what it says makes no sense.
  static std::optional<PythonLayout> read(ForeignMemory& memory, std::uint64_t runtime);
};

}  // namespace fathom::sources
