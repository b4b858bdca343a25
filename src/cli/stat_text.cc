// SPDX-License-Identifier: MIT
// Metrics have different units, which a column of a table cannot have: people get texts.
#include "cli/stat_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/plural.h"
#include "base/text.h"

namespace fathom::cli {
namespace {

using analysis::Report;
using analysis::Series;
using analysis::Spread;
using analysis::TrialComparison;
using analysis::Trials;
using session::Measured;

// Figures of a run besides its events: the name in JSON, the unit, the value.
struct Figure {
  std::string_view name;
  std::string_view unit;
  std::optional<double> (*value)(const Measured& run);
};

template <auto Member>
std::optional<double> plain(const Measured& run) {
  return static_cast<double>(run.*Member);
}

template <auto Member>
std::optional<double> of_io(const Measured& run) {
  if (!run.io) return std::nullopt;
  return static_cast<double>((*run.io).*Member);
}

template <auto Member>
std::optional<double> of_tally(const Measured& run) {
  if (!run.tally) return std::nullopt;
  return static_cast<double>((*run.tally).*Member);
}

using session::IoBytes;
using session::Tally;
constexpr Figure kFigures[] = {
    {"wall", "s", plain<&Measured::wall>},
    {"user", "s", plain<&Measured::user>},
    {"system", "s", plain<&Measured::system>},
    {"max_rss", "bytes", plain<&Measured::max_rss>},
    {"minor_faults", "", of_tally<&Tally::minor_faults>},
    {"major_faults", "", of_tally<&Tally::major_faults>},
    {"voluntary_switches", "", of_tally<&Tally::voluntary_switches>},
    {"involuntary_switches", "", of_tally<&Tally::involuntary_switches>},
    {"read_bytes", "bytes", of_io<&IoBytes::read>},
    {"written_bytes", "bytes", of_io<&IoBytes::written>},
    {"disk_read_bytes", "bytes", of_io<&IoBytes::disk_read>},
    {"disk_written_bytes", "bytes", of_io<&IoBytes::disk_written>},
};

// Whole numbers are written as such.
Value number(const std::optional<double>& value) {
  constexpr double kExact = 9e15;
  if (!value) return {};
  if (*value == std::floor(*value) && std::fabs(*value) < kExact)
    return static_cast<std::int64_t>(*value);
  return *value;
}

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value event_object(const perf::Count& count) {
  return Object{{"value", number(count.value)},         {"unit", count.unit},
                {"coverage", count.coverage},           {"user_only", count.user_only},
                {"reason", text_or_null(count.reason)}, {"fix", text_or_null(count.fix)}};
}

Value run_object(const Measured& run) {
  Object object{{"exit", run.exit ? Value(std::int64_t{*run.exit}) : Value()}};
  for (const Figure& figure : kFigures)
    object.emplace_back(std::string(figure.name), number(figure.value(run)));
  Object events;
  for (const perf::Count& count : run.events) events.emplace_back(count.name, event_object(count));
  object.emplace_back("events", std::move(events));
  return object;
}

Value spread_object(const Spread& spread) {
  List outliers;
  for (const std::size_t place : spread.outliers)
    outliers.emplace_back(static_cast<std::int64_t>(place));
  return Object{{"median", spread.median},
                {"mean", spread.mean},
                {"stddev", spread.stddev},
                {"min", spread.min},
                {"max", spread.max},
                {"low", spread.interval.low},
                {"high", spread.interval.high},
                {"outliers", std::move(outliers)}};
}

Value command_object(const std::vector<std::string>& words, const std::vector<Measured>& runs,
                     const Trials& trials) {
  List command;
  for (const std::string& word : words) command.emplace_back(word);
  List each;
  for (const Measured& run : runs) each.push_back(run_object(run));
  Object summary;
  for (const Series& series : trials) {
    if (!series.values.empty())
      summary.emplace_back(series.metric, spread_object(analysis::spread_of(series.values)));
  }
  return Object{
      {"command", std::move(command)}, {"runs", std::move(each)}, {"summary", std::move(summary)}};
}

void add_ratio(const std::optional<analysis::Ratio>& ratio, Object& object) {
  object.emplace_back("ratio", ratio ? Value(ratio->value) : Value());
  object.emplace_back("low", ratio ? Value(ratio->interval.low) : Value());
  object.emplace_back("high", ratio ? Value(ratio->interval.high) : Value());
}

Value comparison_object(const TrialComparison& one) {
  Object object{{"base", static_cast<std::int64_t>(one.base)},
                {"other", static_cast<std::int64_t>(one.other)},
                {"metric", one.metric}};
  add_ratio(one.ratio, object);
  object.emplace_back("p", one.p);
  object.emplace_back("verdict", std::string(analysis::name_of(one.verdict)));
  object.emplace_back("needs", one.needs == 0 ? Value() : static_cast<std::int64_t>(one.needs));
  return object;
}

// How often a run moved from one CPU to another, on average; none: that was not counted.
std::optional<double> migrations_of(const StatResult& result) {
  double sum = 0;
  double runs = 0;
  for (const Trials& trials : result.trials) {
    const Series* const series = analysis::find_series(trials, "cpu-migrations");
    if (series == nullptr) continue;
    for (const double value : series->values) sum += value;
    runs += static_cast<double>(series->values.size());
  }
  return runs > 0 ? std::optional(sum / runs) : std::nullopt;
}

std::vector<std::string> noise_sentences(const StatResult& result) {
  constexpr double kOften = 10;
  std::vector<std::string> sentences = result.outcome.noise.warnings();
  if (const std::optional<double> moved = migrations_of(result); moved && *moved >= kOften)
    sentences.push_back(fmt::format(
        "a run moved between the cores {:.0f} times on average; --pin keeps it on some", *moved));
  return sentences;
}

Value noise_object(const StatResult& result) {
  const session::Noise& noise = result.outcome.noise;
  List warnings;
  for (std::string& sentence : noise_sentences(result)) warnings.emplace_back(std::move(sentence));
  return Object{{"governor", text_or_null(noise.governor)},
                {"boost", noise.boost ? Value(*noise.boost) : Value()},
                {"load", noise.load},
                {"cores", std::int64_t{noise.cores}},
                {"steal", noise.steal ? Value(*noise.steal) : Value()},
                {"migrations", number(migrations_of(result))},
                {"warnings", std::move(warnings)}};
}

Value floor_object(const analysis::NoiseFloor& floor) {
  Object object;
  add_ratio(floor.ratio, object);
  object.emplace_back("detectable", floor.detectable);
  object.emplace_back("drift", comparison_object(floor.drift));
  return object;
}

std::string_view unit_of(const StatResult& result, std::string_view metric) {
  for (const Figure& figure : kFigures) {
    if (figure.name == metric) return figure.unit;
  }
  for (const std::vector<Measured>& runs : result.outcome.runs) {
    for (const Measured& run : runs) {
      const auto found = std::ranges::find(run.events, metric, &perf::Count::name);
      if (found != run.events.end()) return found->unit;
    }
  }
  return "";
}

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
          row.push_back(number(value));
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
  return "about " + counted(one.needs, "run") + " of each would tell";
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

std::vector<Trials> trials_of(const std::vector<std::vector<Measured>>& runs) {
  std::vector<Trials> all;
  for (const std::vector<Measured>& of_command : runs) {
    Trials& trials = all.emplace_back();
    for (const Figure& figure : kFigures) trials.push_back({std::string(figure.name), {}});
    if (!of_command.empty()) {
      for (const perf::Count& count : of_command[0].events) trials.push_back({count.name, {}});
    }
    for (const Measured& run : of_command) {
      std::size_t at = 0;
      for (const Figure& figure : kFigures) {
        if (const std::optional<double> value = figure.value(run))
          trials[at].values.push_back(*value);
        ++at;
      }
      for (const perf::Count& count : run.events) {
        if (count.value) trials[at].values.push_back(*count.value);
        ++at;
      }
    }
  }
  return all;
}

Value stat_object(const StatResult& result) {
  List commands;
  for (std::size_t i = 0; i < result.commands.size(); ++i)
    commands.push_back(
        command_object(result.commands[i], result.outcome.runs[i], result.trials[i]));
  List comparison;
  for (const TrialComparison& one : result.comparison) comparison.push_back(comparison_object(one));
  Object object{{"commands", std::move(commands)},
                {"comparison", std::move(comparison)},
                {"noise", noise_object(result)},
                {"seed", static_cast<std::int64_t>(result.seed)}};
  if (result.noise_floor) object.emplace_back("noise_floor", floor_object(*result.noise_floor));
  return object;
}

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
