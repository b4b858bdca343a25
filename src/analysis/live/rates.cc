// SPDX-License-Identifier: MIT
// Divides the growth between two looks by the time between them. It never reports a negative rate:
// sums can shrink a little when records move from segments into logs.
#include "analysis/live/rates.h"

#include <algorithm>
#include <utility>

#include "base/sum.h"

namespace fathom::analysis {
namespace {

constexpr double kNsPerSecond = 1e9;

// Sums of what lies in segments may shrink by a little when it is drained and decoded again.
double rate(std::int64_t more, double seconds) {
  return seconds > 0 ? static_cast<double>(std::max<std::int64_t>(0, more)) / seconds : 0;
}

std::int64_t pid_or_zero(std::int32_t pid) { return pid == trace::kNull32 ? 0 : pid; }

double seconds_between(std::int64_t before, std::int64_t now) {
  return static_cast<double>(now - before) / kNsPerSecond;
}

}  // namespace

void add_rates(const Tally& now, const Tally* before, const trace::Strings& names, Activity& to) {
  const std::int64_t interval =
      before != nullptr ? std::max<std::int64_t>(0, minus(now.until(), before->until())) : 0;
  const double seconds = static_cast<double>(interval) / kNsPerSecond;
  for (const auto& [key, sum] : now.calls()) {
    const CallSum more = interval > 0 ? sum.minus(before->of(key)) : CallSum();
    to.calls.push_back({pid_or_zero(key.pid), names.view(key.layer), names.view(key.name),
                        names.view(key.category), rate(more.calls, seconds),
                        rate(more.bytes, seconds), rate(more.self, seconds),
                        rate(more.beyond, seconds), sum.calls, sum.self});
  }
  for (const auto& [key, sum] : now.time()) {
    const std::int64_t more = interval > 0 ? minus(sum.recent, before->of(key).recent) : 0;
    auto& rows = key.cause == trace::kNoString ? to.functions : to.waits;
    const std::string_view what = names.view(key.what);
    rows.push_back({pid_or_zero(key.pid), names.view(key.cause), what.empty() ? "[unknown]" : what,
                    rate(more, seconds), sum.total});
  }
  to.events += interval > 0 ? rate(minus(now.events(), before->events()), seconds) : 0;
  add_to(to.total_events, now.events());
}

void add_usage(const Moment& now, const Moment* before, Activity& to) {
  std::unordered_map<std::int64_t, double> sampled;
  for (const TimeNow& row : to.functions) sampled[row.pid] += row.ns / kNsPerSecond;
  const double seconds =
      before != nullptr ? seconds_between(before->tally.until(), now.tally.until()) : 0;
  for (ProcessNow& process : to.processes) {
    const auto pid = static_cast<std::int32_t>(process.pid);
    const auto used = now.usage.find(pid);
    if (used != now.usage.end()) process.memory_bytes = used->second.memory_bytes;
    if (seconds <= 0) continue;
    const auto was = before->usage.find(pid);
    const bool fresh = process.start_ns >= before->tally.until();
    if (used != now.usage.end() && (was != before->usage.end() || fresh)) {
      const double earlier = was != before->usage.end() ? was->second.cpu_s() : 0;
      process.cpu = std::max(0.0, (used->second.cpu_s() - earlier) / seconds);
    } else if (to.sampled) {
      process.cpu = sampled[process.pid];
    }
  }
}

}  // namespace fathom::analysis
