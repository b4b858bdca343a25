// SPDX-License-Identifier: MIT
// A region is counted by its thread itself, which asks the kernel without a descriptor: one that
// stays open in somebody else's program could be closed there, and its number be another file's.
#include "session/event_options.h"

#include <algorithm>

#include "base/text.h"
#include "perf/event.h"
#include "perf/pmu.h"
#include "wire/region_events.h"

namespace fathom::session {
namespace {

#define ROW(name, what) name,
constexpr std::string_view kOfThreads[] = {FATHOM_REGION_EVENTS(ROW)};
#undef ROW

std::string why_not(const perf::Event& event) {
  if (!event.reason.empty()) return event.reason;
  if (event.is_hardware() && !perf::has_hardware_counters())
    return "this machine has no hardware counters";
  return "a thread cannot read it of itself; regions count " +
         join(std::vector<std::string>(std::begin(kOfThreads), std::end(kOfThreads)), ", ");
}

}  // namespace

Result<RegionEvents> region_events(std::string_view text) {
  FATHOM_ASSIGN(const std::vector<perf::Event> events, perf::parse_each(text));
  RegionEvents result;
  std::vector<std::string> names;
  for (const perf::Event& event : events) {
    if (std::ranges::find(kOfThreads, event.name) != std::end(kOfThreads)) {
      names.push_back(event.name);
    } else {
      result.refused.push_back(event.name + ": " + why_not(event));
    }
  }
  if (names.size() > FATHOM_MOST_REGION_EVENTS)
    return usage_error(
        "--region-events takes " + std::to_string(FATHOM_MOST_REGION_EVENTS) + " events at most",
        "name fewer");
  if (!names.empty()) result.variable = FATHOM_REGION_EVENTS_VARIABLE "=" + join(names, ",");
  return result;
}

Status check_counted(std::string_view text) {
  FATHOM_TRY(perf::parse_each(text));
  return {};
}

}  // namespace fathom::session
