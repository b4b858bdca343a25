// SPDX-License-Identifier: MIT
// The account of all threads' time in sentences.
#pragma once

#include <string>
#include <vector>

#include "base/table.h"

namespace fathom::analysis {

// `time` is what time_table() gives. No sentence where it has no rows. `of_one`: it is the time of
// a single thread.
std::vector<std::string> time_words(const Table& time, bool of_one);

}  // namespace fathom::analysis
