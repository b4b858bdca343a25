// SPDX-License-Identifier: MIT
// manifest.json. Reading tolerates missing and odd fields, since manifests of older and newer
// versions are read too, and since anybody may have written it; what must be there is the schema's
// number and the state. Writing replaces the file as a whole. Texts come from programs: they are
// made valid UTF-8, which JSON has to be.
#include "trace/recording/manifest.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/sum.h"
#include "base/utf8.h"

namespace fathom::trace {
namespace {

using Json = nlohmann::json;

// What a recorder writes stays far below; what is larger takes too long to look through.
constexpr std::size_t kMostText = std::size_t{16} << 20;
constexpr std::size_t kMostNotCovered = 10000;
constexpr std::size_t kMostLayers = 1000;
constexpr std::size_t kMostLosses = 10000;

Error corrupt(const std::string& what) {
  return {Code::kCorrupt, std::string(kManifestFile) + " is damaged: " + what,
          "the other files of the recording may still be sound"};
}

// Reading never throws: what has another type than expected is as if it were missing.
std::string text_of(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::optional<std::int64_t> integer_of(const Json& json, const char* key) {
  const auto at = json.find(key);
  if (at == json.end() || !at->is_number_integer()) return std::nullopt;
  return at->is_number_unsigned() && at->get<std::uint64_t>() > INT64_MAX ? INT64_MAX
                                                                          : at->get<std::int64_t>();
}

std::int64_t integer_or(const Json& json, const char* key, std::int64_t otherwise) {
  return integer_of(json, key).value_or(otherwise);
}

template <class Visit>
void each(const Json& json, const char* key, Visit visit) {
  const auto at = json.find(key);
  if (at == json.end() || !at->is_array()) return;
  for (const Json& item : *at) visit(item);
}

std::map<std::string, std::string> texts_of(const Json& json, const char* key) {
  std::map<std::string, std::string> texts;
  const auto at = json.find(key);
  if (at == json.end() || !at->is_object()) return texts;
  for (const auto& [name, value] : at->items()) {
    if (value.is_string()) texts[name] = value.get<std::string>();
  }
  return texts;
}

std::map<std::string, std::int64_t> counts_of(const Json& json, const char* key) {
  std::map<std::string, std::int64_t> counts;
  const auto at = json.find(key);
  if (at == json.end() || !at->is_object()) return counts;
  for (const auto& [name, value] : at->items()) {
    if (value.is_number_integer()) counts[name] = integer_or(*at, name.c_str(), 0);
  }
  return counts;
}

std::vector<std::string> list_of(const Json& json, const char* key) {
  std::vector<std::string> texts;
  each(json, key, [&](const Json& item) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  });
  return texts;
}

std::string valid(const std::string& text) {
  return is_valid_utf8(text) ? text : escape_invalid_utf8(text);
}

Json valid_list(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(valid(text));
  return list;
}

Json valid_map(const std::map<std::string, std::string>& texts) {
  Json object = Json::object();
  for (const auto& [key, value] : texts) object[valid(key)] = valid(value);
  return object;
}

Json host_json(const HostFacts& host) {
  return {{"hostname", valid(host.hostname)},   {"system", valid(host.system)},
          {"kernel", valid(host.kernel)},       {"arch", valid(host.arch)},
          {"cpu_model", valid(host.cpu_model)}, {"cores", host.cores},
          {"memory_bytes", host.memory_bytes},  {"boot_id", valid(host.boot_id)}};
}

HostFacts host_of(const Json& json) {
  HostFacts host;
  const auto at = json.find("host");
  if (at == json.end() || !at->is_object()) return host;
  host.hostname = text_of(*at, "hostname");
  host.system = text_of(*at, "system");
  host.kernel = text_of(*at, "kernel");
  host.arch = text_of(*at, "arch");
  host.cpu_model = text_of(*at, "cpu_model");
  host.cores = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(integer_or(*at, "cores", 0), 0, UINT32_MAX));
  host.memory_bytes =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_or(*at, "memory_bytes", 0)));
  host.boot_id = text_of(*at, "boot_id");
  return host;
}

Json clock_json(const Clock& clock) {
  Json pairs = Json::array();
  for (const ClockPair& pair : clock.pairs()) pairs.push_back({pair.tick, pair.monotonic_ns});
  const bool counter = clock.tick_source() == FATHOM_TICK_COUNTER;
  return {{"tick_source", counter ? "counter" : "monotonic"},
          {"ns_per_tick", clock.ns_per_tick()},
          {"ticks_per_second", 1e9 / clock.ns_per_tick()},
          {"pairs", pairs}};
}

