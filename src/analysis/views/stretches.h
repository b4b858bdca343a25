// SPDX-License-Identifier: MIT
// The timeline cut into stretches of equal length, for lines over time.
#pragma once

#include <cstdint>
#include <string>

namespace fathom::analysis {

// SELECT of `keys` ("host, " or none), layer, b (the stretch), busy, calls, bytes, "begin", wall,
// bins: at most so many stretches, none shorter than a cell of the timeline. A cell that lies in
// two gives each its share of busy time; its calls and bytes count where it begins.
[[nodiscard]] std::string stretches_sql(const std::string& keys, std::int64_t most_bins);

}  // namespace fathom::analysis
