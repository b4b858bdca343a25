// SPDX-License-Identifier: MIT
// A number over time, and what it was over any part of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace fathom::analysis {

struct Point {
  std::int64_t ts = 0;
  double value = 0;
};

// In the order of time. A sum since some beginning, such as CPU time: it only grows.
class Growth {
 public:
  explicit Growth(std::vector<Point> points);
  [[nodiscard]] bool empty() const { return points_.size() < 2; }
  [[nodiscard]] double total() const;
  // Between two moments; where no point lies, in proportion between its neighbours.
  [[nodiscard]] double between(std::int64_t from, std::int64_t to) const;
  // The most that it grew in a second, over stretches of a second: what is shorter is chance, and a
  // limit of the kernel's holds over such a time. Of a shorter series, over all of it.
  [[nodiscard]] double peak_rate() const;

 private:
  [[nodiscard]] double at(std::int64_t ts) const;
  std::vector<Point> points_;
};

// A level, such as memory.
class Level {
 public:
  explicit Level(std::vector<Point> points);
  [[nodiscard]] bool empty() const { return points_.empty(); }
  [[nodiscard]] std::size_t size() const { return points_.size(); }
  [[nodiscard]] double median() const;
  [[nodiscard]] double mean() const;  // each point counts the same
  [[nodiscard]] double peak() const;
  // The integral between two moments, in value times ns: each point holds until the next one, the
  // first also before, the last also behind.
  [[nodiscard]] double area(std::int64_t from, std::int64_t to) const;

 private:
  [[nodiscard]] double area_until(std::int64_t ts) const;
  std::vector<Point> points_;
  std::vector<double> areas_;  // from the first point to each
};

}  // namespace fathom::analysis
