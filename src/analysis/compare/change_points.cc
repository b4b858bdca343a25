// SPDX-License-Identifier: MIT
// A history is cut into pieces of one level each, so that the distances of all values from the
// medians of their pieces, and a price for each piece, are least in sum: the L1 Potts problem,
// which is solved exactly. One bad night moves no median, and the price is that of the noise of
// this history, so that a noisy one is cut less. In the end neighbours must differ by the rule that
// all comparisons follow (statistics.h), or they are joined again.
#include "analysis/compare/change_points.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <queue>

namespace fathom::analysis {
namespace {

using Values = std::span<const double>;

// Keeps the median of the values so far, and the sum of their distances from it.
class RunningDistance {
 public:
  void clear() {
    lower_ = {};
    upper_ = {};
    lower_sum_ = upper_sum_ = 0;
  }
  double add(double value) {
    if (lower_.empty() || value <= lower_.top()) {
      lower_.push(value);
      lower_sum_ += value;
    } else {
      upper_.push(value);
      upper_sum_ += value;
    }
    balance();
    const double middle = lower_.top();
    const auto more_below = static_cast<double>(lower_.size() - upper_.size());  // 0 or 1
    return std::max(0.0, middle * more_below - lower_sum_ + upper_sum_);
  }

 private:
  void balance() {
    if (lower_.size() < upper_.size()) {
      const double moved = upper_.top();
      upper_.pop();
      upper_sum_ -= moved;
      lower_.push(moved);
      lower_sum_ += moved;
    } else if (lower_.size() > upper_.size() + 1) {
      const double moved = lower_.top();
      lower_.pop();
      lower_sum_ -= moved;
      upper_.push(moved);
      upper_sum_ += moved;
    }
  }

