// SPDX-License-Identifier: MIT
// The table of measures. docs/budget.md and the parser of budgets go by it.
#include "analysis/check/measures.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr MeasureDef kMeasures[] = {
    {"wall", Subject::kRun, kNanoseconds, "wall time"},
    {"cpu", Subject::kRun, kNanoseconds, "CPU time of all processes, as sampled"},
    {"memory", Subject::kRun, kBytes, "largest resident memory of all processes, as sampled"},
    {"self", Subject::kCalls, kNanoseconds, "time in the calls, excluding nested calls"},
    {"share", Subject::kCalls, kPercent, "self time in percent of all threads' time"},
    {"total", Subject::kCalls, kNanoseconds, "time in the calls, including nested calls"},
    {"calls", Subject::kCalls, kCount, "number of calls"},
    {"errors", Subject::kCalls, kCount, "number of calls that failed"},
    {"bytes", Subject::kCalls, kBytes, "bytes moved"},
    {"mean", Subject::kCalls, kNanoseconds, "mean time of a call"},
    {"p50", Subject::kCalls, kNanoseconds, "median time of a call"},
    {"p99", Subject::kCalls, kNanoseconds, "99th percentile of the time of a call"},
    {"max", Subject::kCalls, kNanoseconds, "time of the longest call"},
    {"total", Subject::kCounter, kNone, "final value of a counter that only grows"},
    {"mean", Subject::kCounter, kNone, "mean of a counter that goes up and down"},
    {"max", Subject::kCounter, kNone, "its largest value"},
    {"losses", Subject::kLosses, kCount, "events that were lost"},
    {"insights", Subject::kInsights, kCount, "rules of that severity or above that fire"},
};

}  // namespace

std::span<const MeasureDef> measures() { return kMeasures; }

const MeasureDef* find_measure(std::string_view name, bool of_counter) {
  for (const MeasureDef& measure : kMeasures) {
    if (measure.name == name && (measure.subject == Subject::kCounter) == of_counter) {
      return &measure;
    }
  }
  return nullptr;
}

std::string measure_names() {
  std::string names;
  for (const MeasureDef& measure : kMeasures) {
    if (measure.subject == Subject::kCounter) continue;
    names += (names.empty() ? "" : ", ") + std::string(measure.name);
  }
  return names;
}

}  // namespace fathom::analysis
