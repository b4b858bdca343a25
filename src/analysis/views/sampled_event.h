// SPDX-License-Identifier: MIT
// Weights of different events cannot be added up: ns of CPU and page faults. So reports of samples
// show one event, the clock if there is one, and say which others there are. `cycles:u` and
// `cycles:k`, which perf's files have, are the two halves of one event and do add up.
#pragma once

#include <string>

#include "analysis/report.h"
#include "analysis/store.h"

namespace fathom::analysis {

// A condition on rows of `samples`. Stretches off the CPU have views of their own.
inline constexpr char kOfOneEvent[] =
    R"(regexp_replace(event, ':[uk]$', ':half') IS NOT DISTINCT FROM (
         SELECT regexp_replace(event, ':[uk]$', ':half') AS whole FROM samples
         WHERE event IS DISTINCT FROM 'off-cpu' GROUP BY whole
         ORDER BY regexp_matches(coalesce(whole, ''), '^(cpu|task)-clock') DESC, count(*) DESC, whole
         LIMIT 1))";

struct SampledEvent {
  std::string name;
  Measure measure = Measure::kNanoseconds;         // of its weights
  Measure measure_of_all = Measure::kNanoseconds;  // where weights of every event are in one column
  std::string note;                                // which others there are; "": none
};
// The one that the condition chooses.
Result<SampledEvent> sampled_event(Store& store);

// Adds a sentence to what a table says below itself.
void add_note(Table& table, const std::string& sentence);

}  // namespace fathom::analysis
