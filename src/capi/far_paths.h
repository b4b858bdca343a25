// SPDX-License-Identifier: MIT
// Recordings that are named by a URL (fleet/recordings/far_word.h), opened beside those of this
// machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/far_rows.h"
#include "base/result.h"

namespace fathom::capi {

struct NearPaths {
  std::vector<std::string> paths;  // of directories here, in the order of what was named
  std::vector<std::shared_ptr<analysis::FarRows>> far;  // to be kept as long as these are open
};

// kUnsupported for a URL in a build without the fleet.
Result<NearPaths> bring_near(const std::vector<std::string>& names);

}  // namespace fathom::capi
