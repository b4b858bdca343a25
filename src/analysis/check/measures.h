// SPDX-License-Identifier: MIT
// What a budget can limit.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/table.h"

namespace fathom::analysis {

enum class Subject : std::uint8_t {
  kRun,      // the run as a whole
  kCalls,    // the calls that function, layer, category and file select; without them all calls
  kCounter,  // of a counter
  kLosses,   // of a layer, or of all
  kInsights,
};

struct MeasureDef {
  std::string_view name;
  Subject subject;
  Measure unit;
  std::string_view help;
};

[[nodiscard]] std::span<const MeasureDef> measures();

// nullptr where there is none. A counter's measures have names of their own, among them `max`.
[[nodiscard]] const MeasureDef* find_measure(std::string_view name, bool of_counter);

// "wall, cpu, …"
[[nodiscard]] std::string measure_names();

}  // namespace fathom::analysis
