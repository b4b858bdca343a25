// SPDX-License-Identifier: MIT
// Numbers with units, as a budget has them.
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include "analysis/check/budget.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr Unit kTimes[] = {{"ns", 1},  {"us", 1e3},   {"ms", 1e6},
                           {"s", 1e9}, {"min", 6e10}, {"h", 3.6e12}};
constexpr Unit kPlain[] = {{"", 1}};
constexpr Unit kShares[] = {{"%", 1}};
// Powers of 1024, as everywhere in Fathom.
constexpr Unit kSizes[] = {{"", 1},         {"B", 1},        {"KiB", 0x1p10},
                           {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};

struct Scale {
  Measure unit;
  std::span<const Unit> units;
  std::string_view hint;
};
// In the order in which a suffix that could mean anything is looked up.
constexpr Scale kScales[] = {
    {Measure::kCount, kPlain, "write a plain number"},
    {Measure::kNanoseconds, kTimes, "write a time with its unit: ns, us, ms, s, min or h"},
    {Measure::kBytes, kSizes, "write a size in B, KiB, MiB, GiB or TiB"},
    {Measure::kPercent, kShares, "write a share as 20%"},
};

// What the suffix stands for where `wanted` is measured; kNone takes anything, and a plain number
// has no unit then.
std::optional<std::pair<Measure, double>> meaning_of(std::string_view suffix, Measure wanted) {
  for (const Scale& scale : kScales) {
    if (wanted != Measure::kNone && wanted != scale.unit) continue;
    for (const Unit& unit : scale.units) {
      if (unit.name == suffix) return std::pair(suffix.empty() ? wanted : scale.unit, unit.factor);
    }
  }
  return std::nullopt;
}

std::string hint_of(Measure unit) {
  std::string hint = "write a number, or one with a unit: ms, s, KiB, MiB, %";
  for (const Scale& scale : kScales) {
    if (scale.unit == unit) hint = scale.hint;
  }
  return hint + "; +5% is relative to --baseline";
}

}  // namespace

Result<Limit> parse_limit(std::string_view text, Measure unit) {
  const Error wrong{Code::kInvalid, "'" + escape_control(text) + "' is not a limit of this",
                    hint_of(unit)};
  Limit limit;
  limit.text = std::string(trim(text));
  std::string_view rest = limit.text;
  limit.relative = rest.starts_with('+') || rest.starts_with('-');
  const double sign = rest.starts_with('-') ? -1 : 1;
  if (limit.relative) rest.remove_prefix(1);
  const char* const end = rest.data() + rest.size();
  const auto [stop, failure] = std::from_chars(rest.data(), end, limit.number);
  if (failure != std::errc() || !std::isfinite(limit.number) || std::signbit(limit.number)) {
    return wrong;
  }
  const std::string_view suffix = trim({stop, static_cast<std::size_t>(end - stop)});
  limit.in_percent = limit.relative && suffix == "%";
  limit.unit = unit;
  if (limit.in_percent || (suffix.empty() && limit.number == 0)) {
    limit.number *= sign;  // zero is zero in any unit
    return limit;
  }
  const auto meaning = meaning_of(suffix, unit);
  if (!meaning) return wrong;
  limit.unit = meaning->first;
  limit.number *= sign * meaning->second;
  return limit;
}

}  // namespace fathom::analysis
