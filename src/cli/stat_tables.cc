// SPDX-License-Identifier: MIT
// Words and tables for people. A column of a table has one unit, and metrics have many: people get
// texts. What is usual and missing is one line with its reason, not ten rows of nothing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/plural.h"
#include "base/text.h"
#include "cli/stat_text.h"

namespace fathom::cli {
namespace {

using analysis::Report;
using analysis::Series;
using analysis::Spread;
using analysis::TrialComparison;
using analysis::Trials;
using session::Measured;

std::string shown(double value, std::string_view unit) {
  if (unit == "s") return human_ns(1e9 * value);
  if (unit == "ns") return human_ns(value);
  if (unit == "bytes") return human_bytes(value);
  constexpr double kSmall = 1e5;
  const bool is_small = value == std::floor(value) && value < kSmall;
  const std::string text = is_small ? fmt::format("{:.0f}", value) : human_count(value);
  return unit.empty() ? text : text + " " + std::string(unit);
}

std::optional<double> median_of(const Trials& trials, std::string_view metric) {
  const Series* const series = analysis::find_series(trials, metric);
  if (series == nullptr) return std::nullopt;
  return analysis::median(series->values);
}

// What a metric is of another, where that is what people look for.
struct Part {
  std::string_view metric;
  std::string_view of;
  double scale;
  std::string_view words;
};
constexpr Part kParts[] = {
    {"task-clock", "wall", 1e-9, "{:.2f} cores"},
    {"instructions", "cycles", 1, "{:.2f} per cycle"},
    {"branch-misses", "branches", 100, "{:.1f} % of branches"},
    {"cache-misses", "cache-references", 100, "{:.1f} % of references"},
};

std::string part_words(const Trials& trials, std::string_view metric) {
  for (const Part& part : kParts) {
    if (part.metric != metric) continue;
    const std::optional<double> value = median_of(trials, metric);
    const std::optional<double> whole = median_of(trials, part.of);
    if (value && whole && *whole > 0)
      return fmt::format(fmt::runtime(part.words), part.scale * *value / *whole);
  }
  return "";
}

const perf::Count* first_count(const std::vector<Measured>& runs, std::string_view name) {
  for (const Measured& run : runs) {
    const auto found = std::ranges::find(run.events, name, &perf::Count::name);
    if (found != run.events.end()) return &*found;
  }
  return nullptr;
}

// What has to be known of an event beside its value.
std::string event_words(const std::vector<Measured>& runs, const Series& series) {
  const perf::Count* const count = first_count(runs, series.metric);
  if (count == nullptr) return "";
  if (!count->value) return count->fix.empty() ? count->reason : count->reason + "; " + count->fix;
  std::string words;
  if (count->user_only) words = "user mode only";
  if (count->coverage < 1)
    words += fmt::format("{}scaled: counted {:.0f} % of the time", words.empty() ? "" : ", ",
                         100 * count->coverage);
  return words;
}

std::string note_of(const std::vector<Measured>& runs, const Trials& trials, const Series& series) {
  std::vector<std::string> notes;
  for (std::string& words :
       std::vector{part_words(trials, series.metric), event_words(runs, series)}) {
    if (!words.empty()) notes.push_back(std::move(words));
  }
  return join(notes, "; ");
}

// Figures that nobody has to see: events tell the same more exactly, or there was nothing.
bool is_worth_showing(const StatResult& result, std::size_t command, const Series& series) {
  static constexpr std::string_view kAlways[] = {"wall", "user", "system", "max_rss"};
  if (first_count(result.outcome.runs[command], series.metric) != nullptr)
    return result.asked || !series.values.empty();
  if (std::ranges::find(kAlways, series.metric) != std::end(kAlways)) return true;
  return std::ranges::any_of(series.values, [](double value) { return value != 0; });
}

// The usual events that are missing here, by the reason: "not counted: cycles, branches (…)".
std::string missing_words(const StatResult& result, std::size_t command) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const Series& series : result.trials[command]) {
    const perf::Count* const count = first_count(result.outcome.runs[command], series.metric);
    if (result.asked || count == nullptr || !series.values.empty()) continue;
    const std::string reason =
        count->fix.empty() ? count->reason : count->reason + "; " + count->fix;
    auto place = std::ranges::find(by_reason, reason, &decltype(by_reason)::value_type::first);
    if (place == by_reason.end()) place = by_reason.insert(place, {reason, {}});
    place->second.push_back(series.metric);
  }
  std::vector<std::string> words;
  for (const auto& [reason, names] : by_reason)
    words.push_back(fmt::format("not counted: {} ({})", join(names, ", "), reason));
  return join(words, "; ");
}

