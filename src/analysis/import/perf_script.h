// SPDX-License-Identifier: MIT
// Lines of `perf script`: a head for each sample, its frames from the innermost on, an empty line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/sample_import.h"
#include "base/result.h"

namespace fathom::analysis {

// "work  7/8 [001] 12.345678:  250000 cpu-clock:uH:" and what may stand behind it.
struct PerfHead {
  std::string_view comm;
  std::optional<std::int32_t> pid;
  std::int32_t tid = 0;
  std::optional<std::int32_t> cpu;
  std::int64_t ts = 0;  // ns
  std::int64_t period = 1;
  std::string_view event;
  std::string_view rest;  // a single frame, where there are no stacks
};
[[nodiscard]] std::optional<PerfHead> parse_perf_head(std::string_view line);

// "    55d8 main+0x15 (/bin/work)"
[[nodiscard]] std::optional<ImportedFrame> parse_perf_frame(std::string_view line);

// One thread at a time. A sample is handed on when its last line has come; an Error from on_sample
// is returned by the call that brought that line.
class PerfScript {
 public:
  using OnSample = std::function<Status(const ImportedSample&)>;
  explicit PerfScript(OnSample on_sample) : on_sample_(std::move(on_sample)) {}

  // False: the line is none of perf's.
  Result<bool> add(std::string_view line);
  Status finish();

 private:
  struct Kept {
    std::string function, module, file;
    std::int32_t line = trace::kNull32;
  };

  void add_frame(const ImportedFrame& frame);
  bool add_source_line(std::string_view line);

  OnSample on_sample_;
  bool open_ = false;
  std::string head_;  // the text of the open sample's head
  std::vector<Kept> frames_;
};

}  // namespace fathom::analysis
