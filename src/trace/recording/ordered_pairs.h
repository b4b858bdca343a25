// SPDX-License-Identifier: MIT
// Pairs of two ordered lists that never cross: who comes first in one list comes first in the
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::trace {

// The numbers of two that may belong together, and how much speaks for it.
struct Candidate {
  std::size_t left = 0;
  std::size_t right = 0;
  std::int64_t weight = 0;
};

// As many pairs as possible; of several such choices the one with the largest sum of weights.
// `candidates` are in order of `left`. So is the answer, in which no number stands twice.
[[nodiscard]] std::vector<Candidate> ordered_pairs(const std::vector<Candidate>& candidates);

}  // namespace fathom::trace
