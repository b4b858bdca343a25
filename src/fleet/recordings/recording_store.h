// SPDX-License-Identifier: MIT
// Where kept recordings are, for those who add and read them: behind a server, or in a directory of
// this machine (recordings.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "fleet/recordings/recording_manifest.h"
#include "fleet/stores/find_store.h"

namespace fathom::fleet {

// One thread at a time. kUnavailable where nobody answers.
class RecordingStore {
 public:
  RecordingStore() = default;
  RecordingStore(const RecordingStore&) = delete;
  RecordingStore& operator=(const RecordingStore&) = delete;
  virtual ~RecordingStore() = default;

  virtual Result<std::vector<std::string>> names() = 0;
  // kNotFound: there is no such recording.
  virtual Result<RecordingManifest> manifest(const std::string& name) = 0;
  // Exactly these bytes of a file of the recording, at most kMostRead; kCorrupt where others come.
  virtual Result<std::string> read(const std::string& name, const RecordedFile& file,
                                   std::uint64_t offset, std::size_t length) = 0;

  // As Recordings has them; to send the same again is a success.
  virtual Result<std::vector<RecordedFile>> missing(const RecordingManifest& manifest) = 0;
  virtual Status send(const RecordedFile& file, const File& content) = 0;
  virtual Status publish(const RecordingManifest& manifest) = 0;

  // kNotFound: there is no such recording.
  virtual Status remove(const std::string& name) = 0;

  static constexpr std::size_t kMostRead = std::size_t{8} << 20U;
};

// The recordings of the place where a command finds its jobs: of that server, or those beside that
// file of jobs. kUnsupported: a Redis keeps none.
Result<std::unique_ptr<RecordingStore>> open_recordings(const StorePlace& place);

// Puts a recording of this machine into a store. Links and whatever is no file are an error:
// kCorrupt with the name; kInvalid: it is not complete.
Status add_recording(RecordingStore& store, const std::string& name, const std::string& directory);

// How a user names one of them where a recording is wanted: URL/recordings/NAME, or recording:NAME.
[[nodiscard]] std::string recording_word(const StorePlace& place, const std::string& name);

}  // namespace fathom::fleet
