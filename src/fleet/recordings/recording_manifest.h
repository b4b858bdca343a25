// SPDX-License-Identifier: MIT
// Which files a kept recording has. What a client sends as one is checked here: no name leaves the
// recording, no file twice, and sizes that can be added up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::fleet {

struct RecordedFile {
  std::string name;  // "manifest.json", "events/0.parquet": below the recording
  std::uint64_t size = 0;
  std::string sha256;  // 64 lower-case hexadecimal digits
  bool operator==(const RecordedFile&) const = default;
};

// One that parse_manifest() gave is sound: names are inner paths and differ, `bytes()` cannot
// overflow.
struct RecordingManifest {
  std::string name;                 // as a job's
  std::vector<RecordedFile> files;  // sorted by name
  bool operator==(const RecordingManifest&) const = default;

  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] const RecordedFile* find(std::string_view file) const;
};

inline constexpr std::size_t kLargestManifest = std::size_t{16} << 20U;

// `{"name": N, "files": [{"name": F, "size": S, "sha256": H}, …]}`. kInvalid with the place.
Result<RecordingManifest> parse_manifest(std::string_view json);
[[nodiscard]] std::string to_json(const RecordingManifest& manifest);

// One or more steps: none empty, "." or "..", none with a zero or another control character.
[[nodiscard]] bool is_inner_path(std::string_view path);

// Whether a name of a recording belongs to what is not packed yet: that is only for the machine on
// which it was recorded.
[[nodiscard]] bool is_unpacked(std::string_view step);

}  // namespace fathom::fleet
