// SPDX-License-Identifier: MIT
// The result as one object for programs; docs/stat.md (JSON) has its keys. Scripts rely on them:
// some may be added, none is renamed, and what is not known is null and not missing.
#include "cli/stat_text.h"

namespace fathom::cli {
namespace {

using analysis::Series;
using analysis::Spread;
using analysis::TrialComparison;
using analysis::Trials;
using session::Measured;

Value event_object(const perf::Count& count) {
  return Object{{"value", number_cell(count.value)},    {"unit", count.unit},
                {"coverage", count.coverage},           {"user_only", count.user_only},
                {"reason", text_or_null(count.reason)}, {"fix", text_or_null(count.fix)}};
}

}  // namespace

Value stat_run_object(const Measured& run) {
  Object object{{"exit", run.exit ? Value(std::int64_t{*run.exit}) : Value()}};
  for (const StatFigure& figure : stat_figures())
    object.emplace_back(std::string(figure.name), number_cell(figure.value(run)));
  Object events;
  for (const perf::Count& count : run.events) events.emplace_back(count.name, event_object(count));
  object.emplace_back("events", std::move(events));
  return object;
}

namespace {

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
  for (const Measured& run : runs) each.push_back(stat_run_object(run));
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

Value noise_object(const StatResult& result) {
  const session::Noise& noise = result.outcome.noise;
  List warnings;
  for (std::string& sentence : noise_sentences(result)) warnings.emplace_back(std::move(sentence));
  return Object{{"governor", text_or_null(noise.governor)},
                {"boost", noise.boost ? Value(*noise.boost) : Value()},
                {"load", noise.load},
                {"cores", std::int64_t{noise.cores}},
                {"steal", noise.steal ? Value(*noise.steal) : Value()},
                {"migrations", number_cell(migrations_of(result))},
                {"warnings", std::move(warnings)}};
}

Value floor_object(const analysis::NoiseFloor& floor) {
  Object object;
  add_ratio(floor.ratio, object);
  object.emplace_back("detectable", floor.detectable);
  object.emplace_back("drift", comparison_object(floor.drift));
  return object;
}

}  // namespace

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

}  // namespace fathom::cli
