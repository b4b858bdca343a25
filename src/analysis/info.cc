// SPDX-License-Identifier: MIT
// What `fathom info` says. Reads manifests, directory entries and the ends of Parquet files only,
// so that it answers at once on any recording, also where DuckDB is missing.
#include "analysis/info.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "analysis/facts.h"
#include "analysis/far_rows.h"
#include "analysis/missing_columns.h"
#include "analysis/parquet_footer.h"
#include "base/directory.h"
#include "base/plural.h"
#include "base/sum.h"
#include "base/text.h"
#include "trace/recording/parquet_tables.h"
#include "trace/recording/unseen.h"

namespace fathom::analysis {
namespace {

using trace::Manifest;
using trace::Part;

struct Disk {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
};

constexpr int kDeepest = 4;  // of what a recording has

// What is on the disk: a file with holes (a pool) takes less than its length.
void measure(const Directory& directory, int depth, Disk& disk) {
  const Result<std::vector<std::string>> names = directory.names();
  if (!names) return;
  for (const std::string& name : *names) {
    struct stat facts {};
    if (fstatat(directory.fd(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISDIR(facts.st_mode)) {
      constexpr std::int64_t kBlock = 512;  // st_blocks counts these whatever the file system
      disk.files++;
      add_to(disk.bytes, std::min<std::int64_t>(facts.st_size, facts.st_blocks * kBlock));
    } else if (const Result<Directory> below = directory.directory(name); below && depth > 0) {
      measure(*below, depth - 1, disk);
    }
  }
}

Disk disk_of(const Info& info) {
  Disk disk;
  std::set<std::shared_ptr<FarRows>> counted_far;
  for (const Part& part : info.parts) {
    if (const std::shared_ptr<FarRows> far = far_rows_of(part.directory)) {
      if (!counted_far.insert(far).second) continue;
      disk.files += far->size().files;
      add_to(disk.bytes, far->size().bytes);
      continue;
    }
    if (const Result<Directory> directory = Directory::open(part.directory))
      measure(*directory, kDeepest, disk);
  }
  return disk;
}

// Of all tables that layers write: events, intervals, counters and samples.
std::int64_t rows_of(const std::vector<Part>& parts) {
  std::int64_t rows = 0;
  for (const Part& part : parts) {
    for (const trace::LayerState& layer : part.manifest.layers) add_to(rows, layer.events);
  }
  return rows;
}

// Before the tails are let go. What is not packed, or lies elsewhere, would have to be read whole.
std::optional<std::int64_t> events_of(const std::vector<Part>& parts) {
  std::int64_t events = 0;
  for (const Part& part : parts) {
    if (part.tail != nullptr || far_rows_of(part.directory) != nullptr) return std::nullopt;
    const auto files = part.files.find(trace::kEventsTable);
    if (files == part.files.end()) continue;
    for (const trace::DataFile& file : files->second) {
      const std::optional<std::int64_t> rows = rows_of_footer(parquet_footer(file.path));
      if (!rows) return std::nullopt;
      add_to(events, *rows);
    }
  }
  return events;
}

Value optional_value(const std::optional<std::int64_t>& number) {
  return number ? Value(*number) : Value();
}

Value optional_text(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value text_list(const std::vector<std::string>& texts) { return List(texts.begin(), texts.end()); }

Value layer_list(const std::vector<Part>& parts) {
  List list;
  for (const trace::LayerState& layer : layers_of(parts)) {
    list.emplace_back(Object{{"layer", layer.layer},
                             {"state", layer.state},
                             {"rows", layer.events},
                             {"reason", optional_text(layer.reason)}});
  }
  return list;
}

Value loss_list(const std::vector<Part>& parts) {
  List list;
  for (const trace::Loss& loss : losses_of(parts)) {
    list.emplace_back(Object{
        {"layer", optional_text(loss.layer)}, {"reason", loss.reason}, {"count", loss.count}});
  }
  return list;
}

Value not_covered_list(const Manifest& manifest) {
  List list;
  for (const trace::NotCovered& one : manifest.not_covered) {
    list.emplace_back(Object{{"pid", one.pid}, {"program", one.program}, {"reason", one.reason}});
  }
  return list;
}

Value in_flight_list(const Manifest& manifest) {
  List list;
  for (const trace::InFlight& call : manifest.in_flight) {
    list.emplace_back(Object{
        {"pid", call.pid}, {"tid", call.tid}, {"name", call.name}, {"since_ns", call.since_ns}});
  }
  return list;
}

Value damaged_list(const Part& part) {
  List list;
  for (const trace::DamagedFile& file : part.damaged) {
    list.emplace_back(Object{{"path", file.path}, {"reason", file.reason}});
  }
  return list;
}

Value text_object(const std::map<std::string, std::string>& texts) {
  Object object;
  for (const auto& [key, value] : texts) object.emplace_back(key, value);
  return object;
}

Value host_object(const HostFacts& host) {
  return Object{{"name", host.hostname},
                {"system", optional_text(host.system)},
                {"kernel", optional_text(host.kernel)},
                {"arch", optional_text(host.arch)},
                {"cpu_model", optional_text(host.cpu_model)},
                {"cores", static_cast<std::int64_t>(host.cores)},
                {"memory_bytes", static_cast<std::int64_t>(host.memory_bytes)}};
}

Value clock_object(const trace::Clock& clock) {
  const bool counter = clock.tick_source() == FATHOM_TICK_COUNTER;
  return Object{{"source", std::string(counter ? "cpu counter" : "clock_gettime")},
                {"ns_per_tick", clock.ns_per_tick()},
                {"calibrations", static_cast<std::int64_t>(clock.pairs().size())}};
}

void add_disk(Object& object, const Disk& disk, const Info& info) {
  const std::int64_t rows = rows_of(info.parts);
  object.emplace_back("events", optional_value(info.events));
  object.emplace_back("rows", rows);
  object.emplace_back("files", disk.files);
  object.emplace_back("bytes", disk.bytes);
  const auto bytes = static_cast<double>(disk.bytes);
  object.emplace_back("bytes_per_row",
                      rows > 0 ? Value(bytes / static_cast<double>(rows)) : Value());
}

Object part_object(const Part& part) {
  const Manifest& manifest = part.manifest;
  Object object = {{"state", std::string(trace::to_text(state_of(part)))},
                   {"state_reason", optional_text(manifest.state_reason)},
                   {"directory", part.directory},
                   {"run_id", optional_text(manifest.run_id)},
                   {"origin", optional_text(manifest.origin)},
                   {"command", text_list(manifest.command)},
                   {"cwd", optional_text(manifest.cwd)},
                   {"start", iso_time(manifest.start_realtime_ns)},
                   {"start_realtime_ns", manifest.start_realtime_ns},
                   {"duration_ns", optional_value(manifest.duration_ns)},
                   {"exit", optional_value(manifest.exit_status)},
                   {"host", host_object(manifest.host)},
                   {"environment", text_object(manifest.environment)},
                   {"paths", text_list(manifest.path_filter)},
                   {"clock", clock_object(manifest.clock)},
                   {"overhead_ns", optional_value(manifest.overhead_ns)},
                   {"facts", text_object(manifest.facts)}};
  object.emplace_back("not_covered", not_covered_list(manifest));
  object.emplace_back("in_flight", in_flight_list(manifest));
  object.emplace_back("damaged", damaged_list(part));
  return object;
}

Object parts_object(const std::vector<Part>& parts) {
  if (parts.size() == 1) return part_object(parts[0]);
  List recordings;
  for (const Part& part : parts) recordings.emplace_back(part_object(part));
  return {{"state", std::string(trace::to_text(state_of(parts)))},
          {"recordings", std::move(recordings)}};
}

}  // namespace

Result<Info> read_info(const std::string& path, const trace::NameResolver& resolver) {
  FATHOM_ASSIGN(const std::string directory, absolute_path(path));
  FATHOM_ASSIGN(trace::Recording recording,
                trace::Recording::open(
                    directory, {.resolver = resolver, .paths = {}, .directory = {}, .local = true},
                    trace::Need::kSums));
  Info info;
  info.parts = std::move(recording.parts);
  set_incomplete_aside(info.parts);
  info.events = events_of(info.parts);
  for (Part& part : info.parts) part.tail.reset();
  return info;
}

Value info_object(const Info& info) {
  Object object = parts_object(info.parts);
  object.emplace_back("layers", layer_list(info.parts));
  object.emplace_back("losses", loss_list(info.parts));
  add_disk(object, disk_of(info), info);
  return object;
}

namespace {

// A fact of the manifest as people read it. Whoever computes takes it from JSON or view `run`.
std::pair<std::string, std::string> fact_row(const std::string& fact, const std::string& value) {
  constexpr std::string_view kNs = "_ns";
  const auto human = [](const Result<std::int64_t>& number, auto text) {
    return text(static_cast<double>(*number));
  };
  const std::vector<std::string_view> words = split(value, ' ');
  const Result<std::int64_t> number = parse_int(words.front());
  if (fact == trace::kKernelIoFact && words.size() == 2) {
    const Result<std::int64_t> written = parse_int(words.back());
    if (number && written)
      return {"I/O by the kernel's count",
              fmt::format("{} read, {} written", human(number, human_bytes),
                          human(written, human_bytes))};
  }
  if (fact.ends_with(kNs) && words.size() == 1 && number)
    return {fact.substr(0, fact.size() - kNs.size()), human(number, human_ns)};
  return {fact, value};
}

void add_part_rows(const Part& part, Table& table) {
  const Manifest& manifest = part.manifest;
  const auto row = [&](const char* fact, const std::string& value) {
    if (!value.empty()) table.rows.push_back({std::string(fact), value});
  };
  std::string state(trace::to_text(state_of(part)));
  if (!manifest.state_reason.empty()) state += ": " + manifest.state_reason;
  row("recording", part.directory);
  row("state", state);
  row("command", shell_join(manifest.command));
  row("directory", manifest.cwd);
  row("start", iso_time(manifest.start_realtime_ns));
  if (manifest.duration_ns) row("duration", human_ns(static_cast<double>(*manifest.duration_ns)));
  if (manifest.exit_status) row("exit status", std::to_string(*manifest.exit_status));
  const HostFacts& host = manifest.host;
  row("host", host.hostname);
  row("system", join({host.system, host.kernel, host.arch}, "  "));
  row("cpu", host.cpu_model.empty()
                 ? ""
                 : fmt::format("{} ({})", host.cpu_model, counted(host.cores, "core")));
  row("clock",
      fmt::format(
          "{}, {:.6f} ns per tick, {}",
          manifest.clock.tick_source() == FATHOM_TICK_COUNTER ? "CPU counter" : "clock_gettime",
          manifest.clock.ns_per_tick(), counted(manifest.clock.pairs().size(), "calibration")));
  row("only files below", join(manifest.path_filter, ", "));
  if (manifest.overhead_ns)
    row("overhead", human_ns(static_cast<double>(*manifest.overhead_ns)) + " (estimate)");
  for (const auto& [fact, value] : manifest.facts) {
    const auto [name, text] = fact_row(fact, value);
    row(name.c_str(), text);
  }
}

Table fact_table(const Info& info) {
  Table table{.title = "Recording", .columns = {{"fact"}, {"value"}}, .rows = {}, .note = {}};
  for (const Part& part : info.parts) add_part_rows(part, table);
  const Disk disk = disk_of(info);
  const std::int64_t rows = rows_of(info.parts);
  std::string size =
      fmt::format("{}{}, {} in {}", info.events ? counted(*info.events, "event") + ", " : "",
                  counted(rows, "row"), human_bytes(static_cast<double>(disk.bytes)),
                  counted(disk.files, "file"));
  if (rows > 0) {
    size += fmt::format(", {:.1f} bytes per row",
                        static_cast<double>(disk.bytes) / static_cast<double>(rows));
  }
  table.rows.push_back({std::string("size"), size});
  return table;
}

// Objects of one kind as rows of a table.
Table table_of(const char* title, const std::vector<Value>& lists) {
  Table table{.title = title, .columns = {}, .rows = {}, .note = {}};
  for (const Value& value : lists) {
    for (const Value& item : std::get<List>(value.data)) {
      const auto& object = std::get<Object>(item.data);
      std::vector<Value> row;
      for (const auto& [key, cell] : object) row.push_back(cell);
      if (table.rows.empty()) {
        for (const auto& [key, cell] : object) table.columns.push_back({key});
      }
      table.rows.push_back(std::move(row));
    }
  }
  for (Column& column : table.columns) {
    if (column.name == "since_ns") column = {"since", Measure::kNanoseconds};
    if (column.name == "rows" || column.name == "count") column.measure = Measure::kCount;
  }
  return table;
}

}  // namespace

std::vector<Table> info_tables(const Info& info) {
  std::vector<Value> uncovered;
  std::vector<Value> in_flight;
  std::vector<Value> damaged;
  for (const Part& part : info.parts) {
    uncovered.push_back(not_covered_list(part.manifest));
    in_flight.push_back(in_flight_list(part.manifest));
    damaged.push_back(damaged_list(part));
  }
  std::vector<Table> tables = {fact_table(info),
                               table_of("Layers", {layer_list(info.parts)}),
                               table_of("Losses", {loss_list(info.parts)}),
                               table_of("Not covered", uncovered),
                               table_of("Calls in flight at the end", in_flight),
                               table_of("Damaged files", damaged)};
  if (tables[2].rows.empty()) tables[2].note = "nothing was lost";
  std::erase_if(tables,
                [](const Table& table) { return table.rows.empty() && table.note.empty(); });
  return tables;
}

}  // namespace fathom::analysis
