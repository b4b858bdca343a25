// SPDX-License-Identifier: MIT
// Merges manifests of several recordings into one story. Times of two recordings are aligned by the
// monotonic clock where both are of one boot, else by the wall clock.
#include "analysis/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "analysis/contract.h"
#include "base/files.h"
#include "base/plural.h"
#include "base/sum.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using trace::LayerState;
using trace::Manifest;
using trace::Part;
using trace::RunState;

const LayerState* find_layer(const Manifest& manifest, std::string_view name) {
  const auto found = std::ranges::find(manifest.layers, name, &LayerState::layer);
  return found == manifest.layers.end() ? nullptr : &*found;
}

LayerState layer_of(const Manifest& manifest, std::string_view name) {
  const LayerState* found = find_layer(manifest, name);
  if (found != nullptr) return *found;
  return {.layer = std::string(name),
          .state = "off",
          .reason = "not part of this recording",
          .events = 0};
}

// A layer that only some of the recordings have is partial: its numbers are not those of the whole.
LayerState merged_layer(const std::vector<Part>& parts, std::string_view name) {
  LayerState merged = layer_of(parts[0].manifest, name);
  std::size_t on = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const LayerState layer = layer_of(parts[i].manifest, name);
    on += layer.state == "on" ? 1U : 0U;
    if (i == 0) continue;
    add_to(merged.events, layer.events);
    if (merged.reason.empty()) merged.reason = layer.reason;
  }
  if (on > 0 && on < parts.size()) {
    merged.state = "partial";
    merged.reason = fmt::format("on in {} of {}", on, counted(parts.size(), "recording"));
  } else if (on > 0) {
    merged.state = "on";
  }
  if (merged.events == 0 && merged.reason.empty()) merged.reason = "nothing happened in this layer";
  if (merged.events > 0 && merged.state == "on") merged.reason.clear();
  return merged;
}

void add_optional(std::vector<std::pair<std::string, std::string>>& rows, const std::string& key,
                  const std::string& value) {
  if (!value.empty()) rows.emplace_back(key, value);
}

std::string number_text(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "";
}

const char* tick_source_name(std::uint32_t source) {
  switch (source) {
    case FATHOM_TICK_MONOTONIC_NS:
      return "clock_gettime";
    default:
      return "cpu counter";
  }
}

void add_machine(std::vector<std::pair<std::string, std::string>>& rows, const Manifest& manifest,
                 const std::string& prefix) {
  const HostFacts& host = manifest.host;
  add_optional(rows, prefix + "host", host.hostname);
  add_optional(rows, prefix + "host.system", host.system);
  add_optional(rows, prefix + "host.kernel", host.kernel);
  add_optional(rows, prefix + "host.arch", host.arch);
  add_optional(rows, prefix + "host.cpu_model", host.cpu_model);
  if (host.cores > 0) rows.emplace_back(prefix + "host.cores", std::to_string(host.cores));
  if (host.memory_bytes > 0) {
    rows.emplace_back(prefix + "host.memory_bytes", std::to_string(host.memory_bytes));
  }
  add_optional(rows, prefix + "host.boot_id", host.boot_id);
  rows.emplace_back(prefix + "clock.source", tick_source_name(manifest.clock.tick_source()));
  rows.emplace_back(prefix + "clock.ns_per_tick", fmt::format("{}", manifest.clock.ns_per_tick()));
}

void add_part(std::vector<std::pair<std::string, std::string>>& rows, const Part& part,
              const std::string& prefix) {
  const Manifest& manifest = part.manifest;
  rows.emplace_back(prefix + "schema", std::to_string(trace::kSchemaVersion));
  add_optional(rows, prefix + "run_id", manifest.run_id);
  add_optional(rows, prefix + "command", shell_join(manifest.command));
  add_optional(rows, prefix + "cwd", manifest.cwd);
  add_optional(rows, prefix + "origin", manifest.origin);
  rows.emplace_back(prefix + "state", trace::to_text(state_of(part)));
  add_optional(rows, prefix + "state_reason", manifest.state_reason);
  rows.emplace_back(prefix + "start", iso_time(manifest.start_realtime_ns));
  rows.emplace_back(prefix + "start_realtime_ns", std::to_string(manifest.start_realtime_ns));
  add_optional(rows, prefix + "duration_ns", number_text(manifest.duration_ns));
  add_optional(rows, prefix + "exit", number_text(manifest.exit_status));
  add_machine(rows, manifest, prefix);
  add_optional(rows, prefix + "paths", join(manifest.path_filter, ","));
  if (manifest.overhead_ns_per_event) {
    rows.emplace_back(prefix + "overhead.ns_per_event",
                      fmt::format("{:.1f}", *manifest.overhead_ns_per_event));
  }
  add_optional(rows, prefix + "overhead.ns", number_text(manifest.overhead_ns));
  for (const auto& [key, value] : manifest.environment) {
    rows.emplace_back(fmt::format("{}environment.{}", prefix, key), value);
  }
  for (const auto& [key, value] : manifest.facts) rows.emplace_back(prefix + key, value);
}

