// SPDX-License-Identifier: MIT
// A chain of addresses as frames: which file each lies in, and where.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "perf/records.h"
#include "sources/perf/process_maps.h"
#include "sources/perf/python/python_frames.h"
#include "sources/perf/unwind_tables.h"
#include "trace/rows/samples.h"
#include "trace/rows/strings.h"

namespace fathom::sources {

inline constexpr char kKernelModule[] = "[kernel]";

// The function of the kernel at an address; "" where it is not known.
using KernelNames = std::function<std::string(std::uint64_t address)>;

// One thread at a time.
class StackFrames {
 public:
  StackFrames(ProcessMaps& maps, trace::Strings& strings, KernelNames kernel)
      : maps_(maps), python_(maps), strings_(strings), kernel_(std::move(kernel)) {}

  // The number of the sample's stack, in this process as it is mapped now; kNull for an empty one.
  std::int64_t stack(std::int32_t pid, std::int32_t tid, const perf::Sample& sample);
  // Stacks of which the outermost frames are missing, since the last time.
  [[nodiscard]] std::uint64_t take_cut() { return std::exchange(cut_, 0); }
  [[nodiscard]] PythonFrames& python() { return python_; }
  [[nodiscard]] const PythonFrames& python() const { return python_; }
  // Frames of the stacks that were new.
  [[nodiscard]] trace::FrameBatch take_new() { return stacks_.take_new(); }

 private:
  void add_kernel_frames(const perf::Words& chain);
  // By frame pointers, as the kernel walked them.
  void follow_pointers(const perf::Words& chain);
  // By call frame information, as far as the copy of the stack goes.
  symbols::UnwindEnd follow_tables(std::int32_t pid, const perf::Sample& sample,
                                   const PythonProcess* python);
  // Returns whether outer frames are missing.
  bool choose_deeper(symbols::UnwindEnd end);
  void note_loop(const symbols::UnwoundFrame& frame, const symbols::Registers& registers,
                 const PythonProcess& python);
  // Returns whether functions of Python were added.
  bool add_python_frames(std::int32_t pid, std::int32_t tid, PythonProcess& python, bool whole);
  trace::Frame python_frame(const MergedFrame& frame);
  trace::Frame user_frame(std::int32_t pid, std::uint64_t address);
  trace::Frame kernel_frame(std::uint64_t address);

  ProcessMaps& maps_;
  UnwindTables tables_;
  PythonFrames python_;
  trace::Strings& strings_;
  KernelNames kernel_;
  std::unordered_map<std::uint64_t, std::uint32_t> kernel_codes_;
  trace::StackTable stacks_;
  std::uint64_t cut_ = 0;
  // Of the stack at hand; kept, since their memory costs more than their content.
  std::vector<trace::Frame> frames_;
  std::vector<symbols::UnwoundFrame> by_pointers_;
  std::vector<symbols::UnwoundFrame> by_tables_;
  symbols::StackCopy copy_;
  std::vector<SampledLoop> loops_;  // of by_tables_
  std::vector<NativeRole> roles_;
};

}  // namespace fathom::sources
