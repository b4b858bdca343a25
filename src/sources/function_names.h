// SPDX-License-Identifier: MIT
// Names for functions that are known by their address alone (-finstrument-functions).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "symbols/kept_files.h"
#include "symbols/module_id.h"
#include "trace/rows/definitions.h"

namespace fathom::sources {

// A resolver over the symbols of the files on this machine; "" for what has none. Copies share what
// was read; one thread at a time.
// `files` are those that were kept while programs ran.
[[nodiscard]] trace::NameResolver function_names(
    const std::shared_ptr<const symbols::KeptFiles>& files = nullptr,
    const symbols::DebugPlaces& places = {});
// For recordings of whatever machine: symbols are found by build id alone, in these folders, in
// those of the system, and in what debuginfod's client has.
[[nodiscard]] trace::NameResolver names_by_build_id(std::vector<std::string> folders);

}  // namespace fathom::sources
