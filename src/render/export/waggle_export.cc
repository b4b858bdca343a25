// SPDX-License-Identifier: MIT
// The files of Waggle's application profiler: when functions and turns of loops began and ended,
// and how busy CPUs and memory were. docs/formats/waggle.md has the form.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/layers.h"
#include "base/text.h"
#include "render/export/exporter.h"
#include "render/export/json_fields.h"

namespace fathom::render {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// Two rows for each turn of each loop: a file that nobody can read helps nobody.
constexpr std::int64_t kMostTurns = 20'000'000;

std::string_view argument(const ExportEvent& event, std::string_view key) {
  for (const auto& [name, value] : event.args) {
    if (name == key) return value;
  }
  return {};
}

// "/usr/lib/python3.11/json/decoder.py", and modules that the interpreter holds itself. Packages
// that were installed there are the application's.
bool is_of_standard_library(std::string_view file) {
  constexpr std::string_view kFolder = "/python3.";
  if (file.starts_with("<frozen ")) return true;
  const std::size_t at = file.find(kFolder);
  if (at == std::string_view::npos) return false;
  const std::string_view above = file.substr(0, at);
  const std::string_view version = file.substr(at + kFolder.size());
  const std::size_t end = version.find_first_not_of("0123456789");
  if (!(above.ends_with("/lib") || above.ends_with("/lib64")) || end == 0 ||
      end == std::string_view::npos || version[end] != '/')
    return false;
  const std::string_view inside = version.substr(end + 1);
  return !inside.starts_with("site-packages/") && !inside.starts_with("dist-packages/");
}

// "1600000000.125000", as Python's time.time().
void append_time(std::string& out, std::int64_t epoch_ns) {
  std::array<char, 40> text{};
  const int length = std::snprintf(text.data(), text.size(), "%lld.%06lld",
                                   static_cast<long long>(epoch_ns / kSecond),
                                   static_cast<long long>(epoch_ns % kSecond / 1000));
  out.append(text.data(), static_cast<std::size_t>(length));
}

// Moments with words, which come by thread and are wanted by time.
class Moments {
 public:
  void add(std::int64_t ts, std::string words) {
    const auto [found, is_new] =
        ids_.try_emplace(std::move(words), static_cast<std::uint32_t>(ids_.size()));
    if (is_new) words_.push_back(found->first);
    rows_.push_back({ts, found->second});
  }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

  Status write(std::int64_t start_ns, ByteSink sink) {
    std::ranges::stable_sort(rows_, {}, &Row::ts);
    SinkBuffer buffer(sink);
    buffer.text() += "time,name\n";
    for (const Row& row : rows_) {
      append_time(buffer.text(), start_ns + row.ts);
      buffer.text() += ',' + words_[row.words] + '\n';
      FATHOM_TRY(buffer.flush_if_large());
    }
    FATHOM_TRY(buffer.flush());
    return sink.finish();
  }

