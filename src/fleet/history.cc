// SPDX-License-Identifier: MIT
// Records become series here. They come from anybody who may submit: nothing of them is believed
// but what has the right type, and what is beyond the limits is counted and left out.
#include "fleet/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"

namespace fathom::fleet {
namespace {

using nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{64} << 20U;  // of a record
constexpr std::size_t kMostBenchmarks = 100'000;
constexpr std::size_t kMostMetrics = 1'000;  // of a benchmark
constexpr std::size_t kMostText = 4'096;     // of a name or a revision

std::string cut(std::string text) {
  if (text.size() > kMostText) text.resize(kMostText);
  return text;
}

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? cut(found->get<std::string>()) : "";
}

// Some functions of the library go as deep as the text does.
bool is_deep(std::string_view text) {
  constexpr int kDeepest = 64;
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_text) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        in_text = false;
      continue;
    }
    if (text[i] == '"') in_text = true;
    if (text[i] == '{' || text[i] == '[') ++depth;
    if (text[i] == '}' || text[i] == ']') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

// A number, or an event's object with one; nothing for null and what is not finite.
std::optional<double> number_of(const json& value) {
  if (value.is_object()) {
    const auto found = value.find("value");
    return found == value.end() || found->is_object() ? std::nullopt : number_of(*found);
  }
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// The command; a name, where somebody's own records have one.
std::string benchmark_of(const json& record) {
  const auto command = record.find("command");
  if (command != record.end() && command->is_array()) {
    std::vector<std::string> words;
    for (const json& word : *command) {
      if (word.is_string()) words.push_back(word.get<std::string>());
    }
    return cut(shell_join(words));
  }
  const std::string whole = text_at(record, "command");
  return whole.empty() ? text_at(record, "name") : whole;
}

std::string dumped(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Keys are sorted, so that the same facts are the same text.
std::string machine_of(const json& record) {
  const auto machine = record.find("machine");
  if (machine != record.end() && machine->is_object() && !machine->empty()) return dumped(*machine);
  return dumped(json{{"host", text_at(record, "host")}});
}

class RecordReader {
 public:
  RecordReader(std::int64_t number, History& history) : number_(number), history_(history) {}

  bool read(const json& record) {
    if (!record.is_object()) return false;
    const auto runs = record.find("runs");
    if (runs != record.end() && !runs->is_array()) return false;
    benchmark_ = find_benchmark(record);
    if (benchmark_ == nullptr) {
      ++history_.beyond_limits;
      return true;
    }
    if (runs == record.end()) {
      read_run(record);
    } else {
      for (const json& run : *runs) read_run(run);
    }
    history_.records.push_back({number_, text_at(record, "revision"), text_at(record, "time")});
    return true;
  }

 private:
  BenchmarkHistory* find_benchmark(const json& record) {
    std::string name = benchmark_of(record);
    std::string machine = machine_of(record);
    const auto place = history_.places.find({name, machine});
    if (place != history_.places.end()) return &history_.benchmarks[place->second];
    if (history_.benchmarks.size() == kMostBenchmarks) return nullptr;
    history_.places[{name, machine}] = history_.benchmarks.size();
    history_.benchmarks.push_back(
        {std::move(name), std::move(machine), text_at(record, "host"), {}});
    return &history_.benchmarks.back();
  }

  // A run that failed says nothing of how long the program takes.
  void read_run(const json& run) {
    if (!run.is_object()) return;
    const auto exit = run.find("exit");
    if (exit != run.end() && !(exit->is_number() && exit->get<double>() == 0)) {
      ++history_.failed_runs;
      return;
    }
    // The library sorts names; people look for wall time first.
    if (const auto wall = run.find("wall"); wall != run.end() && wall->is_number())
      add("wall", *wall);
    for (const auto& [name, value] : run.items()) {
      if (name != "exit" && name != "wall" && value.is_number()) add(name, value);
    }
    const auto events = run.find("events");
    if (events == run.end() || !events->is_object()) return;
    for (const auto& [name, value] : events->items()) add(name, value);
  }

  void add(const std::string& metric, const json& value) {
    const std::optional<double> number = number_of(value);
    if (!number) return;
    auto found = std::ranges::find(benchmark_->metrics, metric, &MetricHistory::metric);
    if (found == benchmark_->metrics.end()) {
      if (benchmark_->metrics.size() == kMostMetrics || metric.size() > kMostText) {
        ++history_.beyond_limits;
        return;
      }
      benchmark_->metrics.push_back({metric, {}});
      found = std::prev(benchmark_->metrics.end());
    }
    if (found->points.empty() || found->points.back().record != number_)
      found->points.push_back({number_, {}});
    found->points.back().values.push_back(*number);
  }

  std::int64_t number_;
  History& history_;
  BenchmarkHistory* benchmark_ = nullptr;
};

}  // namespace

void add_record(std::int64_t record, const std::string& text, History& history) {
  if (text.size() > kMostBytes || is_deep(text)) {
    ++history.damaged;
    return;
  }
  const json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded() || !RecordReader(record, history).read(parsed)) ++history.damaged;
}

Result<History> read_history(JobStore& store, const std::string& job, std::string_view kind) {
  History history;
  FATHOM_TRY(
      store.records(job, std::string(kind), 0, [&](std::int64_t index, const std::string& record) {
        add_record(index, record, history);
        return true;
      }));
  return history;
}

}  // namespace fathom::fleet
