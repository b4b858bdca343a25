// SPDX-License-Identifier: MIT
// Both sides are means over their runs. Samples are drawn: a function is named only if its change
// is larger than chance makes it, three standard deviations of a sum of so many weights.
#include "analysis/compare/sampled_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/compare/statistics.h"
#include "analysis/view_tools.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr double kDeviations = 3;
constexpr double kWorthNaming = 10;  // percent of the change
constexpr double kHardlyChanged = 0.001;
constexpr std::size_t kMostNamed = 3;

constexpr char kSql[] = R"(
  WITH once AS (SELECT DISTINCT stack, depth, "function", module FROM frames),
  leaves AS (
    SELECT stack, max_by(coalesce("function", 'unknown'), depth) AS "function",
           max_by(coalesce(module, ''), depth) AS module
    FROM once GROUP BY stack)
  SELECT coalesce("function", 'unknown') AS "function",
         regexp_extract(coalesce(module, ''), '[^/]*$') AS file,
         CAST(sum(weight) AS DOUBLE), sum(CAST(weight AS DOUBLE) * weight)
  FROM samples LEFT JOIN leaves USING (stack)
  WHERE event LIKE 'cpu-clock%' OR event LIKE 'task-clock%' GROUP BY ALL ORDER BY ALL)";

using Key = std::pair<std::string, std::string>;  // function; module where that tells two apart
using Runs = std::span<const SampledRun>;

struct Line {
  std::string module;
  double before = 0;
  double after = 0;
  double variance = 0;
  bool is_old = false;
  bool is_new = false;
  [[nodiscard]] double change() const { return after - before; }
  [[nodiscard]] std::optional<double> percent() const {
    return before > 0 ? std::optional(100 * change() / before) : std::nullopt;
  }
  [[nodiscard]] bool is_chance() const {
    return std::fabs(change()) <= kDeviations * std::sqrt(variance);
  }
};
using Lines = std::map<Key, Line>;

// Functions that one run has in several modules.
std::set<std::string> ambiguous(Runs before, Runs after) {
  std::set<std::string> found;
  for (const Runs side : {before, after}) {
    for (const SampledRun& run : side) {
      std::set<std::string> seen;
      for (const SampledFunction& function : run) {
        if (!seen.insert(function.name).second) found.insert(function.name);
      }
    }
  }
  return found;
}

Lines lines_of(Runs before, Runs after) {
  const std::set<std::string> twice = ambiguous(before, after);
  Lines lines;
  const auto add = [&](Runs side, double Line::*value, bool Line::*is_there) {
    const auto runs = static_cast<double>(side.size());
    for (const SampledRun& run : side) {
      for (const SampledFunction& function : run) {
        const std::string apart = twice.contains(function.name) ? function.module : "";
        Line& line = lines[{function.name, apart}];
        line.*value += function.self / runs;
        line.variance += function.squares / runs / runs;
        line.*is_there = true;
        line.module = function.module;
      }
    }
  };
  add(before, &Line::before, &Line::is_old);
  add(after, &Line::after, &Line::is_new);
  return lines;
}

using Sorted = std::vector<const Lines::value_type*>;

Sorted by_change(const Lines& lines) {
  Sorted sorted;
  for (const auto& line : lines) sorted.push_back(&line);
  std::ranges::stable_sort(sorted, std::greater(),
                           [](const auto* line) { return std::fabs(line->second.change()); });
  return sorted;
}

Line whole_of(const Lines& lines) {
  Line whole;
  for (const auto& [key, line] : lines) {
    whole.before += line.before;
    whole.after += line.after;
    whole.variance += line.variance;
  }
  return whole;
}

bool hardly_changed(const Line& whole) {
  return std::fabs(whole.change()) <= kHardlyChanged * whole.before;
}

std::optional<double> explained(const Line& line, const Line& whole) {
  if (hardly_changed(whole) || whole.is_chance()) return {};
  return 100 * line.change() / whole.change();
}

Value rounded(const std::optional<double>& number, double digits) {
  if (!number) return {};
  return std::round(*number * digits) / digits;
}

std::string note_of(const Line& line) {
  if (!line.is_old) return "new";
  return line.is_new ? "" : "gone";
}

