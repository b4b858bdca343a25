// SPDX-License-Identifier: MIT
// Which rules a command asks, and how it tells what they say.
#pragma once

#include <string>
#include <vector>

#include "analysis/insights/insights.h"
#include "base/result.h"
#include "base/table.h"
#include "render/render.h"

namespace fathom::cli {

// Ours; those in FATHOM_RULES (directories, by colons), or else in ~/.config/fathom/rules where
// that exists; and those in the directories.
Result<std::vector<analysis::Rule>> rules_for(const std::vector<std::string>& directories);

// A paragraph for each: what, how much could be gained and why so, what to try.
std::string insight_text(const std::vector<analysis::Insight>& insights,
                         const render::Style& style);

// The same as rows.
Table insight_table(const std::vector<analysis::Insight>& insights);

}  // namespace fathom::cli
