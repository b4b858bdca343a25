// SPDX-License-Identifier: MIT
// DFTracer's rules for aggregation (DFTRACER_AGGREGATION_FILE): which events are added up. A rule
// is `cat == 'POSIX'`, `cat IN {'POSIX', 'STDIO'}`, `name LIKE '*stat*'` or `dur > 1000`, or such
// ones with NOT, AND and OR between, of which AND divides first and NOT holds for all behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/export/event_stream.h"

namespace fathom::render {

// What rules ask of an event, by these names; `tags.KEY` is an argument.
struct DftracerFacts {
  std::string_view name, cat, app;
  std::int64_t ts = 0, dur = 0;  // in the unit of the file
  ExportNumber rank;
  std::span<const ExportArg> args;
};

// A node of a rule's tree, or the whole of it.
struct DftracerRule {
  enum class Kind : std::uint8_t { kNot, kAnd, kOr, kIn, kLike, kCompare };
  Kind kind = Kind::kCompare;
  std::string field = {};
  std::string comparison = {};            // of kCompare: "==", "!=", ">=", "<=", ">" or "<"
  std::vector<std::string> values = {};   // of kIn any number, of kLike and kCompare one
  std::vector<DftracerRule> inside = {};  // of kNot one, of kAnd and kOr two

  [[nodiscard]] bool fits(const DftracerFacts& event) const;
};
// Nothing: it is not understood.
[[nodiscard]] std::optional<DftracerRule> parse_dftracer_rule(std::string_view text);

// All rules of one file, which choose together.
class DftracerRules {
 public:
  // A rule that is not understood chooses nothing.
  void include(std::string_view rule) { add(rule, include_); }
  void exclude(std::string_view rule) { add(rule, exclude_); }
  // Without rules every event; else those that one of `include` fits and none of `exclude`.
  [[nodiscard]] bool choose(const DftracerFacts& event) const;

 private:
  void add(std::string_view rule, std::vector<DftracerRule>& to);

  bool given_ = false;
  std::vector<DftracerRule> include_, exclude_;
};

}  // namespace fathom::render
