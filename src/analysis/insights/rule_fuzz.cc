// SPDX-License-Identifier: MIT
// Rules of somebody else's: any text is a rule or an error of one line; what is filled into its
// words does not matter.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/insights/rule.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::analysis;
  const fathom::Result<Rule> rule = parse_rule({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!rule) {
    if (rule.error().message.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  fathom::Table table;
  table.columns = {{"n"}, {"name"}};
  table.rows = {{std::int64_t{7}, std::string("x")}};
  (void)fill_in(rule->says, table, table.rows[0]).has_value();
  (void)fill_in(rule->advice, table, table.rows[0]).has_value();
  return 0;
}
