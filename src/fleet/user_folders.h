// SPDX-License-Identifier: MIT
// Where this user's files of Fathom lie: as the XDG base directories say, else below $HOME.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom::fleet {

// …/.local/share/fathom, …/.local/state/fathom and …/.cache/fathom; they need not exist. An Error:
// there is no home.
Result<std::string> data_folder();
Result<std::string> state_folder();
Result<std::string> cache_folder();

}  // namespace fathom::fleet
