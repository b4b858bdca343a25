// SPDX-License-Identifier: MIT
// DataCrumbs' counters (datacrumbs_export.cc): the file's first line, and a line of it.
#pragma once

#include <string>
#include <string_view>

#include "render/export/event_stream.h"

namespace fathom::render {

inline constexpr std::string_view kCounterHead = "[\n";

void append_counter_line(std::string& out, const ExportInterval& interval);

}  // namespace fathom::render
