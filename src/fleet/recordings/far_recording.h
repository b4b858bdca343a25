// SPDX-License-Identifier: MIT
// A recording that is kept elsewhere, opened without copying what nobody asks for. It looks like a
// recording of this machine: a directory with its manifest, and with Parquet files that have their
// size and their last bytes, where Parquet says what is in a file. Whole files come when a question
// reads their table, and each is held against its hash before a row of it is read.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/far_rows.h"
#include "base/result.h"
#include "fleet/recordings/content_cache.h"
#include "fleet/recordings/recording_store.h"

namespace fathom::fleet {

// Any thread may call bring(): one brings files while the others wait. The object owns the
// directory, which goes with it, so it must outlive every store that has the directory open.
class FarRecording final : public analysis::FarRows {
 public:
  // `cache`: none where nothing can be kept; then all lies in a temporary directory. kUnsupported:
  // the recording was sent before it was packed.
  static Result<std::shared_ptr<FarRecording>> open(std::unique_ptr<RecordingStore> store,
                                                    const std::string& name,
                                                    std::optional<ContentCache> cache);

  // kFull: no room for the files; kCorrupt: a file is not what its SHA-256 says. It is brought
  // again at the next call.
  Status bring(const std::set<std::string>& tables) override;
  [[nodiscard]] Size size() const override;

  [[nodiscard]] const std::string& directory() const { return room_.place.path(); }

 private:
  struct Part {
    RecordedFile facts;
    std::string table;  // "": the manifest
    bool is_whole = false;
  };
  FarRecording(std::unique_ptr<RecordingStore> store, RecordingManifest manifest,
               std::optional<ContentCache> cache, CacheRoom room);
  Status begin();
  Status begin_file(Part& part);
  Status make_hollow(const Part& part, const Directory& folder);
  Status fetch(Part& part);
  Status check_space(std::uint64_t bytes) const;

  std::unique_ptr<RecordingStore> store_;
  RecordingManifest manifest_;
  std::optional<ContentCache> cache_;
  CacheRoom room_;
  std::mutex mutex_;
  std::vector<Part> parts_;
};

// Opens what a user has named (far_word.h): token, certificate and cache come from their usual
// places.
Result<std::shared_ptr<FarRecording>> open_far_recording(const std::string& word);

}  // namespace fathom::fleet
