// SPDX-License-Identifier: MIT
// How commands open recordings. Reports and info are made of sums, which are decoded where nothing
// is packed yet: they do not wait for Parquet. For the others what a killed recorder or an
// unsupervised run left is packed first, where we may.
#pragma once

#include <string>

#include "analysis/info.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::cli {

// The resolver of the options is ours.
Result<analysis::Store> open_store(const std::string& path, analysis::StoreOptions options = {});
Result<analysis::Store> open_sums(const std::string& path, const std::string& memory = {});
Result<analysis::Info> open_info(const std::string& path);

}  // namespace fathom::cli
