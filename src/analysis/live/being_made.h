// SPDX-License-Identifier: MIT
// Which recordings are being made.
#pragma once

#include <string>
#include <vector>

namespace fathom::analysis {

// Who writes a recording, in words that follow its name: "is being recorded"; "" for nobody.
[[nodiscard]] std::string writers_of(const std::string& recording);

// The recording of this directory, and those of the directories in it, that are being made; the one
// that began last first. Looks no deeper: a home may hold very much.
[[nodiscard]] std::vector<std::string> recordings_being_made(const std::string& directory);

}  // namespace fathom::analysis
