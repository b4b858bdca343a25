// SPDX-License-Identifier: MIT
// Lines of standard input as they come, with a limit on their length and on the wait for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::cli {

// One thread at a time. Does not own the descriptor. A line that is too long, and the end, are no
// Error; a read that fails is.
class StdinLines {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  static constexpr int kForever = -1;

  explicit StdinLines(int fd = 0) : fd_(fd) {}

  enum class State : std::uint8_t { kLine, kTooLong, kNothingYet, kEnd };
  struct Line {
    State state = State::kEnd;
    std::string_view text;  // without its end; until the next call
  };
  // Waits that long at most. The last line need not have an end.
  Result<Line> next(int wait_ms);

 private:
  Result<bool> read_more(int wait_ms);

  int fd_;
  std::string buffer_;
  std::size_t begin_ = 0;     // of what was not given yet
  std::size_t searched_ = 0;  // there is no line end before
  bool at_end_ = false;
  bool skips_ = false;  // the rest of a line that is too long
};

}  // namespace fathom::cli
