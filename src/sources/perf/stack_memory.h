// SPDX-License-Identifier: MIT
// What is remembered of stacks while a recording goes on, so that each is told once, and how much
// of that at most: a recursion that takes another path each time, or a JIT that makes functions
// without end, must not fill our memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "trace/rows/samples.h"
#include "trace/rows/strings.h"

namespace fathom::sources {

// How much is remembered.
struct StackLimits {
  std::size_t stacks = std::size_t{1} << 20U;  // with their callers
  std::size_t leaves = std::size_t{1} << 18U;  // beyond that: of the innermost function alone
  std::size_t texts = std::size_t{1} << 19U;
  std::size_t text_bytes = std::size_t{64} << 20U;
};

// One thread at a time.
class StackMemory {
 public:
  StackMemory(trace::Strings& strings, const StackLimits& limits);

  // The number of a stack, `frames` outermost first; kNull where there are none. One for which
  // there is no room is that of its innermost function, or none at all.
  std::int64_t stack(std::span<const trace::Frame> frames);
  // The code of a text; that of "unknown" where there is no room for it.
  std::uint32_t text(std::string_view text);
  // "" becomes NULL.
  std::uint32_t text_or_null(std::string_view text) {
    return text.empty() ? trace::kNoString : this->text(text);
  }
  // Frames of stacks that were new since the last time.
  [[nodiscard]] trace::FrameBatch take_new() { return std::exchange(fresh_, {}); }
  // Another recording follows, which has no stacks yet.
  void begin_anew();

  // Stacks without callers, and frames without a name or a file, for want of room since the last
  // time.
  [[nodiscard]] std::uint64_t take_shortened() { return std::exchange(shortened_, 0); }
  [[nodiscard]] std::uint64_t take_nameless() { return std::exchange(nameless_, 0); }

 private:
  // False: it is not known, and there is no room for it.
  bool remember(std::span<const trace::Frame> frames, std::size_t most, std::int64_t& number);

  trace::Strings& strings_;
  StackLimits limits_;
  std::uint32_t unknown_;
  std::unordered_set<std::int64_t> known_;
  trace::FrameBatch fresh_;
  std::size_t text_bytes_ = 0;
  std::uint64_t shortened_ = 0;
  std::uint64_t nameless_ = 0;
};

}  // namespace fathom::sources
