// SPDX-License-Identifier: MIT
// Whether somebody still writes a recording: then it is nobody's to remove or to replace.
#pragma once

#include <string>

namespace fathom::trace {

// Who writes there, in words that follow its name: "is being recorded"; "" for nobody.
[[nodiscard]] std::string writers_of(const std::string& directory);

}  // namespace fathom::trace