// Pairs in their order: each is checked against those before it (Clock::add).
Clock clock_of(const Json& json) {
  const auto at = json.find("clock");
  if (at == json.end() || !at->is_object()) return {};
  const std::uint32_t source =
      text_of(*at, "tick_source") == "counter" ? FATHOM_TICK_COUNTER : FATHOM_TICK_MONOTONIC_NS;
  const auto rate = at->find("ns_per_tick");
  const double ns_per_tick = rate != at->end() && rate->is_number() ? rate->get<double>() : 1.0;
  std::optional<Clock> clock;
  each(*at, "pairs", [&](const Json& item) {
    if (!item.is_array() || item.size() != 2 || !item[0].is_number_unsigned() ||
        !item[1].is_number_integer())
      return;
    const ClockPair pair{item[0].get<std::uint64_t>(),
                         std::clamp<std::int64_t>(item[1].get<std::int64_t>(), 0, INT64_MAX >> 2)};
    if (!clock) {
      clock.emplace(source, pair, ns_per_tick);
    } else {
      clock->add(pair);
    }
  });
  return clock.value_or(Clock());
}

Json lists_json(const Manifest& manifest) {
  Json json = {{"layers", Json::array()},
               {"losses", Json::array()},
               {"not_covered", Json::array()},
               {"in_flight", Json::array()}};
  for (const LayerState& layer : manifest.layers) {
    json["layers"].push_back({{"layer", layer.layer},
                              {"state", layer.state},
                              {"reason", valid(layer.reason)},
                              {"events", layer.events}});
  }
  for (const Loss& loss : manifest.losses) {
    json["losses"].push_back(
        {{"layer", loss.layer}, {"reason", valid(loss.reason)}, {"count", loss.count}});
  }
  for (const NotCovered& process : manifest.not_covered) {
    json["not_covered"].push_back({{"pid", process.pid},
                                   {"program", valid(process.program)},
                                   {"reason", valid(process.reason)}});
    if (!process.what.empty()) json["not_covered"].back()["what"] = valid(process.what);
  }
  for (const InFlight& call : manifest.in_flight) {
    json["in_flight"].push_back({{"pid", call.pid},
                                 {"tid", call.tid},
                                 {"name", valid(call.name)},
                                 {"since_ns", call.since_ns}});
  }
  return json;
}

void read_lists(const Json& json, Manifest& manifest) {
  each(json, "layers", [&](const Json& item) {
    manifest.layers.push_back({text_of(item, "layer"), text_of(item, "state"),
                               text_of(item, "reason"), integer_or(item, "events", 0)});
  });
  each(json, "losses", [&](const Json& item) {
    manifest.losses.push_back(
        {text_of(item, "layer"), text_of(item, "reason"), integer_or(item, "count", 0)});
  });
  each(json, "not_covered", [&](const Json& item) {
    manifest.not_covered.push_back({integer_or(item, "pid", 0), text_of(item, "program"),
                                    text_of(item, "reason"), text_of(item, "what")});
  });
  each(json, "in_flight", [&](const Json& item) {
    manifest.in_flight.push_back({integer_or(item, "pid", 0), integer_or(item, "tid", 0),
                                  text_of(item, "name"), integer_or(item, "since_ns", 0)});
  });
}

Status check_version(const Json& json) {
  const std::optional<std::int64_t> schema = integer_of(json, "schema");
  if (!schema || *schema < 1) return corrupt("it names no schema");
  if (*schema > kSchemaVersion) {
    return Error{Code::kUnsupported,
                 "made by a newer Fathom (schema " + std::to_string(*schema) + ")",
                 "update fathom"};
  }
  return {};
}

Result<RunState> state_of(const Json& json) {
  const std::string state = text_of(json, "state");
  for (const RunState known : {RunState::kRunning, RunState::kComplete, RunState::kPartial}) {
    if (state == to_text(known)) return known;
  }
  return corrupt("it names no state");
}

}  // namespace

std::string_view to_text(RunState state) {
  switch (state) {
    case RunState::kRunning:
      return "running";
    case RunState::kComplete:
      return "complete";
    case RunState::kPartial:
      return "partial";
  }
  return "";
}

LayerState& Manifest::layer(std::string_view name) {
  for (LayerState& known : layers) {
    if (known.layer == name) return known;
  }
  return layers.emplace_back(LayerState{std::string(name), "on", "", 0});
}

