// SPDX-License-Identifier: MIT
// A C function that ran Python when a thread was sampled: the words that it had in registers and in
// its part of the stack. Among them are its thread, the frame that it ran and the instruction that
// came next, wherever the compiler put them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "symbols/unwind/registers.h"
#include "symbols/unwind/stack_copy.h"

namespace fathom::sources {

struct SampledLoop {
  std::size_t index = 0;  // in the stack of C functions, 0 is the innermost
  symbols::Registers registers;
  std::uint64_t begin = 0;  // its part of the stack
  std::uint64_t end = 0;
};

struct SampledWord {
  std::size_t place = 0;  // a register's number, or counted from the end of its part of the stack
  std::uint64_t value = 0;

  static constexpr std::size_t kFirstOnStack = 64;
  [[nodiscard]] bool in_register() const { return place < kFirstOnStack; }
};

// Registers before what lies on the stack.
[[nodiscard]] std::vector<SampledWord> words_of(const SampledLoop& loop,
                                                const symbols::StackCopy& copy);

// Learns where an interpreter has something: where it was found when it was certain.
class WordPlaces {
 public:
  void found(std::size_t place) {
    constexpr std::uint32_t kMostVotes = 1024;
    if (place < votes_.size() && votes_[place] < kMostVotes) votes_[place]++;
    if (place < votes_.size()) most_ = std::max(most_, votes_[place]);
  }
  // It was not there: an old value that was right for a long time is found out.
  void missed(std::size_t place) {
    if (votes(place) == 0) return;
    votes_[place] /= 2;
    most_ = *std::ranges::max_element(votes_);
  }
  // How good a place is; 0 for one that is not known.
  [[nodiscard]] std::uint32_t votes(std::size_t place) const {
    return place < votes_.size() ? votes_[place] : 0;
  }
  // Whether it may be there: as long as nothing is known, anywhere.
  [[nodiscard]] bool is_likely(std::size_t place) const {
    return !knows() || votes(place) >= most_ - most_ / 2;
  }
  [[nodiscard]] bool is_best(std::size_t place) const { return knows() && votes(place) == most_; }
  [[nodiscard]] bool knows() const {
    constexpr std::uint32_t kEnough = 8;
    return most_ >= kEnough;
  }

 private:
  static constexpr std::size_t kMost = 192;
  std::array<std::uint32_t, kMost> votes_{};
  std::uint32_t most_ = 0;
};

// Of one interpreter, as it was compiled.
struct LoopPlaces {
  WordPlaces instruction;  // that comes next
  WordPlaces frame;        // that is run
};

}  // namespace fathom::sources
