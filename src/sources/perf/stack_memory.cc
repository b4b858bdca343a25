// SPDX-License-Identifier: MIT
// Stacks that are remembered stay: forgetting them would tell those that come again twice.
#include "sources/perf/stack_memory.h"

#include <iterator>

namespace fathom::sources {

StackMemory::StackMemory(trace::Strings& strings, const StackLimits& limits)
    : strings_(strings), limits_(limits), unknown_(strings.code("unknown")) {}

bool StackMemory::remember(std::span<const trace::Frame> frames, std::size_t most,
                           std::int64_t& number) {
  trace::StackTable one;
  number = one.stack(frames, strings_);
  if (known_.contains(number)) return true;
  if (known_.size() >= most) return false;
  known_.insert(number);
  std::ranges::move(one.take_new().rows, std::back_inserter(fresh_.rows));
  return true;
}

std::int64_t StackMemory::stack(std::span<const trace::Frame> frames) {
  if (frames.empty()) return trace::kNull;
  std::int64_t number = trace::kNull;
  if (remember(frames, limits_.stacks, number)) return number;
  shortened_++;
  const bool has_room = remember(frames.last(1), limits_.stacks + limits_.leaves, number);
  return has_room ? number : trace::kNull;
}

std::uint32_t StackMemory::text(std::string_view text) {
  const std::uint32_t known = strings_.find(text);
  if (known != trace::kNoString) return known;
  if (strings_.size() >= limits_.texts || text_bytes_ + text.size() > limits_.text_bytes) {
    nameless_++;
    return unknown_;
  }
  text_bytes_ += text.size();
  return strings_.code(text);
}

void StackMemory::begin_anew() {
  known_.clear();
  fresh_ = {};
}

}  // namespace fathom::sources
