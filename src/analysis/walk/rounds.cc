// SPDX-License-Identifier: MIT
// Exact percentiles of repeated regions, and their trend by a running regression. The caller bounds
// how many rounds are kept.
#include "analysis/walk/rounds.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/walk/made_rows.h"

namespace fathom::analysis {
namespace {

// Between the two nearest, in proportion. The values change places.
std::int64_t quantile(std::vector<std::int64_t>& values, double part) {
  const double at = part * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), values.begin() + low, values.end());
  const auto below = static_cast<double>(values[static_cast<std::size_t>(low)]);
  const double share = at - static_cast<double>(low);
  if (share == 0) return values[static_cast<std::size_t>(low)];
  const auto above = static_cast<double>(*std::min_element(values.begin() + low + 1, values.end()));
  return std::llrint(below + share * (above - below));
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

}  // namespace

void Rounds::expect(const std::string& name) {
  if (codes_.try_emplace(name, static_cast<std::uint32_t>(series_.size())).second)
    series_.push_back({.name = name});
}

std::uint32_t Rounds::find(const std::optional<std::string>& name) const {
  const auto found = name ? codes_.find(*name) : codes_.end();
  return found == codes_.end() ? kNone : found->second;
}

void Rounds::add(std::uint32_t series, std::uint32_t thread, std::int64_t dur) {
  Series& to = series_[series];
  const std::int64_t n = ++to.rounds[thread];
  (n == 1 ? to.first : to.rest).push_back(dur);
  const auto count = static_cast<double>(to.first.size() + to.rest.size());
  const double from_n = static_cast<double>(n) - to.mean_n;
  to.mean_n += from_n / count;
  to.mean_dur += (static_cast<double>(dur) - to.mean_dur) / count;
  to.spread_n += from_n * (static_cast<double>(n) - to.mean_n);
  to.spread_both += from_n * (static_cast<double>(dur) - to.mean_dur);
}

Status Rounds::into(Store& store) {
  MadeRows rows(kPhaseTimes);
  auto& phase = rows.texts("phase");
  auto& calls = rows.numbers("calls");
  auto& threads = rows.numbers("threads");
  auto& total = rows.numbers("total");
  auto& median = rows.numbers("median");
  auto& p95 = rows.numbers("p95");
  auto& first = rows.numbers("first");
  auto& rest = rows.numbers("rest");
  auto& trend = rows.reals("trend");
  for (Series& series : series_) {
    if (series.rest.empty()) continue;
    const auto begun = static_cast<std::int64_t>(series.first.size());
    const std::int64_t of_first = sum(series.first);
    phase.add(series.name);
    calls.add(begun + static_cast<std::int64_t>(series.rest.size()));
    threads.add(begun);
    total.add(of_first + sum(series.rest));
    first.add(std::llrint(static_cast<double>(of_first) / static_cast<double>(begun)));
    rest.add(quantile(series.rest, 0.5));
    const double slope = series.spread_n > 0 ? series.spread_both / series.spread_n : 0;
    trend.add(std::round(1e5 * slope / series.mean_dur) / 1e3);
    std::vector<std::int64_t>& all = series.rest;
    all.insert(all.end(), series.first.begin(), series.first.end());
    median.add(quantile(all, 0.5));
    p95.add(quantile(all, 0.95));
  }
  return rows.into(store);
}

}  // namespace fathom::analysis
