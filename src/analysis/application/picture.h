// SPDX-License-Identifier: MIT
// What a picture of a run shows: how busy each CPU was, memory, and when functions and loops ran.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/application/series.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

struct PictureCurve {
  std::string name;           // "CPU 0", "Memory"
  std::vector<Point> points;  // in order
  bool is_percent = true;     // else bytes
};

// A function or a loop, and when it ran.
struct PictureBar {
  std::string name;
  bool is_loop = false;
  double total_s = 0;
  // When it was open, in shares of the run from 0 to 1; joined where a picture could not tell.
  std::vector<std::pair<double, double>> spans;
};

struct Picture {
  std::string title;
  std::int64_t wall_ns = 0;
  std::vector<PictureCurve> curves;  // CPUs in order, memory last
  std::vector<PictureBar> bars;      // longest first; loops behind functions
  std::size_t bars_left_out = 0;
};

// The application's own, by its control group, or else the machine's.
Result<Picture> picture_of(Store& store);

}  // namespace fathom::analysis
