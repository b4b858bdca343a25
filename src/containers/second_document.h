// SPDX-License-Identifier: MIT
// Whether a file of YAML holds more than one document.
#pragma once

#include <yaml-cpp/mark.h>

#include <optional>
#include <string>

namespace fathom::containers {

// Where the second one begins; nothing if there is one, or none. Throws as yaml-cpp does.
std::optional<YAML::Mark> second_document(const std::string& text);

}  // namespace fathom::containers
