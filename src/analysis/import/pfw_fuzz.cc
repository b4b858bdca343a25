// SPDX-License-Identifier: MIT
// Any bytes as a `.pfw` file: both passes, in memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/import/line_reader.h"
#include "analysis/import/pfw_facts.h"
#include "analysis/import/pfw_line.h"
#include "analysis/import/pfw_rows.h"

namespace fathom::analysis {
namespace {

template <class Use>
void each_line(std::string_view content, Use use) {
  LineReader reader = LineReader::of(content);
  PfwParser parser;
  PfwLine line;
  PfwUnit unit;
  while (true) {
    const Result<std::optional<std::string_view>> text = reader.next();
    if (!text || !*text) return;
    if (parser.parse(**text, line) != PfwParser::Outcome::kLine) continue;
    unit.learn(line);
    use(line, unit);
  }
}

void import(std::string_view content) {
  PfwFacts facts;
  each_line(content, [&](const PfwLine& line, PfwUnit unit) { facts.add(line, unit); });
  facts.finish();
  trace::Strings strings;
  PfwRows rows(facts, strings);
  PfwBatches batches;
  each_line(content, [&](const PfwLine& line, PfwUnit unit) { rows.add(line, unit, batches); });
  const std::size_t made = batches.events.rows() + batches.intervals.rows.size();
  if (made > static_cast<std::size_t>(facts.rows)) std::abort();  // the passes must agree
  (void)rows.processes();
  (void)rows.threads();
}

}  // namespace
}  // namespace fathom::analysis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fathom::analysis::import({reinterpret_cast<const char*>(data), size});
  return 0;
}
