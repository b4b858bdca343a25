// SPDX-License-Identifier: MIT
// Any bytes as a record of a benchmark: read, or counted as damaged.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fleet/history.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::fleet;
  const std::string text(reinterpret_cast<const char*>(data), size);
  History history;
  add_record(0, text, history);
  add_record(1, text, history);
  for (const BenchmarkHistory& benchmark : history.benchmarks) {
    for (const MetricHistory& metric : benchmark.metrics) {
      for (const MetricHistory::Point& point : metric.points) {
        for (const double value : point.values) {
          if (!std::isfinite(value)) std::abort();
        }
      }
    }
  }
  if (history.damaged != 0 && history.damaged != 2) std::abort();
  return 0;
}