void Manifest::add_loss(const Loss& loss) {
  if (loss.count == 0) return;
  for (Loss& known : losses) {
    if (known.layer != loss.layer || known.reason != loss.reason) continue;
    add_to(known.count, loss.count);
    return;
  }
  losses.push_back(loss);
}

void Manifest::add_not_covered(const NotCovered& program) {
  if (not_covered.size() > kMostNotCovered) return;
  const bool known = std::ranges::any_of(not_covered, [&program](const NotCovered& other) {
    return other.pid == program.pid && other.program == program.program &&
           other.what == program.what;
  });
  if (known) return;
  const bool full = not_covered.size() == kMostNotCovered;
  not_covered.push_back(full ? NotCovered{0, "", "further programs, which are not listed", ""}
                             : program);
}

Result<Manifest> parse_manifest(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return corrupt("it is not JSON, or cut off");
  FATHOM_TRY(check_version(json));
  Manifest manifest;
  manifest.schema = static_cast<int>(integer_or(json, "schema", kSchemaVersion));
  FATHOM_ASSIGN(manifest.state, state_of(json));
  manifest.run_id = text_of(json, "run_id");
  manifest.command = list_of(json, "command");
  manifest.cwd = text_of(json, "cwd");
  manifest.environment = texts_of(json, "environment");
  manifest.host = host_of(json);
  manifest.origin = text_of(json, "origin");
  manifest.start_realtime_ns = integer_or(json, "start_realtime_ns", 0);
  manifest.duration_ns = integer_of(json, "duration_ns");
  manifest.clock = clock_of(json);
  manifest.state_reason = text_of(json, "state_reason");
  manifest.path_filter = list_of(json, "path_filter");
  manifest.pid = integer_of(json, "pid");
  manifest.exit_status = integer_of(json, "exit_status");
  manifest.overhead_ns = integer_of(json, "overhead_ns");
  const auto overhead = json.find("overhead_ns_per_event");
  if (overhead != json.end() && overhead->is_number())
    manifest.overhead_ns_per_event = overhead->get<double>();
  manifest.facts = texts_of(json, "facts");
  manifest.files = counts_of(json, "files");
  read_lists(json, manifest);
  if (manifest.layers.size() > kMostLayers || manifest.losses.size() > kMostLosses)
    return corrupt("it lists more than there can be");
  return manifest;
}

std::string format_manifest(const Manifest& manifest) {
  Json json = lists_json(manifest);
  json["schema"] = manifest.schema;
  json["run_id"] = manifest.run_id;
  json["command"] = valid_list(manifest.command);
  json["cwd"] = valid(manifest.cwd);
  json["environment"] = valid_map(manifest.environment);
  json["host"] = host_json(manifest.host);
  json["origin"] = manifest.origin;
  json["start_realtime_ns"] = manifest.start_realtime_ns;
  if (manifest.duration_ns) json["duration_ns"] = *manifest.duration_ns;
  if (!manifest.clock.pairs().empty()) json["clock"] = clock_json(manifest.clock);
  json["state"] = to_text(manifest.state);
  if (!manifest.state_reason.empty()) json["state_reason"] = valid(manifest.state_reason);
  if (!manifest.path_filter.empty()) json["path_filter"] = valid_list(manifest.path_filter);
  if (manifest.pid) json["pid"] = *manifest.pid;
  if (manifest.exit_status) json["exit_status"] = *manifest.exit_status;
  if (manifest.overhead_ns) json["overhead_ns"] = *manifest.overhead_ns;
  if (manifest.overhead_ns_per_event)
    json["overhead_ns_per_event"] = *manifest.overhead_ns_per_event;
  if (!manifest.facts.empty()) json["facts"] = valid_map(manifest.facts);
  if (!manifest.files.empty()) json["files"] = manifest.files;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Manifest> read_manifest(const Directory& directory) {
  FATHOM_ASSIGN(const std::string text, directory.read_whole(kManifestFile, kMostText));
  Result<Manifest> manifest = parse_manifest(text);
  if (!manifest) return std::move(manifest).error().with(directory.path());
  return manifest;
}

Result<Manifest> read_manifest(const std::string& directory) {
  FATHOM_ASSIGN(const Directory opened, Directory::open(directory));
  return read_manifest(opened);
}

Status write_manifest(const Directory& directory, const Manifest& manifest) {
  return directory.write_atomic(kManifestFile, format_manifest(manifest));
}

Status write_manifest(const std::string& directory, const Manifest& manifest) {
  FATHOM_ASSIGN(const Directory opened, Directory::open(directory));
  return write_manifest(opened, manifest);
}

}  // namespace fathom::trace