Table single_table(const StatResult& result, std::size_t command) {
  const std::vector<Measured>& runs = result.outcome.runs[command];
  Table table{.title = result.labels[command],
              .columns = {{"metric"}, {"value"}, {"note"}},
              .rows = {},
              .note = {}};
  for (const Series& series : result.trials[command]) {
    if (!is_worth_showing(result, command, series)) continue;
    const std::string value = series.values.empty()
                                  ? "not counted"
                                  : shown(series.values[0], unit_of(result, series.metric));
    table.rows.push_back({series.metric, value, note_of(runs, result.trials[command], series)});
  }
  table.note = missing_words(result, command);
  return table;
}

std::vector<Value> spread_row(const StatResult& result, std::size_t command, const Series& series) {
  const std::vector<Measured>& runs = result.outcome.runs[command];
  const std::string note = note_of(runs, result.trials[command], series);
  if (series.values.empty()) return {series.metric, "not counted", "", "", "", "", "", note};
  const Spread spread = analysis::spread_of(series.values);
  const std::string_view unit = unit_of(result, series.metric);
  const double percent = spread.mean != 0 ? 100 * spread.stddev / std::fabs(spread.mean) : 0;
  return {series.metric,
          shown(spread.median, unit),
          shown(spread.interval.low, unit) + " … " + shown(spread.interval.high, unit),
          shown(spread.min, unit),
          shown(spread.max, unit),
          fmt::format("{:.1f} %", percent),
          spread.outliers.empty() ? std::string() : std::to_string(spread.outliers.size()),
          note};
}

Table repeated_table(const StatResult& result, std::size_t command) {
  const std::vector<Measured>& runs = result.outcome.runs[command];
  Table table{.title = fmt::format("{} ({})", result.labels[command], counted(runs.size(), "run")),
              .columns = {{"metric"},
                          {"median"},
                          {"95 % interval"},
                          {"min", Measure::kNone, 2},
                          {"max", Measure::kNone, 2},
                          {"deviation", Measure::kNone, 1},
                          {"outliers", Measure::kNone, 3},
                          {"note"}},
              .rows = {},
              .note = {}};
  for (const Series& series : result.trials[command]) {
    if (is_worth_showing(result, command, series))
      table.rows.push_back(spread_row(result, command, series));
  }
  table.note = missing_words(result, command);
  return table;
}

