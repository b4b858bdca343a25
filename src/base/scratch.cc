// SPDX-License-Identifier: MIT
// Keeps a list of all temporary paths of the process, so that a signal's thread can remove what is
// there when destructors will not run.
#include "base/scratch.h"

#include <mutex>
#include <set>
#include <utility>

#include "base/files.h"
#include "base/private_files.h"

namespace fathom {
namespace {

struct Known {
  std::mutex mutex;
  std::set<std::string> paths;
};

Known& known() {
  // Owners may outlive static objects.
  static Known& all = *new Known;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
  return all;
}

void forget(const std::string& path) {
  const std::scoped_lock lock(known().mutex);
  known().paths.erase(path);
}

// Somebody may put a file into a directory while it is emptied.
void remove_for_good(const std::string& path) {
  constexpr int kTimes = 16;
  for (int i = 0; i < kTimes && !remove_tree(path); ++i) {
  }
}

}  // namespace

TemporaryPath::TemporaryPath(std::string path) : path_(std::move(path)) {
  const std::scoped_lock lock(known().mutex);
  known().paths.insert(path_);
}

TemporaryPath::TemporaryPath(TemporaryPath&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryPath& TemporaryPath::operator=(TemporaryPath&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryPath::~TemporaryPath() {
  if (path_.empty()) return;
  (void)remove_tree(path_).has_value();
  forget(path_);
}

void TemporaryPath::keep() {
  if (!path_.empty()) forget(path_);
  path_.clear();
}

Result<ScratchDirectory> ScratchDirectory::make(const std::string& path) {
  TemporaryPath place(path);
  Status made = make_private_dir(path);
  if (made) return ScratchDirectory(std::move(place));
  place.keep();  // not ours
  return std::move(made.error());
}

void remove_temporary_paths() {
  const std::scoped_lock lock(known().mutex);
  for (const std::string& path : known().paths) remove_for_good(path);
}

}  // namespace fathom
