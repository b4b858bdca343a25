// SPDX-License-Identifier: MIT
// Settings that processes could not make sense of (META `refused:<variable>`), for the manifest.
#pragma once

#include <map>
#include <string>

#include "trace/definitions.h"

namespace fathom::trace {

void add_refused_settings(const Definitions& definitions,
                          std::map<std::string, std::string>& facts);

}  // namespace fathom::trace
