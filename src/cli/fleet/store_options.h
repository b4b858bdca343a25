// SPDX-License-Identifier: MIT
// --server and --token-file, and the store that they mean.
#pragma once

#include <memory>

#include "base/result.h"
#include "cli/parser.h"
#include "fleet/stores/find_store.h"

namespace fathom::cli {

void declare_store(Parser& parser, fleet::PlaceOptions& options);

// After parse().
Result<std::unique_ptr<fleet::JobStore>> open_given_store(const fleet::PlaceOptions& options);

}  // namespace fathom::cli
