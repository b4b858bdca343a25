// SPDX-License-Identifier: MIT
// Keeps a list of all temporary directories of the process, so that a signal's thread can remove
// them when destructors will not run.
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

}  // namespace

Result<ScratchDirectory> ScratchDirectory::make(const std::string& path) {
  FATHOM_TRY(make_private_dir(path));
  const std::scoped_lock lock(known().mutex);
  known().paths.insert(path);
  return ScratchDirectory(path);
}

ScratchDirectory::ScratchDirectory(ScratchDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

ScratchDirectory& ScratchDirectory::operator=(ScratchDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

ScratchDirectory::~ScratchDirectory() {
  if (path_.empty()) return;
  (void)remove_tree(path_).has_value();
  const std::scoped_lock lock(known().mutex);
  known().paths.erase(path_);
}

void remove_scratch_directories() {
  const std::scoped_lock lock(known().mutex);
  for (const std::string& path : known().paths) (void)remove_tree(path).has_value();
}

}  // namespace fathom
