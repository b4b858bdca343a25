// SPDX-License-Identifier: MIT
// Looks up what each register and stack word points to, and chooses by the score of its place.
// WordPlaces keeps the scores; code_objects.h finds the functions.
#include "sources/perf/python/running_function.h"

#include <algorithm>
#include <iterator>

namespace fathom::sources {

RunningFunction::RunningFunction(CodeObjects& codes, const WordPlaces& places,
                                 const SampledLoop& loop, const SampledWords& words)
    : places_(places) {
  std::ranges::copy_if(words, std::back_inserter(own_), [&loop](const SampledWord& word) {
    return word.in_register() || !loop.is_kept_for_caller(word.value);
  });
  for (const SampledWord& word : own_) {
    CodePointer code = codes.with_instruction(word.value);
    // It may be a function that was never read: an old instruction of one that was must not win.
    if (!code && places_.is_worth_a_look(word.place)) {
      code = codes.search_around(word.value);
      if (!code) in_vain_.push_back(word.place);
    }
    add(word, code);
  }
}

// What comes next is never a function's first instruction.
void RunningFunction::add(const SampledWord& word, const CodePointer& code) {
  if (code && word.value > code->begin) candidates_.push_back({word.place, {code, word.value}});
}

bool RunningFunction::any_proven() const {
  return std::ranges::any_of(candidates_,
                             [this](const Candidate& one) { return places_.is_proven(one.place); });
}

std::optional<RunningFunction::Found> RunningFunction::find(const PythonCode* seen) const {
  const Candidate* best = nullptr;
  for (const Candidate& one : candidates_) {
    if (places_.is_disproven(one.place)) continue;
    if (best != nullptr && best->found.code->address != one.found.code->address)
      return std::nullopt;
    if (best == nullptr || places_.found_at(one.place) > places_.found_at(best->place)) best = &one;
  }
  if (best == nullptr) return std::nullopt;
  const bool is_seen = seen != nullptr && best->found.code->address == seen->address;
  return is_seen || any_proven() ? std::optional(best->found) : std::nullopt;
}

// Before 3.11, functions that do the same share their instructions, so these do not tell which it
// is. But a place that is believed tells that it was none of the others, whose frame may have been
// put there since, and whose old instructions lie around.
std::optional<std::uint64_t> RunningFunction::next_in(const PythonCode& code) const {
  const auto is_inside = [&code](std::uint64_t next) {
    return next > code.begin && next <= code.end;
  };
  const auto contradicts = [&](const Candidate& one) {
    return places_.is_proven(one.place) && !is_inside(one.found.next);
  };
  if (std::ranges::any_of(candidates_, contradicts)) return std::nullopt;
  const SampledWord* best = nullptr;
  for (const SampledWord& word : own_) {
    if (!is_inside(word.value) || places_.is_disproven(word.place)) continue;
    if (best == nullptr || places_.found_at(word.place) > places_.found_at(best->place))
      best = &word;
  }
  return best != nullptr ? std::optional(best->value) : std::nullopt;
}

bool RunningFunction::is_possible(const PythonCode* seen) const {
  return seen != nullptr && std::ranges::any_of(candidates_, [seen](const Candidate& one) {
           return one.found.code->address == seen->address;
         });
}

// A frame whose function no word tells of was put there since.
void RunningFunction::learn(const PythonCode* seen, WordPlaces& places) const {
  for (const std::size_t place : in_vain_) places.looked_in_vain(place);
  if (!is_possible(seen)) return;
  for (const Candidate& one : candidates_) {
    const bool is_right = one.found.code->address == seen->address;
    is_right ? places.found(one.place) : places.missed(one.place);
  }
}

}  // namespace fathom::sources
