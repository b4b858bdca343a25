// SPDX-License-Identifier: MIT
// Which function of Python a C function ran when it was sampled. The instruction that came next
// tells: it lies inside of the code of one function. But the compiler put it in a register here and
// on the stack there, and where it was put before, an older one stays behind. So a place is
// believed only when it was right whenever the truth was known, and as long as no other place
// contradicts it but those that were wrong before.
#pragma once

#include <optional>
#include <vector>

#include "sources/perf/python/code_objects.h"
#include "sources/perf/python/sampled_loop.h"

namespace fathom::sources {

using SampledWords = std::vector<SampledWord>;

// For one loop of one sample.
class RunningFunction {
 public:
  RunningFunction(CodeObjects& codes, const WordPlaces& places, const SampledLoop& loop,
                  const SampledWords& words);

  struct Found {
    CodePointer code;
    std::uint64_t next = 0;  // instruction
  };
  // `seen` is the function of a frame that the loop had at hand and that was still run when it was
  // read; nullptr: there is none. None: it is not certain which it was.
  [[nodiscard]] std::optional<Found> find(const PythonCode* seen) const;
  // The next instruction if it was this function; none: no word tells of it.
  [[nodiscard]] std::optional<std::uint64_t> next_in(const PythonCode& code) const;
  // Which places were right.
  void learn(const PythonCode* seen, WordPlaces& places) const;

 private:
  struct Candidate {
    std::size_t place = 0;
    Found found;
  };

  void add(const SampledWord& word, const CodePointer& code);
  [[nodiscard]] bool any_proven() const;
  [[nodiscard]] bool is_possible(const PythonCode* seen) const;

  const WordPlaces& places_;
  SampledWords own_;  // without those that are kept for the caller
  std::vector<Candidate> candidates_;
  std::vector<std::size_t> in_vain_;  // places that were searched
};

}  // namespace fathom::sources
