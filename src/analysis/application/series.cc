// SPDX-License-Identifier: MIT
// Sums and integrals are looked up by binary search: a function that ran a million times asks a
// million times.
#include "analysis/application/series.h"

#include <algorithm>

#include "analysis/compare/spread.h"

namespace fathom::analysis {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// The last point at or before a moment; the first one where there is none.
std::size_t place_of(const std::vector<Point>& points, std::int64_t ts) {
  const auto behind = std::ranges::upper_bound(points, ts, {}, &Point::ts);
  return behind == points.begin() ? 0 : static_cast<std::size_t>(behind - points.begin()) - 1;
}

}  // namespace

Growth::Growth(std::vector<Point> points) : points_(std::move(points)) {
  for (std::size_t i = 1; i < points_.size(); ++i)
    points_[i].value = std::max(points_[i].value, points_[i - 1].value);
}

double Growth::total() const { return empty() ? 0 : points_.back().value - points_.front().value; }

double Growth::at(std::int64_t ts) const {
  const std::size_t i = place_of(points_, ts);
  const Point& left = points_[i];
  if (ts <= left.ts || i + 1 == points_.size()) return left.value;
  const Point& right = points_[i + 1];
  const double share = static_cast<double>(ts - left.ts) / static_cast<double>(right.ts - left.ts);
  return left.value + share * (right.value - left.value);
}

double Growth::between(std::int64_t from, std::int64_t to) const {
  return empty() || to <= from ? 0 : at(to) - at(from);
}

double Growth::peak_rate() const {
  if (empty()) return 0;
  const auto rate = [](const Point& from, const Point& to) {
    const auto ns = static_cast<double>(to.ts - from.ts);
    return ns <= 0 ? 0 : (to.value - from.value) / ns * static_cast<double>(kSecond);
  };
  if (points_.back().ts - points_.front().ts <= kSecond)
    return rate(points_.front(), points_.back());
  double most = 0;
  std::size_t from = 0;
  for (const Point& to : points_) {
    while (points_[from + 1].ts <= to.ts - kSecond) ++from;
    if (to.ts - points_[from].ts >= kSecond) most = std::max(most, rate(points_[from], to));
  }
  return most;
}

Level::Level(std::vector<Point> points) : points_(std::move(points)), areas_(points_.size()) {
  for (std::size_t i = 1; i < points_.size(); ++i) {
    const auto ns = static_cast<double>(points_[i].ts - points_[i - 1].ts);
    areas_[i] = areas_[i - 1] + points_[i - 1].value * ns;
  }
}

double Level::median() const {
  std::vector<double> values;
  for (const Point& point : points_) values.push_back(point.value);
  return values.empty() ? 0 : analysis::median(values);
}

double Level::mean() const {
  double sum = 0;
  for (const Point& point : points_) sum += point.value;
  return points_.empty() ? 0 : sum / static_cast<double>(points_.size());
}

double Level::peak() const {
  const auto most = std::ranges::max_element(points_, {}, &Point::value);
  return most == points_.end() ? 0 : most->value;
}

double Level::area_until(std::int64_t ts) const {
  const std::size_t i = place_of(points_, ts);
  return areas_[i] + points_[i].value * static_cast<double>(ts - points_[i].ts);
}

double Level::area(std::int64_t from, std::int64_t to) const {
  return empty() || to <= from ? 0 : area_until(to) - area_until(from);
}

}  // namespace fathom::analysis
