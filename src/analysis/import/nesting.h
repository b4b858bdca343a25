// SPDX-License-Identifier: MIT
// Depths of calls from their times alone. Foreign traces name a call when it ends, so the depth of
// the first line may hang on the last: all spans go in first, then each thread's depths come out in
// the order in which its spans went in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::analysis {

// Of what may stand inside what, where times of a microsecond cannot tell: an app region holds all,
// stdio holds posix.
enum class NestingRank : std::uint8_t { kApp, kStdio, kPosix };

// One thread of the foreign program. Memory: 24 bytes a span until finish(), 2 afterwards. One
// thread at a time.
class Nesting {
 public:
  void add(std::int64_t begin, std::int64_t dur, NestingRank rank);
  // All spans are in. May be called once.
  void finish();
  // The depth of the span that was added first, then of the second…; 0 when there are no more.
  [[nodiscard]] std::int32_t next();

 private:
  struct Span {
    std::int64_t begin;
    std::int64_t end;
    std::uint32_t order;
    NestingRank rank;
  };
  std::vector<Span> spans_;
  std::vector<std::uint16_t> depths_;
  std::size_t given_ = 0;
};

}  // namespace fathom::analysis
