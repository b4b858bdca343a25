// SPDX-License-Identifier: MIT
// How commands open recordings: for reading, whatever they find. Reports and info are made of sums,
// which take less to decode where nothing is packed yet; the others decode every event.
#pragma once

#include <string>

#include "analysis/info.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::cli {

// open_store() and open_sums() take signals for the whole process and watch its memory
// (question_guard.h): call them before other threads are started. Resolver and memory of the
// options are ours.
Result<analysis::Store> open_store(const std::string& path, analysis::StoreOptions options = {});
Result<analysis::Store> open_sums(const std::string& path);
Result<analysis::Info> open_info(const std::string& path);

}  // namespace fathom::cli
