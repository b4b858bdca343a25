// SPDX-License-Identifier: MIT
// Profiles of several applications beside each other, or of one before and after a change. A
// profile.json may come from another machine, by way of a build server: it is read as input, and
// what it lacks or has in another type is missing from the table, not an error.
#include "analysis/application/comparison.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "analysis/compare/spread.h"
#include "analysis/json_fields.h"
#include "base/files.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr double kNsPerSecond = 1e9;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kMostRuns = 10'000;

// A need, and the columns that its numbers go to. The rank is that of Column.
struct NeedColumns {
  const char* need;
  const char* typical;
  const char* peak;
  Measure measure;
  std::uint8_t rank;
};
constexpr std::array kNeeds = {
    NeedColumns{"cpu_cores", "cores", "cores_peak", Measure::kNone, 0},
    NeedColumns{"memory_bytes", "memory", "memory_peak", Measure::kBytes, 0},
    NeedColumns{"gpu_busy", "gpu", "gpu_peak", Measure::kPercent, 6},
    NeedColumns{"gpu_memory_bytes", "gpu_memory", "gpu_memory_peak", Measure::kBytes, 6},
    NeedColumns{"disk_read_rate", "disk_read_s", "disk_read_s_peak", Measure::kBytes, 3},
    NeedColumns{"disk_write_rate", "disk_write_s", "disk_write_s_peak", Measure::kBytes, 3},
    NeedColumns{"net_in_rate", "net_in_s", "net_in_s_peak", Measure::kBytes, 4},
    NeedColumns{"net_out_rate", "net_out_s", "net_out_s_peak", Measure::kBytes, 4},
    NeedColumns{"pids", "pids", "pids_peak", Measure::kNone, 5},
};

bool flag_in(const object& from, std::string_view key) {
  bool value = false;
  return from[key].get(value) == simdjson::SUCCESS && value;
}

// Older files do not say whether a run was a success: that is unknown, and not false.
std::optional<bool> known_flag_in(const object& from, std::string_view key) {
  bool value = false;
  return from[key].get(value) == simdjson::SUCCESS ? std::optional(value) : std::nullopt;
}

// A name beside the profile, which leads nowhere else.
std::string file_name_in(const object& from, std::string_view key) {
  std::string name = text_in(from, key);
  const bool fits = name.find('/') == std::string::npos && name.find('\0') == std::string::npos &&
                    name != "." && name != "..";
  return fits ? name : "";
}

ContainerRun run_in(const object& from) {
  constexpr double kHighestStatus = 255;
  const bool is_plain = text_in(from, "kind") == kPlain;
  const double exit = std::clamp(number_in(from, "exit").value_or(0), 0.0, kHighestStatus);
  return {.kind = is_plain ? kPlain : kProbed,
          .recording = file_name_in(from, "recording"),
          .exit = static_cast<int>(exit),
          .oom = flag_in(from, "oom"),
          .timed_out = flag_in(from, "timed_out"),
          .wall_s = std::max(0.0, number_in(from, "wall").value_or(0)),
          .success = known_flag_in(from, "success"),
          .failure = text_in(from, "failure")};
}

Quantities quantities_in(const object& from, std::string_view key) {
  object found;
  if (from[key].get(found) != simdjson::SUCCESS) return {};
  return {.cpu = text_in(found, "cpu"), .memory = text_in(found, "memory")};
}

Status read_into(const object& top, ProfileFigures& figures) {
  object needs, part;
  simdjson::dom::array runs;
  if (top["needs"].get(needs) != simdjson::SUCCESS || top["runs"].get(runs) != simdjson::SUCCESS)
    return Error{Code::kCorrupt, "this is not a profile of an application", ""};
  figures.title = text_in(top, "title");
  for (const NeedColumns& one : kNeeds) {
    if (needs[one.need].get(part) != simdjson::SUCCESS) continue;
    figures.needs.emplace_back(one.need, Amount{.typical = number_in(part, "typical"),
                                                .peak = number_in(part, "peak"),
                                                .reason = text_in(part, "reason")});
  }
  for (const element& one : runs) {
    if (figures.runs.size() < kMostRuns && one.get(part) == simdjson::SUCCESS)
      figures.runs.push_back(run_in(part));
  }
  figures.is_checked = top["success"].get(part) == simdjson::SUCCESS;
  if (top["recommend"].get(part) == simdjson::SUCCESS) {
    figures.requests = quantities_in(part, "requests");
    figures.limits = quantities_in(part, "limits");
  }
  if (top["overhead"].get(part) == simdjson::SUCCESS) figures.overhead = number_in(part, "ratio");
  return {};
}

// The runs that needs are of.
// Plain runs, if there are any: probed ones cost the application time.
std::vector<const ContainerRun*> counted_runs(const ProfileFigures& one) {
  const bool has_plain =
      std::ranges::any_of(one.runs, [](const auto& run) { return run.kind == kPlain; });
  std::vector<const ContainerRun*> counted;
  for (const ContainerRun& run : one.runs) {
    if (!has_plain || run.kind == kPlain) counted.push_back(&run);
  }
  return counted;
}

