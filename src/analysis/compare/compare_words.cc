// SPDX-License-Identifier: MIT
// A comparison in a few sentences.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/compare/compare.h"
#include "base/plural.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr double kWorthNaming = 10;  // percent that a line must explain, or a figure change
constexpr std::size_t kMostCauses = 2;

std::string signed_ns(double ns) { return (ns > 0 ? "+" : "") + human_ns(ns); }

std::string p_text(double p) { return p < 0.0001 ? "p < 0.0001" : fmt::format("p = {:.4f}", p); }

std::string commands(const Comparison& comparison) {
  return fmt::format("Before: {} ({}). After: {} ({}).", comparison.before_command,
                     counted(comparison.before, "run"), comparison.after_command,
                     counted(comparison.after, "run"));
}

std::string wall(const Comparison& comparison, bool changed) {
  const Estimate& wall = comparison.wall;
  const std::string way = wall.change > 0 ? "grew" : "fell";
  std::string text = fmt::format("Wall time {} from {} to {} ({})", way, human_ns(wall.before),
                                 human_ns(wall.after), percent_text(wall.percent()));
  if (wall.change == 0) text = "Wall time is the same: " + human_ns(wall.before);
  if (!comparison.tested()) {
    return text + (changed || wall.change == 0 ? "." : ", which is below the threshold.");
  }
  text += fmt::format(
      ", the medians of {} and {} runs; the change is {} to {} with 95 % confidence, {}",
      comparison.before, comparison.after, signed_ns(wall.low().value_or(wall.change)),
      signed_ns(wall.high().value_or(wall.change)), p_text(*wall.p));
  if (!wall.significant()) return text + ": not significant.";
  return text + (changed ? ": significant." : ": significant, but below the threshold.");
}

std::string name_of(const Difference& line) {
  const bool of_layer = line.key.size() > 1 && !line.key[1].empty();
  return of_layer ? fmt::format("{} ({})", line.key[0], line.key[1]) : line.key[0];
}

// What a line explains may exceed the whole change, where other lines fell.
std::string part_text(const Difference& line) {
  return *line.explains >= 100.5 ? "more than all" : fmt::format("{:.0f} %", *line.explains);
}

// Time outside recorded calls is where a cause may be, and none itself.
std::string cause(const Difference& line, std::string_view of_what, bool sampled) {
  if (line.key[0] == kElsewhere) {
    return fmt::format(
        "{}{} was outside recorded calls ({} became {}){}.",
        part_text(line) == "more than all" ? "More than all" : part_text(line), of_what,
        human_ns(line.value.before), human_ns(line.value.after),
        sampled ? "" : ": the recordings cannot tell whether that was CPU work or waiting");
  }
  std::string text =
      fmt::format("{} explains {}{}: {} of self time became {}", name_of(line), part_text(line),
                  of_what, human_ns(line.value.before), human_ns(line.value.after));
  if (line.calls) {
    text += fmt::format(", {} became {}", counted_roughly(line.calls->before, "call"),
                        human_count(line.calls->after));
  }
  if (line.value.p && !line.value.significant())
    text += fmt::format(" ({})", p_text(*line.value.p));
  return text + ".";
}

std::vector<const Difference*> causes_in(const std::vector<Difference>& lines) {
  std::vector<const Difference*> causes;
  for (const Difference& line : lines) {
    if (line.explains && *line.explains >= kWorthNaming) causes.push_back(&line);
  }
  std::ranges::stable_sort(causes, std::greater(),
                           [](const Difference* line) { return *line->explains; });
  return causes;
}

// Calls are parts of the threads' time: where that did not change as wall time did, they explain
// nothing of it.
void add_causes(const Comparison& comparison, bool sampled, std::vector<std::string>& words) {
  const double threads = comparison.thread_time.change;
  const bool alike = threads != 0 && (threads > 0) == (comparison.wall.change > 0);
  const std::vector<const Difference*> causes =
      alike ? causes_in(comparison.lines("name")) : std::vector<const Difference*>();
  if (causes.empty()) {
    words.push_back(fmt::format(
        "The recorded calls do not explain it: the threads' time went from {} to {}{}.",
        human_ns(comparison.thread_time.before), human_ns(comparison.thread_time.after),
        comparison.thread_time.p && !comparison.thread_time.significant() ? ", which may be chance"
                                                                          : ""));
    return;
  }
  for (std::size_t i = 0; i < std::min(causes.size(), kMostCauses); ++i) {
    const std::string whole = i == 0 ? fmt::format(" of the change in the threads' time ({})",
                                                   signed_ns(comparison.thread_time.change))
                                     : "";
    words.push_back(cause(*causes[i], whole, sampled));
  }
  const std::vector<const Difference*> files = causes_in(comparison.lines("file"));
  if (!files.empty()) {
    words.push_back(fmt::format("The file that explains most is {}: {}.", files[0]->key[0],
                                part_text(*files[0])));
  }
}

std::string names_of(const std::vector<Difference>& lines, Presence presence) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> names;
  std::size_t all = 0;
  for (const Difference& line : lines) {
    if (line.presence != presence) continue;
    if (++all <= kMost) names.push_back(line.key[0]);
  }
  std::string text = join(names, ", ");
  return all > kMost ? fmt::format("{} and {} more", text, all - kMost) : text;
}

void add_presence(const Comparison& comparison, std::vector<std::string>& words) {
  const std::string added = names_of(comparison.lines("name"), Presence::kNew);
  const std::string gone = names_of(comparison.lines("name"), Presence::kGone);
  std::string text;
  if (!added.empty()) text = "New functions: " + added + ".";
  if (!gone.empty()) text += (text.empty() ? "" : " ") + ("Gone: " + gone + ".");
  if (!text.empty()) words.push_back(text);
}

// What else the run used more or less of.
void add_figures(const Comparison& comparison, std::vector<std::string>& words) {
  std::vector<std::string> parts;
  for (const Difference& line : comparison.figures) {
    const std::string& name = line.key[0];
    const std::optional<double> percent = line.value.percent();
    const bool time = name == kWallTime || name == "thread time";
    if (time || !percent || std::fabs(*percent) < kWorthNaming) continue;
    if (comparison.tested() && !line.value.significant()) continue;
    parts.push_back(name + " " + percent_text(percent));
  }
  if (!parts.empty()) words.push_back("Also changed: " + join(parts, ", ") + ".");
}

std::string how_to_repeat(const Comparison& comparison) {
  if (comparison.before > 1 || comparison.after > 1) {
    return fmt::format(
        "A side has fewer than {} runs, so the change may be noise: give each side at least as "
        "many.",
        kLeastRuns);
  }
  return "Each side has a single run, so the change may be noise. Repeat each side with 'for i in "
         "1 2 3 4 5; do fathom run -o before/$i.fathom -- CMD; done', then 'fathom diff before "
         "after'.";
}

}  // namespace

std::vector<std::string> compare_words(const Comparison& comparison,
                                       const CompareOptions& options) {
  std::vector<std::string> words = comparison.warnings;
  if (comparison.before_command != comparison.after_command) words.push_back(commands(comparison));
  const bool changed = wall_changed(comparison, options);
  words.push_back(wall(comparison, changed));
  if (changed) add_causes(comparison, options.sampled, words);
  add_presence(comparison, words);
  add_figures(comparison, words);
  if (!comparison.tested()) words.push_back(how_to_repeat(comparison));
  return words;
}

}  // namespace fathom::analysis
