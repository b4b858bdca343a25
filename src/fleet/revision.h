// SPDX-License-Identifier: MIT
// Which revision of a program is measured.
#pragma once

#include <string>

namespace fathom::fleet {

// What was given; else $FATHOM_REVISION; else the commit that git has checked out in this directory
// or one above; else "". Reads git's files and starts no program.
[[nodiscard]] std::string revision_here(const std::string& given);

// The commit of the working tree that `directory` lies in; "" where there is none.
[[nodiscard]] std::string git_commit(const std::string& directory);

}  // namespace fathom::fleet
