// SPDX-License-Identifier: MIT
// The list of figures: JSON, tables and comparisons take them from here, so that a figure has one
// name and one unit everywhere. What a machine cannot count (I/O of other users' children, say) is
// left out of that run and not 0.
#include "cli/stat_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fathom::cli {
namespace {

using analysis::Series;
using analysis::Trials;
using session::Measured;

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
constexpr StatFigure kFigures[] = {
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

}  // namespace

std::span<const StatFigure> stat_figures() { return kFigures; }

// The figures first, then the events, at the same place in every command: comparisons go by place.
std::vector<Trials> trials_of(const std::vector<std::vector<Measured>>& runs) {
  std::vector<Trials> all;
  for (const std::vector<Measured>& of_command : runs) {
    Trials& trials = all.emplace_back();
    for (const StatFigure& figure : kFigures) trials.push_back({std::string(figure.name), {}});
    if (!of_command.empty()) {
      for (const perf::Count& count : of_command[0].events) trials.push_back({count.name, {}});
    }
    for (const Measured& run : of_command) {
      std::size_t at = 0;
      for (const StatFigure& figure : kFigures) {
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

std::string_view unit_of(const StatResult& result, std::string_view metric) {
  for (const StatFigure& figure : kFigures) {
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
        "a run moved between cores {:.0f} times on average; --pin CPUS limits it to some cores",
        *moved));
  return sentences;
}

// Whole numbers as such: 3 and not 3.0, as far as a double holds them.
Value number_cell(const std::optional<double>& value) {
  constexpr double kExact = 9e15;
  if (!value) return {};
  if (*value == std::floor(*value) && std::fabs(*value) < kExact)
    return static_cast<std::int64_t>(*value);
  return *value;
}

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

}  // namespace fathom::cli
