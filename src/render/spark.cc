// SPDX-License-Identifier: MIT
// Averages a series into as many columns as there is room for. Gaps stay blank and are not drawn as
// zero.
#include "render/spark.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace fathom::render {

namespace {

constexpr const char* kColumns[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr double kLevels = 8;

// The mean of the finite numbers of a part; NaN where there is none.
double mean(std::span<const double> values) {
  double sum = 0;
  double count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> averaged(std::span<const double> values, std::size_t width) {
  const std::size_t columns = std::min(width, values.size());
  std::vector<double> out;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t begin = i * values.size() / columns;
    const std::size_t end = (i + 1) * values.size() / columns;
    out.push_back(mean(values.subspan(begin, end - begin)));
  }
  return out;
}

}  // namespace

std::string sparkline(std::span<const double> values, std::size_t width) {
  const std::vector<double> columns = averaged(values, width);
  double least = 0;
  double greatest = 0;
  for (const double value : columns) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  std::string out;
  for (const double value : columns) {
    if (!std::isfinite(value)) {
      out += ' ';
      continue;
    }
    const double share = greatest > least ? (value - least) / (greatest - least) : 0;
    out += kColumns[static_cast<std::size_t>(std::min(share * kLevels, kLevels - 1))];
  }
  return out;
}

}  // namespace fathom::render
