// SPDX-License-Identifier: MIT
// A number that a program gives for all runs together is no number of a run: it would have no
// scatter, and every difference of it would look certain. So it is left out, and counted.
#include "analysis/import/benchmark_results.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/json_fields.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr double kNsPerSecond = 1e9;
constexpr double kLongest = 9e18;  // ns
// Google Benchmark tells the time of one iteration, often less than a nanosecond's multiple.
constexpr double kIterations = 1000;
constexpr char kNoTime[] = "run without a time";

std::optional<std::int64_t> duration_of(std::optional<double> ns) {
  if (!ns || !(*ns >= 0) || *ns > kLongest) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(*ns));
}

template <class Use>
void each_object(const object& from, std::string_view key, Use use) {
  simdjson::dom::array items;
  if (from[key].get(items) != simdjson::SUCCESS) return;
  for (const element& item : items) {
    object one;
    if (item.get(one) == simdjson::SUCCESS) use(one);
  }
}

// Calls `use` with the root of a text that has this list.
template <class Use>
Status with_root(std::string_view text, std::string_view list, Use use) {
  simdjson::dom::parser parser;
  element root;
  object top;
  simdjson::dom::array items;
  if (parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS ||
      root.get(top) != simdjson::SUCCESS || top[list].get(items) != simdjson::SUCCESS)
    return Error{Code::kInvalid, "no JSON with a list '" + std::string(list) + "'", ""};
  use(top);
  return {};
}

// The n-th of a list beside the times; none where there is no such.
std::optional<double> nth_number(const object& from, std::string_view key, std::size_t n) {
  simdjson::dom::array items;
  double value = 0;
  if (from[key].get(items) != simdjson::SUCCESS || items.at(n).get(value) != simdjson::SUCCESS ||
      !std::isfinite(value))
    return std::nullopt;
  return value;
}

// "cmd" with its parameters, as hyperfine shows it, is one text for the shell.
void add_hyperfine_command(const object& result, BenchmarkResults& results) {
  const std::string command = text_in(result, "command");
  Benchmark& benchmark = results.at(command, command);
  simdjson::dom::array times;
  if (result["times"].get(times) != simdjson::SUCCESS) {
    results.leave_out("command without the times of its runs");
    return;
  }
  std::size_t place = 0;
  for (const element& time : times) {
    double seconds = 0;
    const bool is_number = time.get(seconds) == simdjson::SUCCESS;
    const auto wall = duration_of(is_number ? std::optional(kNsPerSecond * seconds) : std::nullopt);
    const std::size_t n = place++;
    if (!wall) {
      results.leave_out(kNoTime);
      continue;
    }
    BenchmarkRun run{.wall_ns = *wall, .exit = {}, .numbers = {}};
    if (const auto exit = nth_number(result, "exit_codes", n); exit && std::fabs(*exit) < kLongest)
      run.exit = static_cast<std::int64_t>(*exit);
    if (const auto memory = nth_number(result, "memory_usage_byte", n))
      run.numbers.push_back({"resource", "rss", "bytes", *memory});
    benchmark.runs.push_back(std::move(run));
  }
  if (number_in(result, "user")) results.leave_out("mean of user and system time over all runs");
}

double ns_per(std::string_view unit) {
  if (unit == "s") return kNsPerSecond;
  if (unit == "ms") return 1e6;
  return unit == "us" ? 1e3 : 1;
}

// What Google Benchmark itself writes; all other numbers of a benchmark are its author's.
bool is_own_key(std::string_view key) {
  constexpr std::string_view kOwn[] = {"family_index", "per_family_instance_index",
                                       "repetitions",  "repetition_index",
                                       "threads",      "iterations",
                                       "real_time",    "cpu_time"};
  return std::ranges::find(kOwn, key) != std::end(kOwn);
}

std::optional<BenchmarkRun> google_run(const object& entry) {
  const double ns = kIterations * ns_per(text_in(entry, "time_unit"));
  const std::optional<double> real = number_in(entry, "real_time");
  const auto wall = duration_of(real ? std::optional(ns * *real) : std::nullopt);
  if (!wall) return std::nullopt;
  BenchmarkRun run{.wall_ns = *wall, .exit = {}, .numbers = {}};
  if (const std::optional<double> cpu = number_in(entry, "cpu_time")) {
    run.numbers.push_back({"resource", "cpu_user", "s", ns * *cpu / kNsPerSecond});
    run.numbers.push_back({"resource", "cpu_system", "s", 0});
  }
  for (const auto& field : entry) {
    double value = 0;
    const bool is_number = field.value.get(value) == simdjson::SUCCESS && std::isfinite(value);
    if (is_number && !is_own_key(field.key))
      run.numbers.push_back({"app", std::string(field.key), "", value});
  }
  return run;
}

std::string aggregate_of(const object& entry) {
  std::string aggregate = text_in(entry, "aggregate_name");
  return aggregate.empty() && text_in(entry, "run_type") == "aggregate" ? "other" : aggregate;
}

bool failed(const object& entry) {
  bool error = false;
  return entry["error_occurred"].get(error) == simdjson::SUCCESS && error;
}

