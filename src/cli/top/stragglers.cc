// SPDX-License-Identifier: MIT
// Compares each process with the median of those that run the same program. A process is named if
// it is much busier than the median, or as busy with far fewer calls.
#include "cli/top/stragglers.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace fathom::cli::top {
namespace {

constexpr std::size_t kFewest = 3;     // to be compared
constexpr double kMuchBusier = 1.5;    // than the one in the middle,
constexpr double kMoreCpus = 0.3;      // and by so much of a CPU: a second's shares scatter
constexpr double kMuchSlower = 0.5;    // calls of it, against those of the one in the middle,
constexpr double kCallsThatTell = 10;  // who makes fewer a second is no measure

struct Pace {
  std::int64_t pid = 0;
  double cpus = 0;
  double calls = 0;  // a second
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::map<std::string, std::vector<Pace>> paces_by_program(const analysis::Activity& activity) {
  std::map<std::int64_t, double> calls;
  for (const analysis::CallNow& call : activity.calls) calls[call.pid] += call.calls;
  std::map<std::string, std::vector<Pace>> groups;
  for (const analysis::ProcessNow& process : activity.processes)
    if (process.cpu)
      groups[process.program].push_back({process.pid, *process.cpu, calls[process.pid]});
  return groups;
}

}  // namespace

std::map<std::int64_t, std::string> find_stragglers(const analysis::Activity& activity) {
  std::map<std::int64_t, std::string> found;
  for (const auto& [program, paces] : paces_by_program(activity)) {
    if (paces.size() < kFewest) continue;
    std::vector<double> cpus, calls;
    for (const Pace& pace : paces) {
      cpus.push_back(pace.cpus);
      calls.push_back(pace.calls);
    }
    const double usual_cpus = median(cpus);
    const double usual_calls = median(calls);
    for (const Pace& pace : paces) {
      const bool busier =
          pace.cpus > usual_cpus * kMuchBusier && pace.cpus > usual_cpus + kMoreCpus;
      const bool as_busy = pace.cpus >= usual_cpus / kMuchBusier;
      if (busier) {
        found[pace.pid] = fmt::format("straggler: {:.0f} % busy, the others {:.0f} %",
                                      100 * pace.cpus, 100 * usual_cpus);
      } else if (as_busy && usual_calls >= kCallsThatTell &&
                 pace.calls < usual_calls * kMuchSlower) {
        found[pace.pid] = fmt::format("straggler: {} calls/s, the others {}",
                                      human_count(pace.calls), human_count(usual_calls));
      }
    }
  }
  return found;
}

}  // namespace fathom::cli::top
