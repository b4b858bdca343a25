// SPDX-License-Identifier: MIT
// How commands tell what rules say.
#pragma once

#include <string>
#include <vector>

#include "analysis/insights/insights.h"
#include "base/table.h"
#include "render/render.h"

namespace fathom::render {

// A paragraph for each: what, how much could be gained and why so, what to try. As wide as the
// style says.
std::string insight_text(const std::vector<analysis::Insight>& insights, Format format,
                         const Style& style);

// The same as rows.
Table insight_table(const std::vector<analysis::Insight>& insights);

}  // namespace fathom::render
