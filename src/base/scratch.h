// SPDX-License-Identifier: MIT
// What exists under a temporary name only as long as this process works on it. Whoever ends the
// process without ceremony (a signal, a limit) removes it all.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom {

// Owns a path, a file's or a directory's; what is there is gone with its owner.
class TemporaryPath {
 public:
  TemporaryPath() = default;
  // Say it before something is made there, so that no moment is left out.
  explicit TemporaryPath(std::string path);
  TemporaryPath(TemporaryPath&& other) noexcept;
  TemporaryPath& operator=(TemporaryPath&& other) noexcept;
  ~TemporaryPath();

  [[nodiscard]] const std::string& path() const { return path_; }  // "": none
  // What is there stays, or has got its own name by now.
  void keep();

 private:
  std::string path_;
};

// Owns a directory for this user alone; it is gone with its owner, with whatever is in it.
class ScratchDirectory {
 public:
  ScratchDirectory() = default;
  // Makes it; the path must not exist.
  static Result<ScratchDirectory> make(const std::string& path);

  [[nodiscard]] const std::string& path() const { return place_.path(); }  // "": none
  void keep() { place_.keep(); }                                           // as TemporaryPath

 private:
  explicit ScratchDirectory(TemporaryPath place) : place_(std::move(place)) {}
  TemporaryPath place_;
};

// Removes all of them, from any thread, while their owners may still be at work.
void remove_temporary_paths();

}  // namespace fathom
