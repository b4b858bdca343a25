// SPDX-License-Identifier: MIT
// Any bytes as results of benchmarks.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/import/benchmark_results.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::analysis;  // NOLINT(google-build-using-namespace) : one function
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto read : {read_hyperfine, read_google_benchmark, read_stat}) {
    BenchmarkResults results;
    (void)read(text, results).has_value();
    for (const Benchmark& benchmark : results.benchmarks) {
      for (const BenchmarkRun& run : benchmark.runs) {
        if (run.wall_ns < 0) std::abort();
      }
    }
  }
  return 0;
}
