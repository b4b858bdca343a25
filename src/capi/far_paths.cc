// SPDX-License-Identifier: MIT
// Replaces URLs by directories, so that the rest of this room opens paths alone. The recordings
// stay open in the result: their files come while questions are asked.
#include "capi/far_paths.h"

#include "fleet/recordings/far_recording.h"
#include "fleet/recordings/far_word.h"

namespace fathom::capi {

Result<NearPaths> bring_near(const std::vector<std::string>& names) {
  NearPaths near;
  for (const std::string& name : names) {
    if (!fleet::is_far_word(name)) {
      near.paths.push_back(name);
      continue;
    }
    FATHOM_ASSIGN(std::shared_ptr<fleet::FarRecording> far, fleet::open_far_recording(name));
    near.paths.push_back(far->directory());
    near.far.push_back(std::move(far));
  }
  return near;
}

}  // namespace fathom::capi
