// SPDX-License-Identifier: MIT
#include "base/scratch.h"

#include <sys/stat.h>

#include <cerrno>
#include <mutex>
#include <set>
#include <utility>

#include "base/files.h"
#include "base/ids.h"
#include "base/os_error.h"

namespace fathom {
namespace {

struct Known {
  std::mutex mutex;
  std::set<std::string> paths;
};

Known& known() {
  static Known all;
  return all;
}

}  // namespace

Result<Scratch> Scratch::make() {
  const std::string path = join_path(scratch_directory(), "fathom-" + random_id());
  const std::scoped_lock lock(known().mutex);
  if (::mkdir(path.c_str(), 0700) != 0) return os_error(errno, "make directory " + path);
  known().paths.insert(path);
  return Scratch(path);
}

Scratch::Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}

Scratch& Scratch::operator=(Scratch&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

Scratch::~Scratch() {
  if (path_.empty()) return;
  const std::scoped_lock lock(known().mutex);
  (void)remove_tree(path_);
  known().paths.erase(path_);
}

void remove_all_scratch() {
  const std::scoped_lock lock(known().mutex);
  for (const std::string& path : known().paths) (void)remove_tree(path);
  known().paths.clear();
}

}  // namespace fathom
