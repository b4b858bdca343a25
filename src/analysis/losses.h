// SPDX-License-Identifier: MIT
// What was lost, in words: a report or a verdict that leaves it out would be believed too much.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/recording/recording.h"

namespace fathom::analysis {

// "3 events of layer posix (spool full), …", the largest few; "" where nothing was lost.
[[nodiscard]] std::string losses_text(std::vector<trace::Loss> losses);

// "Lost: 3 events", for a sentence about the whole recording; "" where nothing was lost.
[[nodiscard]] std::string lost_in_all(const std::vector<trace::Part>& parts);

// A sentence for the report of a view that does not say it by itself; "" where nothing was lost.
[[nodiscard]] std::string loss_remark(const std::vector<trace::Part>& parts, std::string_view view);

}  // namespace fathom::analysis