  std::priority_queue<double> lower_;
  std::priority_queue<double, std::vector<double>, std::greater<>> upper_;
  double lower_sum_ = 0;
  double upper_sum_ = 0;
};

// For each place, the sum of distances if the values are split before it.
std::vector<double> costs_of_splits(Values values) {
  std::vector<double> costs(values.size());
  RunningDistance before;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) costs[i + 1] = before.add(values[i]);
  RunningDistance after;
  for (std::size_t i = values.size(); i-- > 0;) costs[i] += after.add(values[i]);
  return costs;
}

// The standard deviation of the values around their level, from the differences of neighbours:
// steps are few among them, and so are bad nights, but not nights of another mode.
double noise_of(Values values) {
  constexpr double kShare = 0.8;
  constexpr double kOfNormal = 1.8124;  // this quantile of such differences, in deviations
  std::vector<double> differences;
  for (std::size_t i = 1; i < values.size(); ++i)
    differences.push_back(std::fabs(values[i] - values[i - 1]));
  std::ranges::sort(differences);
  return quantile(differences, kShare) / kOfNormal;
}

// What a piece costs: more than what cutting noise gains, even at the best place. Counts that
// repeat exactly have no noise; their price keeps apart what differs by rounding alone.
double price_of_piece(Values values) {
  constexpr double kCaution = 2.8;
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  const double noise = std::max(noise_of(values), 1e-9 * largest);
  return kCaution * noise * std::log(static_cast<double>(values.size()));
}

// Where the pieces begin, but for the first.
std::vector<std::size_t> cuts_of(Values values) {
  constexpr std::size_t kShortest = 2;  // a single value is no level
  const double price = price_of_piece(values);
  std::vector<double> least(values.size() + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> begin_of(values.size() + 1);
  least[0] = 0;
  RunningDistance piece;
  for (std::size_t end = kShortest; end <= values.size(); ++end) {
    piece.clear();
    for (std::size_t begin = end; begin-- > 0;) {
      const double distance = piece.add(values[begin]);
      const double cost = least[begin] + distance + price;
      if (end - begin < kShortest || cost >= least[end]) continue;
      least[end] = cost;
      begin_of[end] = begin;
    }
  }
  std::vector<std::size_t> cuts;
  for (std::size_t begin = begin_of[values.size()]; begin > 0; begin = begin_of[begin])
    cuts.push_back(begin);
  std::ranges::reverse(cuts);
  return cuts;
}

class Changes {
 public:
  Changes(Values values, const ChangeOptions& options) : values_(values), options_(options) {
    if (values.size() < kLeastHistory) return;
    for (const std::size_t cut : cuts_of(values)) found_.emplace_back().index = cut;
    join_alike();
  }

  // The surest of them; 1 where there is none.
  [[nodiscard]] double p() const {
    double least = 1;
    for (const ChangePoint& point : found_) least = std::min(least, point.p);
    return least;
  }
  std::vector<ChangePoint> take() {
    for (std::size_t i = 0; i < found_.size(); ++i) widen(i);
    return std::move(found_);
  }

 private:
  // Takes the least sure change away until all that are left can be told from their neighbours.
  void join_alike() {
    for (std::size_t i = 0; i < found_.size(); ++i) estimate_at(i);
    while (true) {
      const auto weak = std::ranges::max_element(
          found_, {}, [&](const ChangePoint& point) { return is_change(point) ? -1.0 : point.p; });
      if (weak == found_.end() || is_change(*weak)) return;
      const auto at = static_cast<std::size_t>(weak - found_.begin());
      found_.erase(weak);
      if (at > 0) estimate_at(at - 1);
      if (at < found_.size()) estimate_at(at);
    }
  }

  // The values from the change before to the next one, and where this one is among them.
  [[nodiscard]] Values around(std::size_t i) const {
    const std::size_t from = begin_of(i);
    const std::size_t to = i + 1 == found_.size() ? values_.size() : found_[i + 1].index;
    return values_.subspan(from, to - from);
  }
  [[nodiscard]] std::size_t begin_of(std::size_t i) const {
    return i == 0 ? 0 : found_[i - 1].index;
  }

  void estimate_at(std::size_t i) {
    const Values values = around(i);
    const std::size_t at = found_[i].index - begin_of(i);
    const auto sizes = std::pair(at, values.size() - at);
    const RankTest& test = tests_.try_emplace(sizes, sizes.first, sizes.second).first->second;
    const std::size_t resamples = std::clamp<std::size_t>(200'000 / values.size(), 200, 2000);
    found_[i].estimate = estimate(values.first(at), values.subspan(at), test, resamples);
    found_[i].p = found_[i].estimate.p.value_or(1);
  }

  [[nodiscard]] bool is_change(const ChangePoint& point) const {
    const Estimate& estimate = point.estimate;
    return point.p < options_.significant && estimate.significant() &&
           std::fabs(estimate.change) >= options_.equal * std::fabs(estimate.before);
  }

  // Places around that are worse by no more than what a few values scatter.
  void widen(std::size_t i) {
    constexpr double kFew = 4;
    const std::vector<double> costs = costs_of_splits(around(i));
    const std::size_t from = begin_of(i);
    const std::size_t at = found_[i].index - from;
    const double limit = costs[at] * (1 + kFew / static_cast<double>(costs.size()));
    std::size_t first = at;
    std::size_t last = at;
    while (first > 1 && costs[first - 1] <= limit) --first;
    while (last + 1 < costs.size() && costs[last + 1] <= limit) ++last;
    found_[i].first = from + first;
    found_[i].last = from + last;
  }

  Values values_;
  const ChangeOptions& options_;
  std::vector<ChangePoint> found_;
  std::map<std::pair<std::size_t, std::size_t>, RankTest> tests_;
};

// As for two sets (trials.cc): wall time by itself, and the others as one family.
std::vector<double> corrected_ps(const Trials& history, const std::vector<Changes>& changes) {
  std::vector<double> all(changes.size());
  for (const bool of_wall : {true, false}) {
    std::vector<double> ps;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      if ((history[i].metric == kWall) != of_wall) continue;
      ps.push_back(changes[i].p());
      places.push_back(i);
    }
    const std::vector<double> corrected = holm(ps);
    for (std::size_t i = 0; i < places.size(); ++i) all[places[i]] = corrected[i];
  }
  return all;
}

}  // namespace

std::vector<std::vector<ChangePoint>> change_points(const Trials& history,
                                                    const ChangeOptions& options) {
  std::vector<Changes> changes;
  for (const Series& series : history) {
    const Values values = series.values;
    changes.emplace_back(values.last(std::min(values.size(), kMostHistory)), options);
  }
  const std::vector<double> ps = corrected_ps(history, changes);
  std::vector<std::vector<ChangePoint>> found(history.size());
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (!(ps[i] < options.significant)) continue;
    found[i] = changes[i].take();
    const std::size_t older =
        history[i].values.size() - std::min(history[i].values.size(), kMostHistory);
    for (ChangePoint& point : found[i]) {
      point.index += older;
      point.first += older;
      point.last += older;
    }
  }
  return found;
}

}  // namespace fathom::analysis
