// SPDX-License-Identifier: MIT
// One line on a terminal that is written over and over; nothing at all where there is no terminal.
#pragma once

#include <cstdint>
#include <string_view>

namespace fathom {

// Not thread-safe: one owner, one thread. The destructor takes the line away.
class Progress {
 public:
  explicit Progress(int fd = 2);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  [[nodiscard]] bool enabled() const { return enabled_; }
  // Whether it is time to show again (10 times a second), so that callers need not build the text
  // in vain.
  [[nodiscard]] bool due() const;
  // Escaped and cut to the width of the terminal.
  void show(std::string_view line);
  void clear();

 private:
  int fd_;
  bool enabled_;
  bool shown_ = false;
  std::int64_t last_ns_ = 0;
};

}  // namespace fathom
