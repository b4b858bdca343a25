// SPDX-License-Identifier: MIT
// How often a test kills somebody: a few times in CI, hundreds of times with FATHOM_FULL.
#pragma once

#include <cstdlib>

namespace fathom::fleet::testing {

inline int rounds(int few) {
  constexpr int kTimes = 40;
  return std::getenv("FATHOM_FULL") != nullptr
             ? kTimes * few
             : few;  // NOLINT(concurrency-mt-unsafe : nobody sets it)
}

}  // namespace fathom::fleet::testing
