// SPDX-License-Identifier: MIT
// The interpreter's loop as it was when its thread was sampled. It keeps the frame that it runs in
// a register or on its stack, where the compiler wanted it: all words are candidates. Of the
// registers of an outer function only those that callees give back are true.
#include "sources/perf/python/sampled_loop.h"

namespace fathom::sources {

bool SampledLoop::is_kept_for_caller(std::uint64_t value) const {
  for (std::size_t number = 0; number < symbols::kRegisters; number++)
    if (caller.is_kept(number) && caller.get(number) == value) return true;
  return false;
}

std::vector<SampledWord> words_of(const SampledLoop& loop, const symbols::StackCopy& copy) {
  constexpr std::uint64_t kWord = 8;
  constexpr std::uint64_t kMostWords = 128;
  std::vector<SampledWord> words;
  for (std::size_t number = 0; number < symbols::kRegisters; number++) {
    const std::optional<std::uint64_t> value = loop.registers.get(number);
    const bool is_true = loop.index == 0 || loop.registers.is_kept(number);
    if (value && is_true && *value != 0) words.push_back({number, *value});
  }
  if (loop.end <= loop.begin || loop.end - loop.begin > kMostWords * kWord) return words;
  for (std::uint64_t at = loop.begin; at < loop.end; at += kWord) {
    const std::optional<std::uint64_t> value = copy.word(at);
    if (value && *value != 0)
      words.push_back({SampledWord::kFirstOnStack + (loop.end - at) / kWord, *value});
  }
  return words;
}

}  // namespace fathom::sources
