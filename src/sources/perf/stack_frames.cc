// SPDX-License-Identifier: MIT
// A frame that called another bears the address that it will return to, which is that of the next
// instruction: it may be of another line, and even of the next function. One byte less is inside of
// the call.
#include "sources/perf/stack_frames.h"

#include <linux/perf_event.h>

#include <algorithm>

namespace fathom::sources {

using trace::Frame;

Frame StackFrames::kernel_frame(std::uint64_t address) {
  const auto [place, is_new] = kernel_codes_.try_emplace(address, trace::kNoString);
  if (is_new) {
    const std::string name = kernel_ ? kernel_(address) : std::string();
    place->second = strings_.code(name.empty() ? kKernelModule : name);
  }
  Frame frame;
  frame.function = place->second;
  frame.module = strings_.code(kKernelModule);
  return frame;
}

Frame StackFrames::user_frame(std::int32_t pid, std::uint64_t address, bool is_return) {
  Frame frame;
  const std::optional<ProcessMaps::Place> place = maps_.find(pid, is_return ? address - 1 : address);
  if (!place) {
    frame.function = strings_.code("unknown");
    return frame;
  }
  frame.module = strings_.code(place->module->path);
  frame.build_id = strings_.code_or_null(place->module->build_id);
  frame.offset = static_cast<std::int64_t>(place->offset);
  return frame;
}

std::int64_t StackFrames::stack(std::int32_t pid, const perf::Words& chain) {
  frames_.clear();
  std::uint64_t context = PERF_CONTEXT_USER;
  bool first = true;  // of its context: the instruction itself
  for (std::size_t i = 0; i < chain.size(); i++) {
    const std::uint64_t address = chain[i];
    if (address >= PERF_CONTEXT_MAX) {
      context = address;
      first = true;
      continue;
    }
    if (context == PERF_CONTEXT_KERNEL) {
      frames_.push_back(kernel_frame(address));
    } else if (context == PERF_CONTEXT_USER) {
      frames_.push_back(user_frame(pid, address, !first));
    }
    first = false;
  }
  std::ranges::reverse(frames_);
  return stacks_.stack(frames_, strings_);
}

}  // namespace fathom::sources
