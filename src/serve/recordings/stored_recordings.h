// SPDX-License-Identifier: MIT
// The recordings that a server keeps, for its page. One is laid out as a directory when it is first
// asked for: further names of the same contents, so nothing is copied.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/scratch.h"
#include "fleet/recordings/recordings.h"
#include "serve/recordings/open_recordings.h"

namespace fathom::serve {

// Any thread. `recordings` must outlive it. The directories that find() names go with this object,
// and one goes earlier where its recording was replaced by another of its name.
class StoredRecordings : public RecordingPlaces {
 public:
  // `data` is the server's directory. What a server that was killed left there is removed.
  static Result<std::unique_ptr<StoredRecordings>> open(fleet::Recordings& recordings,
                                                        const std::string& data);

  Result<std::vector<KnownRecording>> list() override;
  Result<KnownRecording> find(const std::string& id) override;

 private:
  struct LaidOut {
    std::string path;
    fleet::RecordingManifest manifest;
  };
  StoredRecordings(fleet::Recordings& recordings, ScratchDirectory room, File lock)
      : recordings_(&recordings), room_(std::move(room)), lock_(std::move(lock)) {}
  Result<std::string> lay_out(const std::string& name);

  fleet::Recordings* recordings_;
  ScratchDirectory room_;
  File lock_;  // held as long as the room is used
  std::mutex mutex_;
  std::map<std::string, LaidOut> laid_out_;
  std::size_t number_ = 0;
};

}  // namespace fathom::serve
