// SPDX-License-Identifier: MIT
// What rows of the recorder add to sums. Calls of the kernel come as sums of an interval already:
// when each call began is not known, so their time is spread over the interval.
#include <algorithm>
#include <string>

#include "trace/decode/host_rows.h"
#include "trace/rows/layers.h"

namespace fathom::trace {
namespace {

SummaryRow summary_of(const IntervalRow& row) {
  SummaryRow sums;
  sums.key = {row.layer, row.name,    row.category, row.file,
              row.pid,   row.program, row.process,  row.peer};
  sums.calls = row.calls;
  sums.errors = row.errors;
  sums.dur = sums.self = row.dur;
  sums.dur_min = row.dur_min == kNull ? 0 : row.dur_min;
  sums.dur_max = row.dur_max == kNull ? 0 : row.dur_max;
  sums.bytes = row.bytes;
  sums.first = row.ts;
  sums.last = row.ts + row.width;
  sums.hist = row.hist;
  return sums;
}

// Evenly over its interval; a call that took longer began before it.
void add_to_timeline(const IntervalRow& row, Timeline& timeline) {
  const std::int64_t end = row.ts + row.width;
  const std::int64_t begin = std::max<std::int64_t>(0, end - std::max(row.width, row.dur));
  const std::int64_t idle = std::max<std::int64_t>(0, end - begin - row.dur);
  timeline.add(row.layer, begin, end - begin, {.time = idle}, row.bytes, row.calls);
}

}  // namespace

void add_sums(const HostRows& rows, const Strings& strings, Decoder::Sums& sums) {
  const auto count = [&](std::uint32_t layer, std::size_t many) {
    if (layer != kNoString)
      sums.events_by_layer[std::string(strings.view(layer))] += static_cast<std::int64_t>(many);
  };
  for (const CounterRow& row : rows.counters.rows) count(row.layer, 1);
  if (!rows.samples.rows.empty())
    sums.events_by_layer[std::string(kSampledLayer)] +=
        static_cast<std::int64_t>(rows.samples.rows.size());
  for (std::size_t at = 0; at < rows.events.rows(); at++) {
    count(rows.events.layer[at], 1);
    sums.coverage.of(rows.events.layer[at])
        .extend(rows.events.ts[at], rows.events.ts[at] + rows.events.dur[at]);
  }
  for (const IntervalRow& row : rows.intervals.rows) {
    count(row.layer, 1);
    sums.summary.add(summary_of(row));
    add_to_timeline(row, sums.timeline);
  }
  for (const IntervalRow& row : rows.targets.rows) sums.summary.add(summary_of(row));
  sums.losses.insert(sums.losses.end(), rows.losses.begin(), rows.losses.end());
}

}  // namespace fathom::trace
