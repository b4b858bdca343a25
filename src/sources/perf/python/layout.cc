// SPDX-License-Identifier: MIT
// Where fields lie in Python's structures. From 3.13 on the interpreter says so itself
// (_Py_DebugOffsets); before, the numbers are those of offsetof() with each version's own headers,
// which did not change within a version. tests/e2e compares them with the headers of the Pythons
// that are there.
#include "sources/perf/python/layout.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace fathom::sources {
namespace {

// 3.8 to 3.10: every function has a frame object and a C function of its own.
PythonLayout of_frame_objects(int minor) {
  PythonLayout layout;
  layout.minor = minor;
  layout.lines = minor < 10 ? LineFormat::kSteps : LineFormat::kRanges;
  layout.first_interpreter = 32;
  layout.next_interpreter = 0;
  layout.first_thread = 8;
  layout.next_thread = 8;
  layout.interpreter_of_thread = 16;
  layout.top = 24;
  layout.outer = 24;
  layout.code = 32;
  layout.instruction = minor < 10 ? 104 : 96;
  layout.instruction_is_index = true;
  layout.index_unit = minor < 10 ? 1 : 2;
  layout.file = 104;
  layout.name = 112;
  layout.first_line = 40;
  layout.line_table = 120;
  layout.bytecode = 48;
  layout.bytecode_inside = false;
  layout.ascii_text = 48;
  layout.other_text = 72;
  return layout;
}

PythonLayout of_3_11() {
  PythonLayout layout;
  layout.minor = 11;
  layout.first_interpreter = 40;
  layout.next_interpreter = 0;
  layout.first_thread = 16;
  layout.next_thread = 8;
  layout.interpreter_of_thread = 16;
  layout.native_id = 160;
  layout.top = 56;
  layout.top_in_record = 8;
  layout.outer_record = 16;
  layout.outer = 48;
  layout.code = 32;
  layout.instruction = 56;
  layout.variables = 72;
  layout.is_entry = 68;
  layout.file = 112;
  layout.name = 128;
  layout.first_line = 72;
  layout.line_table = 136;
  layout.bytecode = 184;
  layout.ascii_text = 48;
  layout.other_text = 72;
  return layout;
}

PythonLayout of_3_12() {
  PythonLayout layout;
  layout.minor = 12;
  layout.first_interpreter = 40;
  layout.next_interpreter = 0;
  layout.first_thread = 72;
  layout.next_thread = 8;
  layout.interpreter_of_thread = 16;
  layout.native_id = 144;
  layout.top = 56;
  layout.top_in_record = 0;
  layout.outer_record = 8;
  layout.outer = 8;
  layout.code = 0;
  layout.instruction = 56;
  layout.variables = 72;
  layout.owner = 70;
  layout.file = 112;
  layout.name = 128;
  layout.first_line = 68;
  layout.line_table = 136;
  layout.bytecode = 192;
  return layout;
}

// What the interpreter says of itself: groups of 64-bit numbers, one behind the other. A version
// adds numbers to groups, and groups.
class DebugOffsets {
 public:
  enum Group : std::uint8_t {
    kRuntime,
    kInterpreter,
    kThread,
    kFrame,
    kCode,
    kObject,
    kType,
    kTuple,
    kList,
    kSet,
    kDict,
    kFloat,
    kLong,
    kBytes,
    kText,
    kGroups,
  };

  static std::optional<DebugOffsets> read(ForeignMemory& memory, std::uint64_t runtime) {
    DebugOffsets offsets;
    if (!memory.read(runtime, std::as_writable_bytes(std::span(offsets.words_)))) return {};
    constexpr char kCookie[] = "xdebugpy";
    if (std::memcmp(offsets.words_.data(), kCookie, sizeof kCookie - 1) != 0) return {};
    const std::uint64_t version = offsets.words_[1];
    if (version >> 24U != 3) return {};
    offsets.minor_ = static_cast<int>((version >> 16U) & 255U);
    if (offsets.minor_ < 13 || offsets.minor_ > 14) return {};
    return offsets;
  }

