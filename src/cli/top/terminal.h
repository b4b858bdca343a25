// SPDX-License-Identifier: MIT
// The terminal that `fathom top` has to itself: the alternate screen, keys one by one, no cursor.
// It is given back as it was however the program ends, short of SIGKILL: by the destructor, by a
// signal, by a crash, and while the program is stopped (Ctrl-Z).
#pragma once

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "cli/top/keys.h"
#include "cli/top/screen.h"

namespace fathom::cli::top {

// Whether stdin and stdout are a terminal that can be drawn on.
[[nodiscard]] bool has_terminal();

// One per process, one thread at a time.
class Terminal {
 public:
  // From now on signals that would end or stop us come to wait() instead. Before threads are
  // started: theirs must not take the signals.
  static Result<std::unique_ptr<Terminal>> open();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] static ScreenSize size();
  [[nodiscard]] static ScreenStyle style();
  // In place of what was drawn before.
  static Status draw(const std::vector<std::string>& lines);

  struct Happened {
    std::vector<Key> keys;
    bool redraw = false;   // another size, or we were stopped
    int ended_by = 0;      // a signal that asks to end
    bool hung_up = false;  // nobody is at the terminal any more
  };
  // Returns when something happened, or after this time.
  Happened wait(std::int64_t most_ns);

 private:
  explicit Terminal(Fd signals) : signals_(std::move(signals)) {}
  void take_signals(Happened& happened);
  void take_keys(Happened& happened);

  Fd signals_;
  KeyReader keys_;
};

}  // namespace fathom::cli::top
