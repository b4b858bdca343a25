// SPDX-License-Identifier: MIT
// Files of programs and libraries, opened when they were first mapped: they can be read although
// their names are gone or other files' by then, and those of containers although nobody else has
// their paths.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"

namespace fathom::symbols {

// A mapping of a file, as the kernel told of it.
struct MappedFile {
  pid_t pid = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string path;
  std::string build_id;     // its bytes; "": the kernel found none,
  std::uint64_t inode = 0;  // and said which file it is
};

// From any thread.
class KeptFiles {
 public:
  // As many as descriptors allow, of those that this process may have.
  KeptFiles();
  explicit KeptFiles(std::size_t most) : most_(most) {}

  // Files of processes that have gone are looked for below this folder, if their paths begin with
  // how a container sees it: its root as "/", what is mounted in it as "/there/".
  void look_below(Fd folder, std::string seen_as = "/");
  // Opens it, unless a file of this path and build id is kept. false: another file of the same
  // path, which has no build id either, is; nobody could tell the two apart.
  bool keep(const MappedFile& file);
  // How to open the very file, as long as this lives; "" where it is not kept.
  [[nodiscard]] std::string find(const std::string& path, const std::string& build_id) const;

 private:
  struct Kept {
    Fd fd;  // none: it could not be opened
    std::uint64_t inode = 0;
  };
  using Places = std::vector<std::pair<std::string, Fd>>;
  static Fd open_mapped(const MappedFile& file, const Places& places);

  mutable std::mutex mutex_;
  std::size_t most_;
  Places places_;                                             // guarded by mutex_
  std::size_t opened_ = 0;                                    // guarded by mutex_
  std::map<std::pair<std::string, std::string>, Kept> kept_;  // guarded by mutex_
};

}  // namespace fathom::symbols
