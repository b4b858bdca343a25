// SPDX-License-Identifier: MIT
#include "analysis/views/sampled_event.h"

#include <fmt/format.h>

#include <vector>

#include "analysis/sample_events.h"
#include "analysis/view_tools.h"
#include "base/text.h"

namespace fathom::analysis {

Result<SampledEvent> sampled_event(Store& store) {
  FATHOM_ASSIGN(const Table rows,
                store.query(fmt::format("SELECT coalesce(event, 'without a name'), "
                                        "{} AS chosen FROM samples WHERE event IS DISTINCT FROM "
                                        "'off-cpu' GROUP BY event ORDER BY chosen DESC, event",
                                        kOfOneEvent)));
  SampledEvent sampled;
  std::vector<std::string> others;
  for (std::size_t i = 1; i < rows.rows.size(); ++i) others.push_back(text_of(rows.rows[i][0]));
  if (rows.rows.empty()) return sampled;
  sampled.name = text_of(rows.rows[0][0]);
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
