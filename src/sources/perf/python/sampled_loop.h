// SPDX-License-Identifier: MIT
// A C function that ran Python when a thread was sampled: the words that it had in registers and in
// its part of the stack. Among them are its thread, the frame that it ran and the instruction that
// came next, wherever the compiler put them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "symbols/unwind/registers.h"
#include "symbols/unwind/stack_copy.h"

namespace fathom::sources {

// One run of the interpreter's loop on a sampled stack. Its words are read from the copy.
struct SampledLoop {
  std::size_t index = 0;  // in the stack of C functions, 0 is the innermost
  symbols::Registers registers;
  std::uint64_t begin = 0;  // its part of the stack
  std::uint64_t end = 0;
  symbols::Registers caller;  // of the function that called it

  // Whether a word on the stack may be what the loop keeps there for its caller: the caller's frame
  // and instruction are no business of this loop.
  [[nodiscard]] bool is_kept_for_caller(std::uint64_t value) const;
};

// A word, and where the loop had it.
struct SampledWord {
  std::size_t place = 0;  // a register's number, or counted from the end of its part of the stack
  std::uint64_t value = 0;

  static constexpr std::size_t kFirstOnStack = 64;
  [[nodiscard]] bool in_register() const { return place < kFirstOnStack; }
};

// Registers before what lies on the stack.
[[nodiscard]] std::vector<SampledWord> words_of(const SampledLoop& loop,
                                                const symbols::StackCopy& copy);

// Learns where an interpreter has something: a place that had it whenever the truth was known is
// right, one that had an old value again and again is not.
class WordPlaces {
 public:
  void found(std::size_t place) { count(place, &Record::found); }
  // There was another one than the right one.
  void missed(std::size_t place) { count(place, &Record::missed); }
  // There was nothing of the kind at all.
  void looked_in_vain(std::size_t place) { count(place, &Record::vain); }
  // Whether it may be there though what is there is not known yet.
  [[nodiscard]] bool is_worth_a_look(std::size_t place) const {
    constexpr std::uint32_t kEnough = 64;
    return !is_disproven(place) && (found_at(place) > 0 || records_[place].vain < kEnough);
  }
  [[nodiscard]] std::uint32_t found_at(std::size_t place) const {
    return place < records_.size() ? records_[place].found : 0;
  }
  // Whether what is there may be believed.
  [[nodiscard]] bool is_proven(std::size_t place) const {
    constexpr std::uint32_t kEnough = 16;
    return found_at(place) >= kEnough && !misses_often(place);
  }
  // Whether what is there need not be listened to. Of other places nobody knows yet.
  [[nodiscard]] bool is_disproven(std::size_t place) const {
    constexpr std::uint32_t kEnough = 2;
    return place >= records_.size() || (records_[place].missed >= kEnough && misses_often(place));
  }

 private:
  struct Record {
    std::uint32_t found = 0;
    std::uint32_t missed = 0;
    std::uint32_t vain = 0;
  };
  [[nodiscard]] bool misses_often(std::size_t place) const {
    constexpr std::uint32_t kMost = 20;  // one of so many
    return records_[place].missed * kMost > records_[place].found;
  }
  void count(std::size_t place, std::uint32_t Record::*which) {
    constexpr std::uint32_t kMost = 4096;  // older ones count less
    if (place >= records_.size()) return;
    Record& record = records_[place];
    if (++(record.*which) < kMost) return;
    record.found /= 2;
    record.missed /= 2;
    record.vain /= 2;
  }

  static constexpr std::size_t kMostPlaces = 192;
  std::array<Record, kMostPlaces> records_{};
};

// Of one interpreter, as it was compiled.
struct LoopPlaces {
  WordPlaces instruction;  // that comes next
  WordPlaces frame;        // that is run
};

}  // namespace fathom::sources
