// SPDX-License-Identifier: MIT
// A budget: what a run may cost, as a YAML file that people write. docs/budget.md explains it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/insights/rule.h"
#include "base/result.h"
#include "base/table.h"

namespace fathom::analysis {

// A limit as it was written, in the unit of its budget (ns, bytes, percent, or a number).
struct Limit {
  std::string text;
  double number = 0;
  Measure unit = Measure::kNone;
  bool relative = false;    // to the same value of the baseline recording
  bool in_percent = false;  // a relative one: percent of that value, else added to it
};

// What is measured, of which part of the recording, and the limits that it has to keep. Texts that
// are empty choose nothing.
struct Budget {
  std::string name;
  std::size_t line = 0;  // where it begins in the file
  std::string measure;   // see measures.h; "sql" for a query's
  std::string function;  // a name or a glob; "" for any
  std::string layer;
  std::string category;
  std::string file;  // a glob
  std::string counter;
  std::string rule;  // of insights
  Severity severity = Severity::kHigh;
  std::string sql;
  Measure unit = Measure::kNone;  // of value and limits; kNone: a plain number
  std::optional<Limit> max;
  std::optional<Limit> min;
  bool optional = false;  // what is not in the recording is skipped

  [[nodiscard]] bool relative() const { return (max && max->relative) || (min && min->relative); }
};

// `where` names the text in errors, which also name the line. Anything that is not understood is an
// error: a key that is passed over would be a budget that nobody checks.
Result<std::vector<Budget>> parse_budgets(const std::string& text, const std::string& where);

// "+5%", "2 ms", "1.5GiB", "100". The unit must fit what is measured; where that is not known yet
// (kNone), the limit says which it is.
Result<Limit> parse_limit(std::string_view text, Measure unit);

}  // namespace fathom::analysis
