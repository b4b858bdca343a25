// SPDX-License-Identifier: MIT
// Bytes of a terminal into keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::cli::top {

enum class Key : std::uint8_t {
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kEnter,
  kBack,
  kNextTable,
  kNextColumn,
  kPreviousColumn,
  kReverse,
  kPause,
  kHelp,
  kRedraw,
  kQuit,
  kOther,  // means nothing
};

// A sequence may come in pieces. One thread at a time.
class KeyReader {
 public:
  // Keys that are complete.
  std::vector<Key> take(std::string_view bytes);
  // Nothing came for a moment: an escape that stands alone was the key itself.
  std::vector<Key> settle();
  [[nodiscard]] bool waits() const { return !pending_.empty(); }

 private:
  std::string pending_;
};

}  // namespace fathom::cli::top
