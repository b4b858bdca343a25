// SPDX-License-Identifier: MIT
// Reads the command line of `fathom stat`. Everything that can be wrong with it is found before
// anything runs.
#include "cli/stat_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <random>

#include "base/cpus.h"
#include "base/text.h"
#include "perf/event.h"

namespace fathom::cli {
namespace {

constexpr char kDefaultEvents[] =
    "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,"
    "branch-misses,cache-misses";
constexpr std::int64_t kMostRuns = 1'000'000;
constexpr std::int64_t kComparedRuns = 10;
constexpr std::int64_t kLeastRuns = 5;  // before an interval is looked at
constexpr std::int64_t kBudgetNs = 60'000'000'000;

// As they were typed.
// As they were typed: the functions below turn them into a StatRequest, one topic each.
struct Arguments {
  std::vector<std::string> events, commands, tail;
  std::int64_t runs = 0, warmup = 0, process = 0, seed = 0;
  std::string until, budget, equal, fail_if, pin;
};

void declare(Parser& parser, Arguments& a, StatRequest& request) {
  parser.optional_tail("COMMAND", a.tail, "the program and its arguments");
  parser.repeated(
      "-e,--events", a.events, "E,…",
      "events to count, by perf's names; {a,b} counts them at the same times (default: "
      "task-clock, context-switches, cpu-migrations, page-faults, cycles, instructions, "
      "branches, branch-misses, cache-misses)");
  parser.option("-r,--runs", a.runs, "N",
                "run each command N times (default: 1, or 10 to compare); with --until, at least N "
                "times (default: 5)");
  parser.option("--warmup", a.warmup, "W", "warm up each command with W runs that are not counted");
  parser.option("-p,--pid", a.process, "PID",
                "count a running process until it ends or Ctrl-C is pressed");
  parser.repeated("--cmd", a.commands, "COMMAND",
                  "a command for the shell; give several to compare them with the first");
  parser.option("--until", a.until, "PERCENT",
                "run until wall time, or its ratio, is known within PERCENT");
  parser.option("--budget", a.budget, "TIME",
                "start no new run after this time (default: 60s with --until)");
  parser.flag("--noise", request.noise,
              "compare the command with itself to measure this machine's noise");
  parser.option("--equal", a.equal, "PERCENT",
                "commands that differ by at most PERCENT are the same (default: 1%)");
  parser.option("--fail-if", a.fail_if, "WHAT",
                "exit with 1 if a command is 'slower' than the first one in wall time");
  parser.flag("--ignore-failure", request.options.ignore_failure, "continue after a failed run");
  parser.option("--pin", a.pin, "CPUS", "run on these CPUs only, as 0 or 0,2-3");
  parser.option("--seed", a.seed, "N", "seed of the order of runs and of intervals");
  parser.option("-o,--output", request.output, "FILE", "write the result to a file");
  declare_output(parser, request.format);
}

Status set_commands(const Parser& parser, const Arguments& a, StatRequest& request) {
  const int given =
      (a.tail.empty() ? 0 : 1) + (a.commands.empty() ? 0 : 1) + (parser.given("--pid") ? 1 : 0);
  if (given != 1) {
    return usage_error(
        given == 0 ? "no command was given" : "give one of COMMAND, --cmd and --pid, not several",
        "fathom stat -- COMMAND, fathom stat --cmd A --cmd B, or fathom stat -p PID");
  }
  if (parser.given("--pid")) {
    if (a.process <= 0) return usage_error("--pid must be a process ID");
    request.process = static_cast<pid_t>(a.process);
    request.labels = {fmt::format("process {}", a.process)};
  }
  if (!a.tail.empty()) {
    request.options.commands = {a.tail};
    request.labels = {shell_join(a.tail)};
  }
  for (const std::string& command : a.commands) {
    request.options.commands.push_back({"sh", "-c", command});
    request.labels.push_back(command);
  }
  return {};
}

Status set_noise(StatRequest& request) {
  if (!request.noise) return {};
  if (request.options.commands.size() != 1)
    return usage_error("--noise takes one command", "fathom stat --noise -- COMMAND");
  request.options.commands.push_back(request.options.commands[0]);
  request.labels.push_back(request.labels[0]);
  return {};
}

Status set_runs(const Parser& parser, const Arguments& a, StatRequest& request) {
  session::StatOptions& options = request.options;
  if (!a.until.empty()) {
    FATHOM_ASSIGN(const double share, parse_percent("--until", a.until));
    request.until = share;
  }
  options.runs = request.until ? kLeastRuns : options.commands.size() > 1 ? kComparedRuns : 1;
  if (parser.given("--runs")) options.runs = a.runs;
  options.warmup = a.warmup;
  if (options.runs < 1 || options.runs > kMostRuns)
    return usage_error(fmt::format("--runs must be a number from 1 to {}", kMostRuns));
  if (options.warmup < 0 || options.warmup > kMostRuns)
    return usage_error(fmt::format("--warmup must be a number from 0 to {}", kMostRuns));
  options.budget_ns = request.until ? kBudgetNs : 0;
  if (!a.budget.empty()) {
    const Result<std::int64_t> budget = parse_duration(a.budget);
    if (!budget || *budget <= 0)
      return usage_error("--budget '" + a.budget + "' is not a time", "write it as 60s or 5m");
    options.budget_ns = *budget;
  }
  return {};
}

Status set_comparison(const Parser& parser, const Arguments& a, StatRequest& request) {
  if (!a.equal.empty()) {
    FATHOM_ASSIGN(request.trials.equal, parse_percent("--equal", a.equal));
  }
  if (!a.fail_if.empty() && a.fail_if != "slower")
    return usage_error("--fail-if takes 'slower', not '" + a.fail_if + "'");
  request.fail_if_slower = !a.fail_if.empty();
  if (request.fail_if_slower && request.options.commands.size() < 2)
    return usage_error("--fail-if needs commands to compare", "fathom stat --cmd A --cmd B");
  std::random_device chance;
  const std::uint64_t seed = parser.given("--seed") ? static_cast<std::uint64_t>(a.seed) : chance();
  request.options.seed = seed;
  request.trials.seed = seed;
  return {};
}

// A process that runs is counted once, as it is.
Status check_process(const Parser& parser, const StatRequest& request) {
  if (request.process == 0) return {};
  for (const char* const option : {"--runs", "--warmup", "--until", "--budget", "--noise", "--pin",
                                   "--ignore-failure", "--fail-if"}) {
    if (parser.given(option))
      return usage_error(std::string(option) + " is for commands, not for a running process");
  }
  return {};
}

}  // namespace

Result<std::vector<perf::EventGroup>> stat_events(const std::vector<std::string>& names) {
  return perf::parse_events(names.empty() ? kDefaultEvents : join(names, ","));
}

Result<double> parse_percent(std::string_view option, std::string_view text) {
  std::string_view number = trim(text);
  if (number.ends_with('%')) number = trim(number.substr(0, number.size() - 1));
  double percent = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
  const bool is_whole = error == std::errc() && end == number.data() + number.size();
  if (!is_whole || number.empty() || !std::isfinite(percent) || percent < 0)
    return usage_error(fmt::format("{} '{}' is not a percentage", option, escape_control(text)),
                       "write it as 1%");
  return percent / 100;
}

Result<std::vector<int>> parse_cpus(std::string_view text) {
  constexpr int kMostCpus = 1024;  // of a cpu_set_t
  std::optional<std::vector<int>> cpus = parse_cpu_list(text);
  if (cpus && std::ranges::all_of(*cpus, [](int cpu) { return cpu < kMostCpus; }))
    return *std::move(cpus);
  return usage_error("--pin '" + escape_control(text) + "' is not a list of CPUs",
                     "write it as 0 or 0,2-3");
}

Result<bool> read_stat_request(Parser& parser, StatRequest& request) {
  Arguments a;
  declare(parser, a, request);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return false;
  request.options.needs_events = !a.events.empty();
  FATHOM_ASSIGN(request.options.events, stat_events(a.events));
  FATHOM_TRY(set_commands(parser, a, request));
  FATHOM_TRY(set_noise(request));
  FATHOM_TRY(set_runs(parser, a, request));
  FATHOM_TRY(set_comparison(parser, a, request));
  FATHOM_TRY(check_process(parser, request));
  if (parser.given("--pin")) {
    FATHOM_ASSIGN(request.options.cpus, parse_cpus(a.pin));
  }
  return true;
}

}  // namespace fathom::cli
