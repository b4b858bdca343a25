// SPDX-License-Identifier: MIT
// What programs that measure others leave behind, as runs: hyperfine's --export-json, Google
// Benchmark's --benchmark_format=json, and `fathom stat --format json`. docs/formats/foreign.md has
// the fields.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::analysis {

struct BenchmarkNumber {
  std::string layer;
  std::string name;
  std::string unit;
  double value = 0;
};

struct BenchmarkRun {
  std::int64_t wall_ns = 0;  // 0 or more
  std::optional<std::int64_t> exit;
  std::vector<BenchmarkNumber> numbers;
};

struct Benchmark {
  std::string name;  // of the command, or of the function that was measured
  std::string command;
  std::vector<BenchmarkRun> runs;
};

// What several files say together. A plain value; what is not understood is left out by reason,
// since one odd entry must not cost the others.
struct BenchmarkResults {
  std::string host;
  std::vector<Benchmark> benchmarks;
  std::map<std::string, std::int64_t> left_out;  // by reason

  // That of the name and command, made where there is none.
  Benchmark& at(std::string_view name, std::string_view command);
  void leave_out(const std::string& reason) { left_out[reason]++; }
};

// Each adds to `results` what the text holds. kInvalid: it is no such file.
Status read_hyperfine(std::string_view text, BenchmarkResults& results);
Status read_google_benchmark(std::string_view text, BenchmarkResults& results);
Status read_stat(std::string_view text, BenchmarkResults& results);

}  // namespace fathom::analysis
