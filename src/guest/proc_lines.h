// SPDX-License-Identifier: MIT
// A file of /proc, line by line, without the heap. A line that is longer than the room comes in
// pieces.
#pragma once

#include <string.h>

#include "guest/scratch.h"
#include "guest/syscalls.h"

namespace fathom::guest {

// One thread. Holds a Scratch and a descriptor while it lives; where either cannot be had there are
// no lines, and nobody is told why.
class ProcLines {
 public:
  explicit ProcLines(const char* path) : fd_(sys_openat(AT_FDCWD, path, O_RDONLY, 0)) {
    if (room_.text() != nullptr) room_.text()[0] = 0;
    next_ = room_.text();
  }
  ~ProcLines() {
    if (fd_ >= 0) sys_close(fd_);
  }
  ProcLines(const ProcLines&) = delete;
  ProcLines& operator=(const ProcLines&) = delete;

  // Without its end, and valid until the next call; nullptr: there are no more.
  char* next() {
    if (fd_ < 0 || room_.text() == nullptr) return nullptr;
    char* end = strchr(next_, '\n');
    while (end == nullptr && read_more()) end = strchr(next_, '\n');
    char* const line = next_;
    if (end == nullptr && *line == 0) return nullptr;
    next_ = end != nullptr ? end + 1 : line + strlen(line);
    if (end != nullptr) *end = 0;
    return line;
  }

 private:
  // Behind what is left of it, which moves to the front.
  bool read_more() {
    const size_t left = strlen(next_);
    memmove(room_.text(), next_, left + 1);
    next_ = room_.text();
    const long got = sys_read(fd_, next_ + left, Scratch::kRoom - 1 - left);
    if (got <= 0) return false;
    next_[left + static_cast<size_t>(got)] = 0;
    return true;
  }

  Scratch room_;
  int fd_;
  char* next_ = nullptr;
};

}  // namespace fathom::guest
