// SPDX-License-Identifier: MIT
// A temporary directory of this process alone: mode 0700, a name that cannot be guessed, removed
// with the object.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom {

class Scratch {
 public:
  static Result<Scratch> make();
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&& other) noexcept;
  ~Scratch();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// For who is told to end by a signal: those of all objects that are there now. Not in the handler
// itself.
void remove_all_scratch();

}  // namespace fathom
