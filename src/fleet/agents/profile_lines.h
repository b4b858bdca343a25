// SPDX-License-Identifier: MIT
// What others measured, as lines: JSON objects {"node", "exec", "event", "count"}, or the text of
// `perf script`. Both may come mixed. A line that is neither is counted and left out.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "analysis/import/perf_script.h"
#include "base/result.h"
#include "fleet/model.h"

namespace fathom::fleet {

// One thread at a time. An Error of `take` is returned by the call that led to it.
class ProfileLines {
 public:
  using Takes = std::function<Status(const ProfileRow& row)>;
  explicit ProfileLines(Takes take);

  // A line without its end.
  Status add(std::string_view line);
  // A sample whose last line has come is handed on.
  Status finish();
  // Of a line that was too long to be read.
  void add_damaged();

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t damaged() const { return damaged_; }
  [[nodiscard]] std::int64_t first_damaged() const { return first_damaged_; }  // counted from 1

 private:
  Status add_json(std::string_view line);
  Status add_sample(const analysis::ImportedSample& sample);
  Status hand_on(const ProfileRow& row);

  Takes take_;
  analysis::PerfScript perf_;
  std::int64_t lines_ = 0, rows_ = 0, damaged_ = 0, first_damaged_ = 0;
};

}  // namespace fathom::fleet