Table plain_summary(const StatResult& result) {
  Table table{.title = "Summary",
              .columns = {{"command"},
                          {"metric"},
                          {"unit"},
                          {"runs"},
                          {"median"},
                          {"mean"},
                          {"stddev"},
                          {"min"},
                          {"max"},
                          {"low"},
                          {"high"},
                          {"outliers"},
                          {"reason"}},
              .rows = {},
              .note = {}};
  for (std::size_t i = 0; i < result.trials.size(); ++i) {
    for (const Series& series : result.trials[i]) {
      const auto count = static_cast<std::int64_t>(series.values.size());
      std::vector<Value> row = {static_cast<std::int64_t>(i), series.metric,
                                std::string(unit_of(result, series.metric)), count};
      if (series.values.empty()) {
        row.resize(table.columns.size() - 1);
      } else {
        const Spread spread = analysis::spread_of(series.values);
        for (const double value : {spread.median, spread.mean, spread.stddev, spread.min,
                                   spread.max, spread.interval.low, spread.interval.high})
          row.push_back(number_cell(value));
        row.emplace_back(static_cast<std::int64_t>(spread.outliers.size()));
      }
      const perf::Count* const event = first_count(result.outcome.runs[i], series.metric);
      row.push_back(event == nullptr ? Value() : text_or_null(event->reason));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

std::string verdict_note(const TrialComparison& one) {
  if (one.needs == 0) return "";
  return "about " + counted(one.needs, "run") + " of each would be enough";
}

Table comparison_table(const StatResult& result, bool for_people) {
  Table table{
      .title = "Comparison with " + result.labels[0],
      .columns =
          {{"command"}, {"metric"}, {"ratio"}, {"low"}, {"high"}, {"p"}, {"verdict"}, {"note"}},
      .rows = {},
      .note = {}};
  const auto rounded = [&](double value) {
    return for_people ? Value(std::round(1e4 * value) / 1e4) : Value(value);
  };
  for (const TrialComparison& one : result.comparison) {
    const bool says_something =
        one.verdict == analysis::Verdict::kFaster || one.verdict == analysis::Verdict::kSlower;
    if (for_people && one.metric != analysis::kWall && !says_something) continue;
    table.rows.push_back(
        {for_people ? Value(result.labels[one.other]) : Value(static_cast<std::int64_t>(one.other)),
         one.metric, one.ratio ? rounded(one.ratio->value) : Value(),
         one.ratio ? rounded(one.ratio->interval.low) : Value(),
         one.ratio ? rounded(one.ratio->interval.high) : Value(), rounded(one.p),
         std::string(analysis::name_of(one.verdict)), verdict_note(one)});
  }
  return table;
}

std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

// "B takes 1.98 times as long as A (1.95 to 2.01)."
std::string comparison_words(const StatResult& result, const TrialComparison& one) {
  const std::string& base = result.labels[one.base];
  const std::string& other = result.labels[one.other];
  if (!one.ratio) return fmt::format("{}: cannot tell, since {} took no time.", other, base);
  const std::string range =
      fmt::format("{:.3f} to {:.3f}", one.ratio->interval.low, one.ratio->interval.high);
  switch (one.verdict) {
    case analysis::Verdict::kSlower:
      return fmt::format("{} is slower than {}: it takes {:.3f} times as long ({}).", other, base,
                         one.ratio->value, range);
    case analysis::Verdict::kFaster:
      return fmt::format("{} is faster than {}: it takes {:.3f} times as long ({}).", other, base,
                         one.ratio->value, range);
    case analysis::Verdict::kSame:
      return fmt::format("{} takes the same time as {}: {} times as long.", other, base, range);
    case analysis::Verdict::kCannotTell:
      break;
  }
  std::string words =
      fmt::format("{} and {}: cannot tell ({} times as long, p {:.2g})", other, base, range, one.p);
  if (one.needs > 0) words += "; " + verdict_note(one);
  return words + ".";
}

std::string floor_words(const StatResult& result) {
  const analysis::NoiseFloor& floor = *result.noise_floor;
  std::string words =
      fmt::format("Noise: with {} of each, a difference below {} cannot be seen on this machine.",
                  counted(result.outcome.runs[0].size(), "run"), share_text(floor.detectable));
  if (floor.drift.verdict == analysis::Verdict::kSlower ||
      floor.drift.verdict == analysis::Verdict::kFaster)
    words +=
        fmt::format(" Wall time drifted: the second half of the runs took {:.3f} times as long.",
                    floor.drift.ratio->value);
  return words;
}

std::vector<std::string> words_of(const StatResult& result) {
  std::vector<std::string> words;
  if (result.noise_floor) {
    words.push_back(floor_words(result));
  } else {
    for (const TrialComparison& one : result.comparison) {
      if (one.metric == analysis::kWall) words.push_back(comparison_words(result, one));
    }
  }
  if (result.outcome.interrupted) words.emplace_back("A signal ended the series early.");
  const bool is_repeated = result.outcome.runs.size() > 1 || result.outcome.runs[0].size() > 1;
  for (const std::string& sentence : noise_sentences(result)) {
    if (is_repeated) words.push_back("Noise: " + sentence + ".");
  }
  return words;
}

}  // namespace

Report stat_report(const StatResult& result, bool for_people) {
  Report report;
  if (for_people) {
    report.words = words_of(result);
    for (std::size_t i = 0; i < result.trials.size(); ++i) {
      if (result.outcome.runs[i].empty()) continue;
      const bool is_single = result.outcome.runs[i].size() == 1;
      report.sections.push_back({is_single ? single_table(result, i) : repeated_table(result, i)});
    }
  } else {
    report.sections.push_back({plain_summary(result)});
  }
  if (!result.comparison.empty()) report.sections.push_back({comparison_table(result, for_people)});
  return report;
}

}  // namespace fathom::cli