// One boot has one monotonic clock, which no administrator sets.
std::optional<std::int64_t> distance(const Manifest& from, const Manifest& to) {
  const bool same_boot = !from.host.boot_id.empty() && from.host.boot_id == to.host.boot_id;
  if (same_boot && !from.clock.pairs().empty() && !to.clock.pairs().empty()) {
    return minus(to.clock.pairs()[0].monotonic_ns, from.clock.pairs()[0].monotonic_ns);
  }
  if (from.start_realtime_ns <= 0 || to.start_realtime_ns <= 0) return std::nullopt;
  return minus(to.start_realtime_ns, from.start_realtime_ns);
}

}  // namespace

std::vector<LayerState> layers_of(const std::vector<Part>& parts) {
  std::vector<LayerState> layers;
  for (const std::string_view name : layer_names()) layers.push_back(merged_layer(parts, name));
  for (const Part& part : parts) {
    for (const LayerState& layer : part.manifest.layers) {
      if (std::ranges::find(layers, layer.layer, &LayerState::layer) == layers.end())
        layers.push_back(merged_layer(parts, layer.layer));
    }
  }
  return layers;
}

std::vector<trace::Loss> losses_of(const std::vector<Part>& parts) {
  Manifest sum;
  for (const Part& part : parts) {
    for (const trace::Loss& loss : part.manifest.losses) {
      if (loss.count != 0) sum.add_loss(loss);
    }
  }
  return sum.losses;
}

std::vector<std::pair<std::string, std::string>> run_facts(const std::vector<Part>& parts) {
  std::vector<std::pair<std::string, std::string>> rows;
  if (parts.size() == 1) {
    add_part(rows, parts[0], "");
    return rows;
  }
  rows.emplace_back("recordings", std::to_string(parts.size()));
  rows.emplace_back("state", trace::to_text(state_of(parts)));
  for (const Part& part : parts) {
    add_part(rows, part, std::string(base_name(part.directory)) + "/");
  }
  return rows;
}

std::vector<std::int64_t> shifts_of(const std::vector<Part>& parts) {
  std::vector<std::int64_t> shifts;
  for (const Part& part : parts) {
    shifts.push_back(distance(parts[0].manifest, part.manifest).value_or(0));
  }
  const std::int64_t first = *std::ranges::min_element(shifts);
  for (std::int64_t& shift : shifts) shift = minus(shift, first);
  return shifts;
}

std::optional<std::int64_t> known_wall_ns(const std::vector<Part>& parts,
                                          const std::vector<std::int64_t>& shifts) {
  std::int64_t wall = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::optional<std::int64_t> duration = parts[i].manifest.duration_ns;
    if (!duration) return std::nullopt;
    wall = std::max(wall, plus(shifts[i], *duration));
  }
  return wall;
}

RunState state_of(const Part& part) {
  if (part.manifest.state == RunState::kRunning) return RunState::kRunning;
  return part.damaged.empty() ? part.manifest.state : RunState::kPartial;
}

RunState state_of(const std::vector<Part>& parts) {
  RunState worst = RunState::kComplete;
  for (const Part& part : parts) {
    const RunState state = state_of(part);
    if (state == RunState::kRunning) return state;
    if (state == RunState::kPartial) worst = state;
  }
  return worst;
}

std::string iso_time(std::int64_t realtime_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::int64_t rest = realtime_ns % kSecond;
  std::time_t seconds = realtime_ns / kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     rest / 1'000'000);
}

}  // namespace fathom::analysis
