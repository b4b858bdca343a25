// SPDX-License-Identifier: MIT
// Functions of Python in the place of the C functions that ran them. The stack of C functions is of
// the moment of the sample; Python's frames were read a little later, when the thread may have gone
// on. What the C functions had in their registers tells which frames are of that moment.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sources/perf/python/frame_reader.h"
#include "sources/perf/python/interpreter_file.h"
#include "sources/perf/python/known_callers.h"
#include "sources/perf/python/sampled_loop.h"

namespace fathom::sources {

// A sample's stack, innermost first.
struct SampledStack {
  std::span<const NativeRole> roles;
  std::span<const SampledLoop> loops;  // the registers of loops, as far as they are known
  symbols::StackCopy copy;
  bool whole = false;  // no outer function is missing
};

struct MergedFrame {
  std::size_t native = 0;  // an index of the C functions,
  CodePointer code;        // or, where this is set, a function of Python
  int line = 0;
};

// For one sample.
class StackMerge {
 public:
  StackMerge(FrameReader& reader, CodeObjects& codes, LoopPlaces& places,
             const KnownCallers& callers, const PythonStack& live);

  [[nodiscard]] std::vector<MergedFrame> merge(const SampledStack& stack);

 private:
  // Frames of Python that one C function runs.
  struct Entry {
    std::size_t begin = 0;  // in live_
    std::size_t end = 0;
  };
  using Words = std::vector<SampledWord>;

  [[nodiscard]] bool add_loop(std::span<const SampledLoop> loops, const symbols::StackCopy& copy);
  [[nodiscard]] bool add_next_entry();
  void add_rest(const SampledStack& stack);
  void drop_helpers(std::span<const NativeRole> roles, std::size_t end);

  [[nodiscard]] std::optional<Entry> entry_of(const SampledLoop& loop, const Words& words) const;
  [[nodiscard]] Entry entry_at(std::size_t begin) const;
  [[nodiscard]] std::optional<std::size_t> live_frame(const Entry& entry,
                                                      std::uint64_t address) const;
  [[nodiscard]] std::optional<SampledWord> instruction_in(const PythonCode& code,
                                                          const Words& words) const;
  [[nodiscard]] bool add_certain_frames(const Words& words, const std::optional<Entry>& entry);
  [[nodiscard]] bool add_likely_frames(const Words& words, const std::optional<Entry>& entry);
  // The function that ran, by the instruction alone, and where its frame was, if that is known.
  [[nodiscard]] std::optional<PythonFrame> frame_by_instruction(const Words& words);
  [[nodiscard]] std::optional<PythonFrame> frame_of(const Words& words);
  [[nodiscard]] bool add_between(const PythonFrame& outer, const PythonFrame& inner);
  void add_past_entry(const PythonFrame& inner);
  void add_past_callers(const PythonFrame& inner, const Entry& entry);
  [[nodiscard]] std::optional<std::vector<PythonFrame>> past_between(const PythonFrame& outer,
                                                                     const PythonFrame& inner);
  [[nodiscard]] const PythonFrame* known_between(const PythonFrame& outer,
                                                 const PythonFrame& inner) const;
  // Whether the C function has not set up its registers yet, or has given them up.
  [[nodiscard]] bool is_passing(const SampledLoop& loop, const SampledLoop* outer);
  void learn_places(const PythonFrame& frame, const Words& words);
  void add(const CodePointer& code, std::uint64_t instruction);
  void add_live(std::size_t begin, std::size_t end);

  FrameReader& reader_;
  CodeObjects& codes_;
  LoopPlaces& places_;
  const KnownCallers& callers_;
  const PythonStack& live_;
  bool has_anchors_;
  std::size_t next_ = 0;              // of live_: those before are used, or are of another moment
  std::optional<PythonFrame> outer_;  // of the next C function that runs Python, if it is needed
  std::vector<MergedFrame> merged_;
};

}  // namespace fathom::sources
