// SPDX-License-Identifier: MIT
// A chain of addresses as frames: which file each lies in, and where.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "perf/records.h"
#include "sources/perf/jit_names.h"
#include "sources/perf/joined_stack.h"
#include "sources/perf/process_maps.h"
#include "sources/perf/python/python_frames.h"
#include "sources/perf/stack_memory.h"
#include "sources/perf/unwind_tables.h"
#include "trace/rows/samples.h"
#include "trace/rows/strings.h"

namespace fathom::sources {

inline constexpr char kKernelModule[] = "[kernel]";
inline constexpr char kCompiledModule[] = "[jit]";

// The function of the kernel at an address; "" where it is not known.
using KernelNames = std::function<std::string(std::uint64_t address)>;

// One thread at a time.
class StackFrames {
 public:
  StackFrames(ProcessMaps& maps, trace::Strings& strings, KernelNames kernel,
              const StackLimits& limits = {});

  // The number of the sample's stack, in this process as it is mapped now; kNull for an empty one.
  std::int64_t stack(const perf::SampleId& id, const perf::Sample& sample);
  // The same of functions of the kernel, innermost first. `user` is the function of the program's
  // libraries that called them; "": that is not known.
  std::int64_t kernel_stack(const std::vector<std::string>& functions,
                            const std::string& user = "");
  // Another recording follows, which has no stacks yet.
  void begin_anew();
  // Of code that processes make at run time.
  [[nodiscard]] JitNames& jit() { return jit_; }
  [[nodiscard]] PythonFrames& python() { return python_; }
  [[nodiscard]] const PythonFrames& python() const { return python_; }
  // Stacks of which the outermost frames are missing, since the last time.
  [[nodiscard]] std::uint64_t take_cut() { return std::exchange(cut_, 0); }
  // Frames of code that was made at run time and of which nobody told the name.
  [[nodiscard]] std::uint64_t take_unnamed() { return std::exchange(unnamed_, 0); }
  // Frames of files of which nobody can tell later which they are.
  [[nodiscard]] std::uint64_t take_replaced() { return std::exchange(replaced_, 0); }
  // What is remembered of stacks.
  [[nodiscard]] StackMemory& memory() { return memory_; }
  // Frames of the stacks that were new. A stack with code of which a process may still tell what it
  // is comes later.
  [[nodiscard]] trace::FrameBatch take_new();

 private:
  void add_kernel_frames(const perf::Words& chain);
  // By frame pointers, as the kernel walked them.
  void follow_pointers(const perf::Words& chain);
  // By call frame information, as far as the copy of the stack goes.
  symbols::UnwindEnd follow_tables(std::int32_t pid, const perf::Sample& sample,
                                   const PythonProcess* python);
  [[nodiscard]] bool is_between_programs(const perf::Sample& sample);
  std::span<const trace::Frame> outermost_first();
  // Gives back whether there were any.
  bool drop_strays(std::int32_t pid);
  void tell_of_missing(symbols::UnwindEnd end, std::int32_t pid, bool chain_is_full,
                       const perf::Sample& sample);
  [[nodiscard]] bool is_cut(symbols::UnwindEnd end, std::int32_t pid, bool chain_is_full);
  void note_loop(const symbols::UnwoundFrame& frame, const symbols::Registers& registers,
                 const PythonProcess& python);
  // Returns whether functions of Python were added.
  bool add_python_frames(const perf::SampleId& id, PythonProcess& python, bool whole);
  trace::Frame python_frame(const MergedFrame& frame);
  trace::Frame user_frame(std::int32_t pid, std::uint64_t address, std::uint64_t time);
  trace::Frame compiled_frame(std::int32_t pid, std::uint64_t address, std::uint64_t time);
  trace::Frame frame_of(const JitNames::Answer& answer);
  [[nodiscard]] bool waits(const trace::Frame& frame) const {
    return frame.module == jit_module_ && frame.function == trace::kNoString;
  }
  // Names the frames of a stack that wait; false: not all of them can be named yet.
  bool name_waiting(std::span<trace::FrameRow> stack);
  trace::Frame kernel_frame(std::uint64_t address);

  ProcessMaps& maps_;
  UnwindTables tables_;
  PythonFrames python_;
  trace::Strings& strings_;
  KernelNames kernel_;
  std::unordered_map<std::uint64_t, std::uint32_t> kernel_codes_;
  JitNames jit_;
  std::uint32_t jit_module_;
  StackMemory memory_;
  trace::FrameBatch held_;    // of stacks with frames that wait,
  std::int64_t held_ns_ = 0;  // since then
  std::uint64_t unnamed_ = 0;
  std::uint64_t replaced_ = 0;
  std::size_t most_in_chain_;  // that the kernel walks
  std::uint64_t cut_ = 0;
  // Of the stack at hand; kept, since their memory costs more than their content.
  std::vector<trace::Frame> frames_;
  UnwoundStack by_pointers_;
  UnwoundStack by_tables_;
  symbols::StackCopy copy_;
  std::vector<SampledLoop> loops_;  // of by_tables_
  std::vector<NativeRole> roles_;
};

}  // namespace fathom::sources
