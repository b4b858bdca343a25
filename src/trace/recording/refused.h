// SPDX-License-Identifier: MIT
// What processes tell of themselves (META), for the manifest: settings that they could not make
// sense of, and layers that they could not record.
#pragma once

#include <map>
#include <string>

#include "trace/recording/manifest.h"
#include "trace/rows/definitions.h"

namespace fathom::trace {

void add_refused_settings(const Definitions& definitions,
                          std::map<std::string, std::string>& facts);
void take_reasons(const Definitions& definitions, const Process& process, Manifest& to);

}  // namespace fathom::trace
