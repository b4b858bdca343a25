// SPDX-License-Identifier: MIT
// A report as text: words first, then its tables, with bars and lines where people look at them.
#pragma once

#include <string>

#include "analysis/report.h"
#include "render/render.h"

namespace fathom::render {

// JSON: one object, the words under "words" and each table under its title.
std::string report_text(const analysis::Report& report, Format format, const Style& style);

}  // namespace fathom::render
