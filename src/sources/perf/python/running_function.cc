// SPDX-License-Identifier: MIT
#include "sources/perf/python/running_function.h"

#include <algorithm>
#include <iterator>

namespace fathom::sources {

RunningFunction::RunningFunction(CodeObjects& codes, const WordPlaces& places,
                                 const SampledLoop& loop, const SampledWords& words)
    : places_(places) {
  SampledWords own;
  std::ranges::copy_if(words, std::back_inserter(own), [&loop](const SampledWord& word) {
    return word.in_register() || !loop.is_kept_for_caller(word.value);
  });
  for (const SampledWord& word : own) add(word, codes.with_instruction(word.value));
  if (any_proven()) return;
  // It may be a function that was never read: an old instruction of one that was must not win.
  for (const SampledWord& word : own)
    if (places_.is_proven(word.place)) add(word, codes.search_around(word.value));
}

// What comes next is never a function's first instruction.
void RunningFunction::add(const SampledWord& word, const CodePointer& code) {
  if (code && word.value > code->begin) candidates_.push_back({word.place, {code, word.value}});
}

bool RunningFunction::any_proven() const {
  return std::ranges::any_of(
      candidates_, [this](const Candidate& one) { return places_.is_proven(one.place); });
}

std::optional<RunningFunction::Found> RunningFunction::find(const PythonCode* seen) const {
  const bool is_known = any_proven();
  if (!is_known && seen == nullptr) return std::nullopt;
  const Candidate* best = nullptr;
  for (const Candidate& one : candidates_) {
    if (is_known && !places_.is_proven(one.place)) continue;
    if (best != nullptr && best->found.code->address != one.found.code->address)
      return std::nullopt;
    if (best == nullptr || places_.found_at(one.place) > places_.found_at(best->place))
      best = &one;
  }
  if (best == nullptr || (!is_known && best->found.code->address != seen->address))
    return std::nullopt;
  return best->found;
}

bool RunningFunction::is_possible(const PythonCode* seen) const {
  return seen != nullptr && std::ranges::any_of(candidates_, [seen](const Candidate& one) {
           return one.found.code->address == seen->address;
         });
}

// A frame whose function no word tells of was put there since.
void RunningFunction::learn(const PythonCode* seen, WordPlaces& places) const {
  if (!is_possible(seen)) return;
  for (const Candidate& one : candidates_) {
    const bool is_right = one.found.code->address == seen->address;
    is_right ? places.found(one.place) : places.missed(one.place);
  }
}

}  // namespace fathom::sources
