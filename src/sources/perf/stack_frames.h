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
      : maps_(maps), strings_(strings), kernel_(std::move(kernel)) {}

  // The number of the sample's stack, in this process as it is mapped now; kNull for an empty one.
  std::int64_t stack(std::int32_t pid, const perf::Sample& sample);
  // The same of functions of the kernel, innermost first.
  std::int64_t kernel_stack(const std::vector<std::string>& functions);
  // Another recording follows, which has no stacks yet.
  void begin_anew() { stacks_ = {}; }
  // Stacks of which the outermost frames are missing, since the last time.
  [[nodiscard]] std::uint64_t take_cut() { return std::exchange(cut_, 0); }
  // Frames of the stacks that were new.
  [[nodiscard]] trace::FrameBatch take_new() { return stacks_.take_new(); }

 private:
  void add_kernel_frames(const perf::Words& chain);
  // By frame pointers, as the kernel walked them.
  void follow_pointers(const perf::Words& chain);
  // By call frame information, as far as the copy of the stack goes.
  symbols::UnwindEnd follow_tables(std::int32_t pid, const perf::Sample& sample);
  void choose_deeper(symbols::UnwindEnd end);
  trace::Frame user_frame(std::int32_t pid, std::uint64_t address);
  trace::Frame kernel_frame(std::uint64_t address);

  ProcessMaps& maps_;
  UnwindTables tables_;
  trace::Strings& strings_;
  KernelNames kernel_;
  std::unordered_map<std::uint64_t, std::uint32_t> kernel_codes_;
  trace::StackTable stacks_;
  std::uint64_t cut_ = 0;
  // Of the stack at hand; kept, since their memory costs more than their content.
  std::vector<trace::Frame> frames_;
  std::vector<symbols::UnwoundFrame> by_pointers_;
  std::vector<symbols::UnwoundFrame> by_tables_;
};

}  // namespace fathom::sources
