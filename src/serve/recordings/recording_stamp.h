// SPDX-License-Identifier: MIT
// By what a server notices that a recording has grown, without reading any of it.
#pragma once

#include <string>

namespace fathom::serve {

// Equal stamps: an answer of before still holds.
struct RecordingStamp {
  std::string revision;     // of the files; another one when a file was added or removed
  bool is_running = false;  // somebody records: rows come without a new file, too
  bool operator==(const RecordingStamp&) const = default;
};

// Of a recording, or of a directory of recordings.
[[nodiscard]] RecordingStamp stamp_of(const std::string& path);

}  // namespace fathom::serve
