// SPDX-License-Identifier: MIT
// Temporary directories of this process, for this user alone. Whoever ends the process without
// ceremony (a second Ctrl-C) removes them all.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom {

// Owns a directory; it is gone with its owner, with whatever is in it.
class ScratchDirectory {
 public:
  ScratchDirectory() = default;
  // Makes it; the path must not exist.
  static Result<ScratchDirectory> make(const std::string& path);
  ScratchDirectory(ScratchDirectory&& other) noexcept;
  ScratchDirectory& operator=(ScratchDirectory&& other) noexcept;
  ~ScratchDirectory();

  [[nodiscard]] const std::string& path() const { return path_; }  // "": none

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Removes all of them, from any thread, while their owners may still be at work.
void remove_scratch_directories();

}  // namespace fathom
