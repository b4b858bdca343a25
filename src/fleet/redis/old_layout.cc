// SPDX-License-Identifier: MIT
// Numbers are texts there, because Redis gave them back as such; its counts of benchmarks have
// thousands separators.
#include "fleet/redis/old_layout.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "render/json_writer.h"

namespace fathom::fleet {
namespace {

using Json = nlohmann::json;
using render::JsonWriter;

// Fields of profiling-framework's own, beside which all others are events.
constexpr char kExecName[] = "execname";
constexpr char kTime[] = "Exectime";
constexpr char kEarlierTime[] = "time";

Error wrong(const std::string& what) { return {Code::kInvalid, what, ""}; }

std::optional<std::int64_t> whole_number(const Json& value) {
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max())
    return value.get<std::int64_t>();
  if (!value.is_string()) return {};
  const Result<std::int64_t> number = parse_int(value.get_ref<const std::string&>());
  return number && *number >= 0 ? std::optional(*number) : std::nullopt;
}

// 1.25, "1.25", "12,345"
std::optional<double> number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return {};
  std::string text = value.get<std::string>();
  std::erase(text, ',');
  double read = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(read)) return {};
  return read;
}

std::string number_text(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::trunc(value) == value && std::fabs(value) <= kExact)
    return std::to_string(static_cast<std::int64_t>(value));
  std::string text;
  JsonWriter(text).value(value);
  return text;
}

// A number of JSON as it stands: counts beyond 2^53 stay exact.
std::optional<std::string> plain_number(const Json& value) {
  if (value.is_number_integer()) return value.dump();
  if (value.is_number_float()) return number_text(value.get<double>());
  return {};
}

std::string old_run_line(const Json& run) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  const auto wall = run.find("wall");
  if (wall != run.end() && wall->is_number()) json.key(kTime).value(wall->dump());
  const auto events = run.find("events");
  if (events != run.end() && events->is_object()) {
    for (const auto& [name, event] : events->items()) {
      if (!event.is_object() || name == kTime || !event.contains("value")) continue;
      if (const auto counted = plain_number(event["value"])) json.key(name).value(*counted);
    }
  }
  json.end_object();
  return text;
}

Result<OldLine> parse_node(const std::string& node, const Json& fields) {
  const auto exec = fields.find(kExecName);
  if (exec == fields.end() || !exec->is_string()) return wrong("the node has no execname");
  OldLine line;
  for (const auto& [event, count] : fields.items()) {
    if (event == kExecName) continue;
    const std::optional<std::int64_t> sum = whole_number(count);
    if (!sum) return wrong("the sum of an event is not a whole number");
    line.rows.push_back({node, exec->get<std::string>(), event, *sum});
  }
  return line;
}

}  // namespace

std::string old_node_line(const std::vector<ProfileRow>& rows) {
  std::string text;
  if (rows.empty()) return text;
  JsonWriter json(text);
  json.begin_object().key(rows[0].node).begin_object().key(kExecName).value(rows[0].exec);
  for (const ProfileRow& row : rows) json.key(row.event).value(std::to_string(row.count));
  json.end_object().end_object();
  return text;
}

Result<std::vector<std::string>> old_benchmark_lines(std::string_view record) {
  const Json object = Json::parse(record, nullptr, false);
  if (!object.is_object() || !object.contains("runs") || !object["runs"].is_array())
    return wrong("the record has no runs");
  std::vector<std::string> lines;
  for (const Json& run : object["runs"]) {
    if (!run.is_object()) return wrong("a run of the record is no object");
    lines.push_back(old_run_line(run));
  }
  return lines;
}

// A record of ours has facts that the old one lacks: they are null or empty, not guessed.
Result<std::string> record_of_old(std::string_view benchmark) {
  const Json object = Json::parse(benchmark, nullptr, false);
  if (!object.is_object()) return wrong("it is no object of JSON");
  const auto time = object.find(object.contains(kTime) ? kTime : kEarlierTime);
  const std::optional<double> wall = time == object.end() ? std::nullopt : number(*time);
  if (!wall || *wall < 0) return wrong("the benchmark has no time");
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("command").begin_array().end_array().key("host").value("");
  json.key("machine").begin_object().end_object().key("revision").value("");
  json.key("time").null().key("runs").begin_array().begin_object();
  json.key("exit").null().key("wall").value(*wall).key("events").begin_object();
  for (const auto& [name, value] : object.items()) {
    if (name == kTime || name == kEarlierTime) continue;
    const std::optional<double> count = number(value);
    json.key(name).begin_object().key("value");
    if (!count) {
      json.null();  // "supported>" of "<not supported>"
    } else if (std::trunc(*count) == *count && std::fabs(*count) < 9e18) {
      json.value(static_cast<std::int64_t>(*count));
    } else {
      json.value(*count);
    }
    json.key("unit").value("").key("coverage").value(count ? 1 : 0).key("reason");
    if (count) {
      json.null();
    } else {
      json.value("profiling-framework has no number of it");
    }
    json.end_object();
  }
  json.end_object().end_object().end_array().end_object();
  return text;
}

Result<OldLine> parse_old_line(std::string_view line) {
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object() || object.empty()) return wrong("it is no object of JSON");
  const auto first = object.begin();
  if (object.size() == 1 && first->is_object()) return parse_node(first.key(), *first);
  OldLine benchmark;
  FATHOM_ASSIGN(benchmark.record, record_of_old(line));
  return benchmark;
}

}  // namespace fathom::fleet
