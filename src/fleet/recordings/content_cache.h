// SPDX-License-Identifier: MIT
// Files of recordings that lie elsewhere, kept by their hash, so that the next question does not
// bring them again. The folder is this user's alone and may be removed at any time:
//
//   contents/SHA256   a whole file, checked before it came here
//   rooms/ID/         what one process has opened; it goes with the process
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/directory.h"
#include "base/result.h"
#include "base/scratch.h"
#include "fleet/recordings/recording_manifest.h"

namespace fathom::fleet {

// A directory of this process, in which the cache can put files without copying them.
struct CacheRoom {
  ScratchDirectory place;
  std::shared_ptr<const Fd> lock;  // held as long as the process lives
};

// Any number of processes may use a folder. One thread at a time.
class ContentCache {
 public:
  // Makes the folder. When contents take more than `most` bytes, those that were not used for the
  // longest time go.
  static Result<ContentCache> open(const std::string& folder, std::uint64_t most);

  [[nodiscard]] Result<CacheRoom> make_room() const;

  // Gives the content a name in a directory of a room. False: it is not here.
  [[nodiscard]] bool take(const RecordedFile& file, const Directory& to,
                          const std::string& name) const;
  // Keeps what is whole and checked. Nothing happens where there is no room for it.
  void keep(const RecordedFile& file, const Directory& from, const std::string& name) const;

 private:
  ContentCache(Directory contents, Directory rooms, std::uint64_t most)
      : contents_(std::move(contents)), rooms_(std::move(rooms)), most_(most) {}
  void remove_stale_rooms() const;
  [[nodiscard]] bool make_space(std::uint64_t bytes) const;

  Directory contents_, rooms_;
  std::uint64_t most_;
};

}  // namespace fathom::fleet
