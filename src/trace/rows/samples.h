// SPDX-License-Identifier: MIT
// Rows of `samples` and `frames`: call stacks that somebody took. A stack is named by a number made
// of its content, so that equal stacks of several recordings bear one name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/rows/batch.h"
#include "trace/rows/strings.h"

namespace fathom::trace {

// Events of layer cpu: a thread ran; it was off the CPU.
inline constexpr std::string_view kOnCpu = "cpu-clock";
inline constexpr std::string_view kOffCpu = "off-cpu";

// A thread was seen with a stack, once or for `weight`.
struct SampleRow {
  std::int64_t ts = 0;
  std::int32_t pid = kNull32;
  std::int32_t tid = kNull32;
  std::int32_t cpu = kNull32;
  std::uint32_t event = kNoString;
  std::uint32_t host = kNoString;  // kNoString: the manifest's
  std::int64_t weight = 0;
  std::int64_t stack = kNull;
  std::int64_t ready = kNull;  // of a stretch off the CPU: ns in which the thread could have run
};

struct SampleBatch {
  std::vector<SampleRow> rows;
  void sort();  // by (pid, tid, ts)
};

// One function of a stack, or a place in a file of which the function is not known yet.
struct Frame {
  std::uint32_t function = kNoString;
  std::uint32_t module = kNoString;
  std::uint32_t file = kNoString;
  std::int32_t line = kNull32;
  std::uint32_t build_id = kNoString;  // of the module; hexadecimal
  std::int64_t offset = kNull;         // in the module's file,
  std::int64_t address = kNull;        // and as the file numbers its code

  // Whether the module's symbols are to tell what it is.
  [[nodiscard]] bool is_place() const {
    return function == kNoString && module != kNoString && offset != kNull;
  }
};

// One frame of a stack, by the number that samples name it by.
struct FrameRow {
  std::int64_t stack = 0;
  std::int32_t depth = 0;  // 0 is the outermost function
  Frame frame;
};

struct FrameBatch {
  std::vector<FrameRow> rows;  // a stack's own stand behind each other, outermost first
};

// Every stack once, with its frames. One thread at a time.
class StackTable {
 public:
  // `frames` outermost first; kNull where there are none.
  std::int64_t stack(std::span<const Frame> frames, const Strings& strings);
  // Frames of stacks that were new since the last time, as codes of the strings they came with.
  [[nodiscard]] FrameBatch take_new() { return std::exchange(frames_, {}); }
  [[nodiscard]] const FrameBatch& frames() const { return frames_; }

 private:
  std::unordered_set<std::int64_t> known_;
  FrameBatch frames_;
};

}  // namespace fathom::trace