Table table_of(const Sorted& sorted, const Line& whole, const CompareOptions& options) {
  Table table;
  table.title = "By sampled function";
  table.columns = {{"function"},
                   {"module"},
                   {"before", kNanoseconds},
                   {"after", kNanoseconds},
                   {"change", kNanoseconds},
                   {"percent", kPercent},
                   {"explains", kPercent},
                   {"note"}};
  std::int64_t all = 0;
  for (const auto* entry : sorted) {
    const Line& line = entry->second;
    const std::optional<double> percent = line.percent();
    if (percent && std::fabs(*percent) < options.min_percent) continue;
    ++all;
    if (options.top > 0 && all > options.top) continue;
    table.rows.push_back({entry->first.first, line.module, rounded(line.before, 1),
                          rounded(line.after, 1), rounded(line.change(), 1),
                          percent ? Value(rounded_percent(*percent)) : Value(),
                          rounded(explained(line, whole), 100), note_of(line)});
  }
  note_left_out(table, all, "functions");
  if (table.rows.empty()) table.note = "no change is that large";
  return table;
}

std::string change_text(const Line& whole) {
  return fmt::format("CPU time by samples {} from {} to {} ({})",
                     whole.change() > 0 ? "grew" : "fell", human_ns(whole.before),
                     human_ns(whole.after), percent_text(whole.percent()));
}

// Where no function can be named: all of them together used as much as before, or so few samples
// would differ by as much without a cause.
std::string unexplained_text(const Line& whole) {
  if (hardly_changed(whole)) {
    return fmt::format(
        "CPU time by samples hardly changed ({} and {}). If wall time did, threads waited longer "
        "or shorter: 'fathom report B time' has their waits.",
        human_ns(whole.before), human_ns(whole.after));
  }
  return change_text(whole) +
         ", which may be chance: so few samples cannot tell which functions changed.";
}

std::vector<std::string> words_of(const Sorted& sorted, const Line& whole) {
  if (hardly_changed(whole) || whole.is_chance()) return {unexplained_text(whole)};
  std::vector<std::string> words;
  for (const auto* entry : sorted) {
    const Line& line = entry->second;
    const std::optional<double> part = explained(line, whole);
    if (words.size() == kMostNamed || !part || *part < kWorthNaming || line.is_chance()) continue;
    const std::string share = *part >= 100.5 ? "more than all" : fmt::format("{:.0f} %", *part);
    const std::string subject = line.module.empty()
                                    ? entry->first.first
                                    : fmt::format("{} of {}", entry->first.first, line.module);
    words.push_back(fmt::format("{}{} explains {} of it: {} became {}.",
                                words.empty() ? change_text(whole) + "; " : "", subject, share,
                                human_ns(line.before), human_ns(line.after)));
  }
  if (words.empty())
    words.push_back(change_text(whole) + "; no function explains a tenth of it alone.");
  return words;
}

// Behind what is said of wall time.
void insert_words(std::vector<std::string> words, Report& report) {
  auto at = std::ranges::find_if(
      report.words, [](const std::string& text) { return text.starts_with("Wall time"); });
  if (at != report.words.end()) ++at;
  report.words.insert(at, words.begin(), words.end());
}

}  // namespace

bool is_sampled(Runs side) { return std::ranges::none_of(side, &SampledRun::empty); }

Result<SampledRun> read_sampled(Store& store) {
  FATHOM_ASSIGN(const Table rows, store.query(kSql));
  SampledRun run;
  for (const auto& row : rows.rows) {
    run.push_back({.name = text_of(row[0]),
                   .module = text_of(row[1]),
                   .self = number_in(row[2]).value_or(0),
                   .squares = number_in(row[3]).value_or(0)});
  }
  return run;
}

void add_sampled(Runs before, Runs after, const CompareOptions& options, Report& report) {
  const bool wanted =
      options.by.empty() || std::ranges::find(options.by, kSampledFunctions) != options.by.end();
  if (!wanted) return;
  if (!is_sampled(before) || !is_sampled(after)) {
    const char* const side = is_sampled(after)    ? "A has"
                             : is_sampled(before) ? "B has"
                                                  : "A and B have";
    report.words.push_back(fmt::format(
        "{} no samples of CPU time, so the functions that used it cannot be compared: record both "
        "with layer cpu, which is a default.",
        side));
    return;
  }
  const Lines lines = lines_of(before, after);
  const Line whole = whole_of(lines);
  const Sorted sorted = by_change(lines);
  insert_words(words_of(sorted, whole), report);
  const auto tables = std::ranges::find_if(
      report.sections, [](const Section& section) { return section.id == kGroupsSection; });
  report.sections.insert(tables, {table_of(sorted, whole, options)});
}

}  // namespace fathom::analysis