 private:
  struct Row {
    std::int64_t ts = 0;
    std::uint32_t words = 0;
  };
  std::vector<Row> rows_;
  std::vector<std::string> words_;
  std::unordered_map<std::string, std::uint32_t> ids_;
};

// A name as one field of CSV.
std::string field(std::string_view text) {
  std::string out = escape_control(text);
  if (out.find_first_of(",\"") == std::string::npos) return out;
  std::string quoted = "\"";
  for (const char c : out) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

// Follows the threads; what is open is closed when something begins behind it, so that the ends of
// a thread are told in their order.
class CodeMoments {
 public:
  Status add(const ExportEvent& event) {
    const std::tuple thread(std::string(event.host), event.pid, event.tid);
    if (thread != thread_) close_until(std::numeric_limits<std::int64_t>::max());
    thread_ = thread;
    close_until(event.ts);
    if (!analysis::is_code(event.layer) || !is_known_to_waggle(event)) return {};
    const Result<std::int64_t> iterations = parse_int(argument(event, "iterations"));
    if (!argument(event, "turn").empty()) {
      add_turn(event);
    } else if (iterations) {
      turns_ += *iterations;
      if (turns_ > kMostTurns)
        return Error{Code::kFull, "loops turned more than 20 million times, two rows for each",
                     "choose a part: --from, --to, --pid or --name"};
      open_.push_back({event.ts + event.dur, {}, kind_of(event), *iterations, event.ts});
    } else {
      begin_function(event);
    }
    return {};
  }
  Status finish(std::int64_t start_ns, const OpenPart& open) {
    close_until(std::numeric_limits<std::int64_t>::max());
    FATHOM_ASSIGN(ByteSink functions, open("ftimes.csv"));
    FATHOM_TRY(functions_.write(start_ns, std::move(functions)));
    FATHOM_ASSIGN(ByteSink loops, open("ltimes.csv"));
    return loops_.write(start_ns, std::move(loops));
  }

 private:
  struct Open {
    std::int64_t end = 0;
    std::string function;  // "": a loop
    std::string kind = {};
    std::int64_t turns_left = 0;  // that were not told one by one
    std::int64_t turns_from = 0;  // where those begin
  };

  static bool is_instant(const ExportEvent& event) {
    return event.dur == 0 && event.layer == "app" && event.category != "function";
  }

  // "for 72>" of "work.<for 72>".
  static std::string_view place_of(const ExportEvent& event) {
    const std::size_t at = event.name.rfind(".<");
    return at == std::string_view::npos ? "" : event.name.substr(at + 2);
  }

  // Its probes are in the application's own code, and in loops that are statements.
  static bool is_known_to_waggle(const ExportEvent& event) {
    return !is_instant(event) && !place_of(event).starts_with("comprehension ") &&
           !is_of_standard_library(argument(event, "file"));
  }

  static std::string kind_of(const ExportEvent& event) {
    return place_of(event).starts_with("while") ? "While Loop" : "For Loop";
  }

  void begin_function(const ExportEvent& event) {
    const std::string name = std::string(event.name) + "()";
    functions_.add(event.ts, field("In Function " + name));
    open_.push_back({event.ts + event.dur, field("Leaving Function " + name)});
  }

  void add_turn(const ExportEvent& event) {
    const std::string kind = kind_of(event);
    loops_.add(event.ts, "Top of " + kind);
    loops_.add(event.ts + event.dur, "Bottom of " + kind);
    for (std::size_t i = open_.size(); i-- > 0;) {
      Open& outer = open_[i];
      if (!outer.function.empty() || outer.turns_left == 0) continue;
      --outer.turns_left;
      outer.turns_from = event.ts + event.dur;
      return;
    }
  }

  void close_until(std::int64_t ts) {
    while (!open_.empty() && open_.back().end <= ts) {
      const Open& last = open_.back();
      if (last.function.empty()) {
        spread_turns(last);
      } else {
        functions_.add(last.end, last.function);
      }
      open_.pop_back();
    }
  }

  // When each turn began was not recorded: they took the same time each.
  void spread_turns(const Open& loop) {
    const auto length = static_cast<double>(loop.end - loop.turns_from);
    const auto turns = static_cast<double>(loop.turns_left);
    const auto moment = [&](std::int64_t turn) {
      return loop.turns_from +
             static_cast<std::int64_t>(length * (static_cast<double>(turn) / turns));
    };
    for (std::int64_t turn = 0; turn < loop.turns_left; ++turn) {
      loops_.add(moment(turn), "Top of " + loop.kind);
      loops_.add(moment(turn + 1), "Bottom of " + loop.kind);
    }
  }

  std::tuple<std::string, ExportNumber, ExportNumber> thread_;
  std::vector<Open> open_;
  Moments functions_, loops_;
  std::int64_t turns_ = 0;
};

// The number in "cpu3_busy" or "cgroup_cpu3_time".
std::optional<int> core_in(std::string_view name, std::string_view before,
                           std::string_view behind) {
  if (!name.starts_with(before) || !name.ends_with(behind)) return {};
  name.remove_prefix(before.size());
  if (name.size() <= behind.size()) return {};
  name.remove_suffix(behind.size());
  int core = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), core);
  constexpr int kMostCores = 1 << 16;
  if (error != std::errc() || end != name.data() + name.size() || core > kMostCores) return {};
  return core;
}

