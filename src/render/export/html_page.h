// SPDX-License-Identifier: MIT
// A page that needs nothing but itself: no network, and no script to be read. The script sorts
// tables and switches between light and dark.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "render/export/event_stream.h"

namespace fathom::render {

// In this order; sections as many as there are.
[[nodiscard]] std::string page_begin(const std::string& title, std::string_view more_style = "");
[[nodiscard]] std::string page_words(const std::vector<std::string>& words);
[[nodiscard]] std::string page_section(const ExportSection& section, std::int64_t wall_ns);
[[nodiscard]] std::string page_facts(const std::vector<std::pair<std::string, std::string>>& facts);
[[nodiscard]] std::string page_end(std::string_view more_script = "");

}  // namespace fathom::render
