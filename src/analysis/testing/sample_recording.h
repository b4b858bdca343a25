// SPDX-License-Identifier: MIT
// Small recordings for tests, whose sums a reader can check in his head.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace fathom::analysis::testing {

struct Sample {
  std::string host = "here";
  std::int64_t reads = 100;  // pread of 4096 bytes from /data/in, 1000 ns each, inside one region
  std::int64_t start_realtime_ns = 1'000'000'000'000;
  std::int64_t lost = 0;
};

// The program "work --fast" (pid 10) ran 1 ms: region `step` (app) for the first half, with the
// reads inside; one write of 100 bytes to /data/out and a failed open of /data/none behind it. Two
// samples of rss.
Status write_sample(const std::string& directory, const Sample& sample = {});

}  // namespace fathom::analysis::testing