// Shares of CPUs and memory at each look: the application's, by its control group, or else the
// machine's.
class Stats {
 public:
  void add(const ExportCounter& counter) {
    if (counter.layer != "resource" || counter.pid) return;
    if (const auto core = core_in(counter.name, "cgroup_cpu", "_time")) {
      group_cores_[counter.ts][*core] = counter.value;
    } else if (const auto busy = core_in(counter.name, "cpu", "_busy")) {
      cores_[counter.ts][*busy] = counter.value;
    } else if (counter.name == "cgroup_working_set") {
      group_memory_[counter.ts] = counter.value;
    } else if (counter.name == "memory_used") {
      memory_[counter.ts] = counter.value;
    } else if (counter.name == "memory_total" || counter.name == "cgroup_memory_limit") {
      double& total = counter.name == "memory_total" ? total_ : limit_;
      total = std::max(total, counter.value);
    }
  }

  Status write(std::int64_t start_ns, ByteSink sink) {
    const bool of_group = group_cores_.size() > 1;
    const auto shares = of_group ? shares_of_group() : cores_;
    const auto& memory = of_group && !group_memory_.empty() ? group_memory_ : memory_;
    const double whole = of_group && limit_ > 0 && limit_ < total_ ? limit_ : total_;
    int columns = 0;
    for (const auto& [ts, cores] : shares)
      if (!cores.empty()) columns = std::max(columns, cores.rbegin()->first + 1);
    SinkBuffer buffer(sink);
    buffer.text() += "time,";
    for (int core = 0; core < columns; ++core) buffer.text() += "CPU,";
    buffer.text() += "Memory%\n";
    for (const auto& [ts, cores] : shares) {
      append_time(buffer.text(), start_ns + ts);
      for (int core = 0; core < columns; ++core) {
        const auto found = cores.find(core);
        append_share(buffer.text(), found == cores.end() ? 0 : found->second);
      }
      append_share(buffer.text(), whole > 0 ? 100 * value_at(memory, ts) / whole : 0);
      buffer.text() += '\n';
      FATHOM_TRY(buffer.flush_if_large());
    }
    FATHOM_TRY(buffer.flush());
    return sink.finish();
  }

 private:
  using Cores = std::map<int, double>;

  static void append_share(std::string& out, double share) {
    out += ',';
    append_real(out, std::round(std::clamp(share, 0.0, 100.0) * 1000) / 1000);
  }

  // The last value at or before a moment.
  static double value_at(const std::map<std::int64_t, double>& values, std::int64_t ts) {
    auto behind = values.upper_bound(ts);
    if (behind == values.begin()) return behind == values.end() ? 0 : behind->second;
    return std::prev(behind)->second;
  }

  [[nodiscard]] std::map<std::int64_t, Cores> shares_of_group() const {
    std::map<std::int64_t, Cores> shares;
    for (auto at = std::next(group_cores_.begin()); at != group_cores_.end(); ++at) {
      const auto& [before_ts, before] = *std::prev(at);
      for (const auto& [core, ns] : at->second) {
        const auto found = before.find(core);
        const double grown = ns - (found == before.end() ? 0 : found->second);
        shares[at->first][core] = 100 * grown / static_cast<double>(at->first - before_ts);
      }
    }
    return shares;
  }

  std::map<std::int64_t, Cores> group_cores_, cores_;
  std::map<std::int64_t, double> group_memory_, memory_;
  double total_ = 0, limit_ = 0;
};

Status write_files(EventStream& from, const OpenPart& open) {
  const std::int64_t start = from.start_realtime_ns();
  CodeMoments code;
  FATHOM_TRY(from.events(EventOrder::kByThread,
                         [&](const ExportEvent& event) { return code.add(event); }));
  FATHOM_TRY(code.finish(start, open));
  Stats stats;
  FATHOM_TRY(from.counters([&](const ExportCounter& counter) -> Status {
    stats.add(counter);
    return {};
  }));
  FATHOM_ASSIGN(ByteSink sink, open("stats.csv"));
  return stats.write(start, std::move(sink));
}

}  // namespace

extern const ExporterDef kWaggleExporter;
const ExporterDef kWaggleExporter = {
    .name = "waggle",
    .summary = "a directory with ftimes.csv, ltimes.csv and stats.csv, as Waggle's profiler wrote",
    .by_thread = true,
    .write_files = write_files,
};

}  // namespace fathom::render
