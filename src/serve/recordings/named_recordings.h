// SPDX-License-Identifier: MIT
// The recordings that a command line names. A directory of recordings is shown as one, as all
// commands show it, and each of those in it by itself; new ones are found when the list is asked
// for.
#pragma once

#include <string>
#include <vector>

#include "serve/recordings/open_recordings.h"

namespace fathom::serve {

struct NamedTrace {
  std::string name;  // as the user wrote it
  std::string path;
};

// Any thread: it keeps what the command line named, and each call looks at the disk anew.
class NamedRecordings : public RecordingPlaces {
 public:
  explicit NamedRecordings(std::vector<NamedTrace> traces);

  Result<std::vector<KnownRecording>> list() override;
  Result<KnownRecording> find(const std::string& id) override;

 private:
  std::vector<KnownRecording> roots_;
};

}  // namespace fathom::serve
