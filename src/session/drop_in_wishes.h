// SPDX-License-Identifier: MIT
// What processes of this user want of the collectors of a run: where files of another tool go. They
// say so in a place that nobody else can write to (wire/drop_in.h), about one spool: what lies in
// the spool itself may be anybody's words, and a copy of the spool is another one.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::session {

// One thread at a time. What cannot be read is no wish: nothing here fails.
class DropInWishes {
 public:
  DropInWishes() = default;  // none
  // Of the spool in this recording. None where there is no spool, or not one of this user alone.
  static DropInWishes of(const std::string& directory);

  [[nodiscard]] bool any() const { return !wishes_.empty(); }
  // Whether the run is for such files alone: it may go when they are written.
  [[nodiscard]] bool hidden() const;
  // Whether a process wants the files of this drop-in there. What was told meanwhile is read first.
  [[nodiscard]] bool holds(std::string_view drop_in, std::string_view log);

  // A file beside the wishes, for what a successor needs to know; "" where there are none.
  [[nodiscard]] std::string path_for(std::string_view name) const;
  // The run is over: the wishes and the files beside them go.
  void remove() const;

 private:
  void read();
  std::string stem_;  // of the paths; "": nowhere
  std::set<std::string, std::less<>> wishes_;
};

}  // namespace fathom::session
