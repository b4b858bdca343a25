// SPDX-License-Identifier: MIT
// The words of --weight.
#include "render/export/stack_choice.h"

#include <utility>

#include "base/text.h"

namespace fathom::render {

Result<StackWeight> parse_weight(std::string_view text) {
  constexpr std::pair<std::string_view, StackWeight> kWords[] = {
      {"cpu", StackWeight::kCpu},
      {"off-cpu", StackWeight::kOffCpu},
      {"all", StackWeight::kAll},
      {"calls", StackWeight::kCalls},
  };
  for (const auto& [word, weight] : kWords) {
    if (text == word) return weight;
  }
  return usage_error("there is no weight '" + escape_control(text) + "'",
                     "--weight takes cpu, off-cpu, all or calls");
}

}  // namespace fathom::render
