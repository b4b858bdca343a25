// SPDX-License-Identifier: MIT
// What the manifests of opened recordings say together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/recording/recording.h"

namespace fathom::analysis {

// A row for every layer that exists, and for what else the manifests name. One that recorded
// nothing has a reason.
std::vector<trace::LayerState> layers_of(const std::vector<trace::Part>& parts);

// Summed by (layer, reason); none that is zero.
std::vector<trace::Loss> losses_of(const std::vector<trace::Part>& parts);

// Rows of view `run`. With several recordings, keys are prefixed by the name of each one's
// directory.
std::vector<std::pair<std::string, std::string>> run_facts(const std::vector<trace::Part>& parts);

// How far each recording's start lies behind the earliest, in ns; 0 where it cannot be known.
std::vector<std::int64_t> shifts_of(const std::vector<trace::Part>& parts);

// From the start of the first recording to the end of the last; nothing where one has not ended.
std::optional<std::int64_t> known_wall_ns(const std::vector<trace::Part>& parts,
                                          const std::vector<std::int64_t>& shifts);

// Running if one is; else partial if one is or has damaged files; else complete.
trace::RunState state_of(const std::vector<trace::Part>& parts);
trace::RunState state_of(const trace::Part& part);

// "2026-01-31T12:00:00.000Z"
std::string iso_time(std::int64_t realtime_ns);

}  // namespace fathom::analysis
