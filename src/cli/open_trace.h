// SPDX-License-Identifier: MIT
// How commands open recordings: first what a killed recorder or an unsupervised run left is packed,
// where we may; then the recording is read, as it is.
#pragma once

#include <string>

#include "analysis/info.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::cli {

Result<analysis::Store> open_store(const std::string& path);
Result<analysis::Info> open_info(const std::string& path);

}  // namespace fathom::cli
