// SPDX-License-Identifier: MIT
// A line of DataCrumbs' counters (datacrumbs_export.cc).
#pragma once

#include <string>

#include "render/export/event_stream.h"

namespace fathom::render {

void append_counter_line(std::string& out, const ExportInterval& interval);

}  // namespace fathom::render
