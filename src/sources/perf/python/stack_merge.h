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
#include "sources/perf/python/running_function.h"
#include "sources/perf/python/sampled_loop.h"

namespace fathom::sources {

// A sample's stack, innermost first.
struct SampledStack {
  std::span<const NativeRole> roles;
  std::span<const SampledLoop> loops;  // the registers of loops, as far as they are known
  symbols::StackCopy copy;
  bool whole = false;  // no outer function is missing
};

// A frame of either kind.
struct MergedFrame {
  std::size_t native = 0;  // an index of the C functions,
  CodePointer code;        // or, where this is set, a function of Python
  int line = 0;
};

// For one sample.
class StackMerge {
 public:
  StackMerge(FrameReader& reader, CodeObjects& codes, LoopPlaces& places, const PythonStack& live);

  [[nodiscard]] std::vector<MergedFrame> merge(const SampledStack& stack);
  // Whether a C function stands there of which it is not certain what it ran.
  [[nodiscard]] bool is_uncertain() const { return is_uncertain_; }

 private:
  // Frames of Python that one C function runs.
  struct Entry {
    std::size_t begin = 0;  // in live_
    std::size_t end = 0;
  };
  using Words = SampledWords;

  [[nodiscard]] bool add_loop(const SampledLoop& loop, const SampledLoop* outer,
                              const symbols::StackCopy& copy);
  [[nodiscard]] bool add_next_entry();
  void add_rest(const SampledStack& stack);
  void drop_helpers(std::span<const NativeRole> roles, std::size_t end);

  [[nodiscard]] std::optional<Entry> entry_of(const SampledLoop& loop, const Words& words) const;
  [[nodiscard]] Entry entry_at(std::size_t begin) const;
  [[nodiscard]] std::optional<std::size_t> live_frame(const Entry& entry,
                                                      std::uint64_t address) const;
  // The frame of an entry that a C function had at hand.
  [[nodiscard]] const PythonFrame* seen_frame(const SampledLoop& loop, const Words& words,
                                              const Entry& entry) const;
  [[nodiscard]] std::optional<std::size_t> live_frame_of(const PythonCode& code, const Words& words,
                                                         const Entry& entry) const;
  // The frame of a function that has ended since, if it still lies there.
  [[nodiscard]] std::optional<FrameReader::Found> past_frame_of(const PythonCode& code,
                                                                const Words& words);
  // Before 3.11: a C function runs one frame, an object that outlives the call.
  [[nodiscard]] std::optional<RunningFunction::Found> find_by_frame(const RunningFunction& running,
                                                                    const SampledLoop& loop,
                                                                    const Words& words);
  void add_callers(const RunningFunction::Found& ran, const SampledLoop& loop, const Words& words,
                   const std::optional<Entry>& entry);
  [[nodiscard]] std::uint64_t frame_address(const Words& words) const;
  // Functions that run for so long that they must have called, by any way, the one whose frame was
  // there.
  void add_lasting(const Entry& entry, std::uint64_t inner);
  // Callers of that frame: functions that run, or ran when the thread was read before.
  [[nodiscard]] bool add_neighbours(const Entry& entry, std::uint64_t inner);
  // By the links of frames that have ended, as far as they lead.
  void add_past_callers(const FrameReader::Found& inner, const SampledLoop& loop,
                        const std::optional<Entry>& entry);
  // Whether the C function has no part of the stack yet, or has given it up.
  [[nodiscard]] static bool is_passing(const SampledLoop& loop);
  [[nodiscard]] bool may_have_callers_registers(const SampledLoop& loop,
                                                const SampledLoop* outer) const;
  void learn_frame_places(const PythonFrame& frame, const Words& words, const Entry& entry);
  void add(const CodePointer& code, std::uint64_t instruction);
  void add_live(std::size_t begin, std::size_t end);

  FrameReader& reader_;
  CodeObjects& codes_;
  LoopPlaces& places_;
  const PythonStack& live_;
  bool has_anchors_;
  std::size_t next_ = 0;  // of live_: those before are used, or are of another moment
  bool is_uncertain_ = false;
  std::vector<MergedFrame> merged_;
};

}  // namespace fathom::sources
