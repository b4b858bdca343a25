// SPDX-License-Identifier: MIT
// Any bytes as a budget file: read, or refused in one line that names the place.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "analysis/check/budget.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::analysis;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto budgets = parse_budgets(text, "b");
  if (!budgets) {
    const std::string& message = budgets.error().message;
    if (!message.starts_with("b:") || message.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  for (const Budget& budget : *budgets) {
    if (budget.name.empty() || (!budget.max && !budget.min)) std::abort();
  }
  return 0;
}