std::optional<double> wall_of(const ProfileFigures& one) {
  std::vector<double> walls;
  for (const ContainerRun* run : counted_runs(one)) walls.push_back(run->wall_s);
  if (walls.empty()) return std::nullopt;
  return median(walls);
}

// "0", or the first run's status that is another, with what ended it.
std::string ended_words(const ProfileFigures& one) {
  std::string words;
  for (const ContainerRun* run : counted_runs(one)) {
    const char* const why = run->oom                ? ", out of memory"
                            : !run->failure.empty() ? ", check failed"
                            : run->timed_out        ? ", time over"
                                                    : "";
    words = std::to_string(run->exit) + why;
    if (run->exit != 0 || *why != '\0') break;
  }
  return words;
}

Amount amount_of(const ProfileFigures& one, std::string_view need) {
  const auto found =
      std::ranges::find_if(one.needs, [&](const auto& entry) { return entry.first == need; });
  return found == one.needs.end() ? Amount{} : found->second;
}

Value cell_of(const std::optional<double>& number, Measure measure) {
  constexpr double kHundred = 100;
  if (!number) return {};
  return measure == Measure::kNone    ? std::round(*number * kHundred) / kHundred
         : measure == Measure::kBytes ? std::round(*number)
                                      : *number;
}

Value cell_of(const std::string& text) { return text.empty() ? Value() : Value(text); }

std::vector<Column> columns_of_comparison() {
  constexpr std::uint8_t kOverheadRank = 2;
  std::vector<Column> columns = {{"application"}, {"exit"}, {"wall", Measure::kNanoseconds}};
  for (const NeedColumns& one : kNeeds) {
    columns.push_back({one.typical, one.measure, one.rank});
    columns.push_back({one.peak, one.measure, one.rank});
  }
  columns.insert(columns.end(), {{"overhead", Measure::kPercent, kOverheadRank},
                                 {"request_cpu"},
                                 {"request_memory"},
                                 {"limit_cpu"},
                                 {"limit_memory"}});
  return columns;
}

}  // namespace

ProfileFigures figures_of(const Profile& profile) {
  ProfileFigures figures{.name = profile.title,
                         .title = profile.title,
                         .runs = profile.runs,
                         .needs = {},
                         .requests = profile.recommend.requests,
                         .limits = profile.recommend.limits,
                         .overhead = profile.overhead.ratio};
  for (const Need& need : profile.needs) figures.needs.emplace_back(need.name, need.amount);
  return figures;
}

Result<ProfileFigures> read_figures(std::string_view json) {
  simdjson::dom::parser parser;
  element root;
  object top;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS ||
      root.get(top) != simdjson::SUCCESS)
    return Error{Code::kCorrupt, "this is not a profile of an application", ""};
  ProfileFigures figures;
  FATHOM_TRY(read_into(top, figures));
  figures.name = figures.title;
  return figures;
}

Result<ProfileFigures> load_figures(const std::string& path) {
  const std::string file = is_directory(path) ? join_path(path, kProfileFile) : path;
  FATHOM_ASSIGN(const File opened, File::open(file, O_RDONLY | O_NONBLOCK));
  FATHOM_ASSIGN(const std::string text, opened.read_range(0, kMostBytes));
  Result<ProfileFigures> figures = read_figures(text);
  if (!figures) return std::move(figures).error().with(escape_control(file));
  return figures;
}

Table comparison_table(std::span<const ProfileFigures> all) {
  constexpr double kPercent = 100;
  Table table{
      .title = "What they need", .columns = columns_of_comparison(), .rows = {}, .note = ""};
  for (const ProfileFigures& one : all) {
    const std::optional<double> wall = wall_of(one);
    std::vector<Value> row = {one.name, cell_of(ended_words(one)),
                              wall ? Value(*wall * kNsPerSecond) : Value()};
    for (const NeedColumns& columns : kNeeds) {
      const Amount amount = amount_of(one, columns.need);
      row.push_back(cell_of(amount.typical, columns.measure));
      row.push_back(cell_of(amount.peak, columns.measure));
    }
    Value overhead;
    if (one.overhead) overhead = (*one.overhead - 1) * kPercent;
    row.push_back(std::move(overhead));
    for (const std::string* text :
         {&one.requests.cpu, &one.requests.memory, &one.limits.cpu, &one.limits.memory})
      row.push_back(cell_of(*text));
    table.rows.push_back(std::move(row));
  }
  table.note =
      "wall: median of the plain runs; _s: bytes per second; overhead: how much longer probed runs "
      "took";
  return table;
}

std::string short_words(const ProfileFigures& one) {
  const Amount cores = amount_of(one, "cpu_cores");
  const Amount memory = amount_of(one, "memory_bytes");
  const std::optional<double> wall = wall_of(one);
  std::string words = wall ? human_ns(*wall * kNsPerSecond) : "no run";
  if (cores.typical && cores.peak)
    words += fmt::format(", {:.2f} cores (peak {:.2f})", *cores.typical, *cores.peak);
  if (memory.typical && memory.peak)
    words += ", " + human_bytes(*memory.typical) + " (peak " + human_bytes(*memory.peak) + ")";
  const std::string ended = ended_words(one);
  return ended.empty() || ended == "0" ? words : words + ", exit status " + ended;
}

}  // namespace fathom::analysis
