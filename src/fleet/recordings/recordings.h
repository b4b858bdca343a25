// SPDX-License-Identifier: MIT
// Recordings that are kept in a directory (docs/formats/recordings.md). A file's content is kept
// once, under its SHA-256, however many recordings have it; a manifest says which files a recording
// has. Several processes may use the directory, also on a shared file system.
//
// To add one: missing() of its manifest, upload() of each content that is, publish(). To read one:
// manifest(), then open() of the files that are needed: a server can answer any range of bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/directory.h"
#include "base/files.h"
#include "base/result.h"
#include "fleet/recordings/recording_manifest.h"
#include "fleet/sha256.h"

namespace fathom::fleet {

struct RecordingLimits {
  std::uint64_t budget = 0;  // bytes of all contents together; 0: as the disk has
  std::uint64_t largest_file = std::uint64_t{64} << 30U;
  // Contents that no recording has are kept this long: somebody may be adding them.
  std::chrono::seconds unused{3600};
};

class Recordings;

// A content that arrives. One thread at a time; gone without finish(), and nothing is kept.
class ContentUpload {
 public:
  ContentUpload(const ContentUpload&) = delete;
  ContentUpload& operator=(const ContentUpload&) = delete;
  ~ContentUpload();

  Status write(std::string_view bytes);  // kInvalid: more than was said; kFull
  Status finish();                       // kInvalid: not what its hash says. On disk after this.

 private:
  friend class Recordings;
  ContentUpload(Recordings& owner, File file, std::string temporary, RecordedFile facts);
  Recordings* owner_;
  File file_;
  std::string temporary_;  // its name until it is complete
  RecordedFile facts_;
  std::uint64_t written_ = 0;
  Sha256 hash_;
  bool is_kept_ = false;
};

// Any thread.
class Recordings {
 public:
  // Makes the directory (0700) where it is missing.
  static Result<std::unique_ptr<Recordings>> open(const std::string& path,
                                                  const RecordingLimits& limits = {});

  [[nodiscard]] Result<std::vector<std::string>> names() const;  // sorted
  [[nodiscard]] Result<RecordingManifest> manifest(const std::string& name) const;

  // Those files of it, one for each content, whose content is not here yet.
  Result<std::vector<RecordedFile>> missing(const RecordingManifest& manifest) const;
  // kFull: beyond the budget.
  Result<std::unique_ptr<ContentUpload>> upload(const std::string& sha256, std::uint64_t size);
  // The same again is a success. kNotFound: a content is missing; kExists: the name is taken.
  Status publish(const RecordingManifest& manifest);

  // For reading, at any offset.
  [[nodiscard]] Result<File> open(const std::string& name, std::string_view file) const;

  // Makes a recording of this machine of it, in a directory that is empty and on the same file
  // system: its manifest and its Parquet files, which are further names of the contents kept here.
  Status lay_out(const std::string& name, const Directory& directory) const;

  // With the contents that only it had.
  Status remove(const std::string& name);
  // Removes contents that no recording has, and what was left half uploaded. Returns the bytes.
  Result<std::uint64_t> collect();
  [[nodiscard]] std::uint64_t used() const;  // bytes of all contents

 private:
  friend class ContentUpload;
  Recordings(Directory contents, Directory manifests, Directory incoming, Directory root,
             const RecordingLimits& limits)
      : contents_(std::move(contents)),
        manifests_(std::move(manifests)),
        incoming_(std::move(incoming)),
        root_(std::move(root)),
        limits_(limits) {}
  [[nodiscard]] Result<Directory> shelf(std::string_view sha256, bool make) const;
  [[nodiscard]] Result<File> open_content(const RecordedFile& file) const;
  Status keep(ContentUpload& upload);
  Status reserve(std::uint64_t bytes);
  void release(std::uint64_t bytes);
  Status measure();

  Directory contents_, manifests_, incoming_, root_;
  RecordingLimits limits_;
  mutable std::mutex mutex_;
  std::uint64_t used_ = 0;
};

}  // namespace fathom::fleet