void add_google_entry(const object& entry, BenchmarkResults& results,
                      std::map<std::string, BenchmarkRun>& medians) {
  std::string name = text_in(entry, "run_name");
  if (name.empty()) name = text_in(entry, "name");
  const std::string aggregate = aggregate_of(entry);
  if (failed(entry)) return results.leave_out("benchmark that failed");
  std::optional<BenchmarkRun> run = google_run(entry);
  if (aggregate == "median" && run) medians[name] = *run;
  if (!aggregate.empty()) return results.leave_out("mean, median or spread of several runs");
  if (!run) return results.leave_out(kNoTime);
  results.at(name, name).runs.push_back(*std::move(run));
}

// A file of aggregates alone still tells one time.
void add_medians(const std::map<std::string, BenchmarkRun>& medians, BenchmarkResults& results) {
  for (const auto& [name, run] : medians) {
    Benchmark& benchmark = results.at(name, name);
    if (benchmark.runs.empty()) benchmark.runs.push_back(run);
  }
}

struct StatMetric {
  std::string_view key;
  std::string_view counter;
  std::string_view unit;
};
// As layer resource names them.
constexpr StatMetric kStatMetrics[] = {
    {"user", "cpu_user", "s"},
    {"system", "cpu_system", "s"},
    {"max_rss", "rss", "bytes"},
    {"minor_faults", "minor_faults", "count"},
    {"major_faults", "major_faults", "count"},
    {"voluntary_switches", "voluntary_switches", "count"},
    {"involuntary_switches", "involuntary_switches", "count"},
    {"read_bytes", "rchar", "bytes"},
    {"written_bytes", "wchar", "bytes"},
    {"disk_read_bytes", "read_bytes", "bytes"},
    {"disk_written_bytes", "write_bytes", "bytes"},
};

void add_events(const object& run, std::vector<BenchmarkNumber>& numbers) {
  object events;
  if (run["events"].get(events) != simdjson::SUCCESS) return;
  for (const auto& field : events) {
    object event;
    if (field.value.get(event) != simdjson::SUCCESS) continue;
    const std::string unit = text_in(event, "unit");
    if (const std::optional<double> value = number_in(event, "value"))
      numbers.push_back({"cpu", std::string(field.key), unit.empty() ? "count" : unit, *value});
  }
}

void add_stat_run(const object& from, Benchmark& benchmark, BenchmarkResults& results) {
  const std::optional<double> seconds = number_in(from, "wall");
  const auto wall = duration_of(seconds ? std::optional(kNsPerSecond * *seconds) : std::nullopt);
  if (!wall) return results.leave_out(kNoTime);
  BenchmarkRun run{.wall_ns = *wall, .exit = {}, .numbers = {}};
  std::int64_t exit = 0;
  if (from["exit"].get(exit) == simdjson::SUCCESS) run.exit = exit;
  for (const StatMetric& metric : kStatMetrics) {
    if (const std::optional<double> value = number_in(from, metric.key))
      run.numbers.push_back(
          {"resource", std::string(metric.counter), std::string(metric.unit), *value});
  }
  add_events(from, run.numbers);
  benchmark.runs.push_back(std::move(run));
}

std::string joined_command(const object& from) {
  std::vector<std::string> words;
  simdjson::dom::array items;
  if (from["command"].get(items) != simdjson::SUCCESS) return "";
  for (const element& item : items) {
    std::string_view word;
    if (item.get(word) == simdjson::SUCCESS) words.emplace_back(word);
  }
  return shell_join(words);
}

}  // namespace

Benchmark& BenchmarkResults::at(std::string_view name, std::string_view command) {
  const auto found = std::ranges::find_if(
      benchmarks, [&](const Benchmark& one) { return one.name == name && one.command == command; });
  if (found != benchmarks.end()) return *found;
  benchmarks.push_back({std::string(name), std::string(command), {}});
  return benchmarks.back();
}

Status read_hyperfine(std::string_view text, BenchmarkResults& results) {
  return with_root(text, "results", [&](const object& root) {
    each_object(root, "results",
                [&](const object& result) { add_hyperfine_command(result, results); });
  });
}

Status read_google_benchmark(std::string_view text, BenchmarkResults& results) {
  return with_root(text, "benchmarks", [&](const object& root) {
    object context;
    if (root["context"].get(context) == simdjson::SUCCESS)
      results.host = text_in(context, "host_name");
    std::map<std::string, BenchmarkRun> medians;
    each_object(root, "benchmarks",
                [&](const object& entry) { add_google_entry(entry, results, medians); });
    add_medians(medians, results);
  });
}

Status read_stat(std::string_view text, BenchmarkResults& results) {
  return with_root(text, "commands", [&](const object& root) {
    each_object(root, "commands", [&](const object& one) {
      const std::string command = joined_command(one);
      Benchmark& benchmark = results.at(command, command);
      each_object(one, "runs", [&](const object& run) { add_stat_run(run, benchmark, results); });
    });
  });
}

}  // namespace fathom::analysis
