// SPDX-License-Identifier: MIT
// Chooses the one event of samples that a report shows, and words the note about the others.
// kOfOneEvent in the header is the same choice for SQL.
#include "analysis/views/sampled_event.h"

#include <fmt/format.h>

#include <vector>

#include "analysis/sample_events.h"
#include "analysis/view_tools.h"
#include "base/text.h"

namespace fathom::analysis {

Result<SampledEvent> sampled_event(Store& store) {
  FATHOM_ASSIGN(const Table rows,
                store.query(fmt::format(
                    "SELECT coalesce(event, 'without a name'), "
                    "CAST({} AS BIGINT) AS chosen FROM samples WHERE event IS DISTINCT FROM "
                    "'off-cpu' GROUP BY event ORDER BY chosen DESC, event",
                    kOfOneEvent)));
  SampledEvent sampled;
  std::vector<std::string> halves;
  std::vector<std::string> others;
  for (const auto& row : rows.rows) {
    const std::string name = text_of(row[0]);
    (int_of(row[1]) == 1 ? halves : others).push_back(name);
    if (!is_time_event(name)) sampled.measure_of_all = Measure::kCount;
  }
  if (halves.empty()) return sampled;
  sampled.name = join(halves, " and ");
  if (!is_time_event(sampled.name)) sampled.measure = Measure::kCount;
  if (!others.empty())
    sampled.note = fmt::format("samples of {}; there are also samples of {}: hot --by event",
                               sampled.name, join(others, ", "));
  return sampled;
}

void add_note(Table& table, const std::string& sentence) {
  if (sentence.empty()) return;
  table.note += (table.note.empty() ? "" : "; ") + sentence;
}

}  // namespace fathom::analysis
