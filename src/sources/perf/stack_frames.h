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
#include "trace/rows/samples.h"
#include "trace/rows/strings.h"

namespace fathom::sources {

inline constexpr char kKernelModule[] = "[kernel]";

// The function of the kernel at an address; "" where it is not known.
using KernelNames = std::function<std::string(std::uint64_t address)>;

// One thread at a time.
class StackFrames {
 public:
  StackFrames(const ProcessMaps& maps, trace::Strings& strings, KernelNames kernel)
      : maps_(maps), strings_(strings), kernel_(std::move(kernel)) {}

  // The number of a chain of this process, as it is mapped now; kNull for an empty one.
  std::int64_t stack(std::int32_t pid, const perf::Words& chain);
  // Frames of the stacks that were new.
  [[nodiscard]] trace::FrameBatch take_new() { return stacks_.take_new(); }

 private:
  trace::Frame user_frame(std::int32_t pid, std::uint64_t address, bool is_return);
  trace::Frame kernel_frame(std::uint64_t address);

  const ProcessMaps& maps_;
  trace::Strings& strings_;
  KernelNames kernel_;
  std::unordered_map<std::uint64_t, std::uint32_t> kernel_codes_;
  trace::StackTable stacks_;
  std::vector<trace::Frame> frames_;  // kept, since its memory costs more than its content
};

}  // namespace fathom::sources