  [[nodiscard]] int minor() const { return minor_; }
  [[nodiscard]] std::uint64_t at(Group group, std::size_t index) const {
    constexpr std::size_t kHeader = 3;
    std::size_t begin = kHeader;
    for (int before = 0; before < group; before++) begin += size_of(static_cast<Group>(before));
    return words_[begin + index];
  }

 private:
  [[nodiscard]] std::size_t size_of(Group group) const {
    constexpr std::array<std::uint8_t, kGroups> k13 = {3, 13, 9, 6, 10, 2, 4, 3,
                                                       3, 0,  3, 2, 3,  3, 4};
    constexpr std::array<std::uint8_t, kGroups> k14 = {3, 16, 9, 8, 11, 2, 4, 3,
                                                       3, 4,  3, 2, 3,  3, 4};
    return minor_ == 13 ? k13[group] : k14[group];
  }

  static constexpr std::size_t kWords = 96;
  std::array<std::uint64_t, kWords> words_{};
  int minor_ = 0;
};

// Offsets of small structures are small.
// What an interpreter says of itself is read from its memory, which may hold anything.
bool makes_sense(const PythonLayout& layout) {
  constexpr std::uint64_t kMostRuntime = std::uint64_t{1} << 24U;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 16U;
  const std::uint64_t large[] = {layout.first_interpreter, layout.next_interpreter,
                                 layout.first_thread};
  const std::uint64_t small[] = {layout.next_thread, layout.interpreter_of_thread,
                                 layout.native_id,   layout.top,
                                 layout.outer,       layout.code,
                                 layout.owner,       layout.instruction,
                                 layout.file,        layout.name,
                                 layout.first_line,  layout.line_table,
                                 layout.bytecode,    layout.type,
                                 layout.size,        layout.bytes,
                                 layout.text_length, layout.text_state,
                                 layout.ascii_text,  layout.variables};
  return std::ranges::all_of(large, [](std::uint64_t one) { return one < kMostRuntime; }) &&
         std::ranges::all_of(small, [](std::uint64_t one) { return one < kMost; });
}

}  // namespace

std::optional<PythonLayout> PythonLayout::of_version(int minor) {
  if (minor >= 8 && minor <= 10) return of_frame_objects(minor);
  if (minor == 11) return of_3_11();
  if (minor == 12) return of_3_12();
  return std::nullopt;
}

std::optional<PythonLayout> PythonLayout::read(ForeignMemory& memory, std::uint64_t runtime) {
  const std::optional<DebugOffsets> said = DebugOffsets::read(memory, runtime);
  if (!said) return std::nullopt;
  using Said = DebugOffsets;
  constexpr std::uint64_t kSizesOfUtf8 = 16;  // its length and its address, before other texts
  PythonLayout layout;
  layout.minor = said->minor();
  layout.first_interpreter = said->at(Said::kRuntime, 2);
  layout.next_interpreter = said->at(Said::kInterpreter, 2);
  layout.first_thread = said->at(Said::kInterpreter, 3);
  layout.next_thread = said->at(Said::kThread, 2);
  layout.interpreter_of_thread = said->at(Said::kThread, 3);
  layout.top = said->at(Said::kThread, 4);
  layout.native_id = said->at(Said::kThread, 6);
  layout.outer = said->at(Said::kFrame, 1);
  layout.code = said->at(Said::kFrame, 2);
  layout.instruction = said->at(Said::kFrame, 3);
  layout.variables = said->at(Said::kFrame, 4);
  layout.owner = said->at(Said::kFrame, 5);
  layout.file = said->at(Said::kCode, 1);
  layout.name = said->at(Said::kCode, 3);
  layout.line_table = said->at(Said::kCode, 4);
  layout.first_line = said->at(Said::kCode, 5);
  layout.bytecode = said->at(Said::kCode, 9);
  layout.type = said->at(Said::kObject, 1);
  layout.size = said->at(Said::kBytes, 1);
  layout.bytes = said->at(Said::kBytes, 2);
  layout.text_state = said->at(Said::kText, 1);
  layout.text_length = said->at(Said::kText, 2);
  layout.ascii_text = said->at(Said::kText, 3);
  layout.other_text = layout.ascii_text + kSizesOfUtf8;
  return makes_sense(layout) ? std::optional(layout) : std::nullopt;
}

}  // namespace fathom::sources
