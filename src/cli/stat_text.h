// SPDX-License-Identifier: MIT
// The result of `fathom stat`: as one object for programs, and as words and tables for people.
#pragma once

#include "analysis/report.h"
#include "base/table.h"
#include "cli/stat_figures.h"

namespace fathom::cli {

// docs/stat.md (JSON) has its keys.
[[nodiscard]] Value stat_object(const StatResult& result);

// One of its runs.
[[nodiscard]] Value stat_run_object(const session::Measured& run);

// `for_people`: values with their units, and comparisons that say something; else all of them as
// plain numbers.
[[nodiscard]] analysis::Report stat_report(const StatResult& result, bool for_people);

}  // namespace fathom::cli
