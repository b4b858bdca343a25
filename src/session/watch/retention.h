// SPDX-License-Identifier: MIT
// Which recordings of a folder stay when a daemon writes one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::session {

// A recording that is complete.
struct KeptRecording {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t end_ns = 0;  // realtime
};

// How much of them stays; 0 is no limit.
struct Retention {  // 0: no limit
  std::uint64_t bytes = 0;
  std::int64_t age_ns = 0;
  std::int64_t count = 0;
};

// Those that have to go, oldest first. `recordings` in the order of their time.
std::vector<KeptRecording> to_drop(const std::vector<KeptRecording>& recordings,
                                   const Retention& limits, std::int64_t now_ns);

// Recordings in the folder that daemons made and nobody writes, in the order of their time; but not
// `current`.
std::vector<KeptRecording> find_kept(const std::string& folder, const std::string& current);

// Of all files below.
std::uint64_t bytes_below(const std::string& directory);

}  // namespace fathom::session
