// SPDX-License-Identifier: MIT
// A manifest is written anew whenever a file was added: its inode and times tell.
#include "serve/recordings/recording_stamp.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "analysis/live/being_made.h"
#include "base/files.h"
#include "fleet/sha256.h"
#include "trace/recording/manifest.h"
#include "trace/recording/recording.h"

namespace fathom::serve {
namespace {

std::string facts_of(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return "none";
  return fmt::format("{}.{}.{}.{}", facts.st_ino, facts.st_size, facts.st_mtim.tv_sec,
                     facts.st_mtim.tv_nsec);
}

}  // namespace

RecordingStamp stamp_of(const std::string& path) {
  RecordingStamp stamp;
  fleet::Sha256 hash;
  for (const std::string& recording : trace::find_recordings(path)) {
    const std::string line = fmt::format("{} {} {}\n", recording, facts_of(recording),
                                         facts_of(join_path(recording, trace::kManifestFile)));
    hash.add(line);
    stamp.is_running = stamp.is_running || !analysis::writers_of(recording).empty();
  }
  stamp.revision = hash.hex().substr(0, 16);
  return stamp;
}

}  // namespace fathom::serve
