// SPDX-License-Identifier: MIT
// Rates become shares of a second: 100 % of a CPU, or of a thread in calls.
#include "cli/top/activity_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/layers.h"
#include "base/plural.h"
#include "base/text.h"
#include "cli/top/stragglers.h"

namespace fathom::cli::top {
namespace {

using analysis::Activity;
using analysis::CallNow;
using analysis::ProcessNow;
using enum Measure;

constexpr double kNsPerSecond = 1e9;

double percent(double ns_per_second) { return 100 * ns_per_second / kNsPerSecond; }
std::int64_t whole(double value) { return std::llround(value); }

// Calls are what a program asks others to do; its own functions are told elsewhere.
bool is_call(std::string_view layer) {
  const analysis::LayerDef* def = trace::find_layer(layer);
  return def == nullptr || !def->code;
}
bool is_call_of_thread(std::string_view layer) {
  const analysis::LayerDef* def = trace::find_layer(layer);
  return def == nullptr || (!def->code && !def->kernel && !def->device && def->in_threads);
}

// Several layers see one call. Of those that the program's library records all count, and bytes are
// those of the layer that saw most; where there is none, the outermost of the kernel's tells.
struct OfProcess {
  double calls = 0;
  double in_calls_ns = 0;
  double waits_ns = 0;
  double ready_ns = 0;                               // no CPU was free
  std::map<std::string_view, double> read, written;  // by layer
  double system_calls = 0;
  double in_system_ns = 0;
  std::string now;
  std::int64_t now_since = -1;

  void add(const CallNow& call) {
    if (call.layer == "syscall") {
      system_calls += call.calls;
      in_system_ns += call.self_ns;
    } else if (!trace::is_kernel(call.layer)) {
      calls += call.calls;
      if (is_call_of_thread(call.layer)) in_calls_ns += call.self_ns;
    }
    if (call.category == "read") read[call.layer] += call.bytes;
    if (call.category == "write") written[call.layer] += call.bytes;
  }
  static double most(const std::map<std::string_view, double>& by_layer) {
    double most = 0;
    for (const auto& [layer, bytes] : by_layer) most = std::max(most, bytes);
    return most;
  }
};

std::map<std::int64_t, OfProcess> by_process(const Activity& activity) {
  std::map<std::int64_t, OfProcess> all;
  for (const CallNow& call : activity.calls) all[call.pid].add(call);
  for (const analysis::TimeNow& wait : activity.waits) {
    OfProcess& process = all[wait.pid];
    (wait.cause == "ready" ? process.ready_ns : process.waits_ns) += wait.ns;
  }
  for (const analysis::ThreadNow& thread : activity.threads) {
    OfProcess& process = all[thread.pid];
    if (thread.since_ns <= process.now_since) continue;
    process.now_since = thread.since_ns;
    process.now = thread.call + " " + human_ns(static_cast<double>(thread.since_ns));
  }
  return all;
}

Value or_null(const std::optional<double>& value, double factor) {
  return value ? Value(*value * factor) : Value();
}

struct SortedRow {
  double key;
  std::string id;
  std::vector<Value> cells;
};

// The largest first.
void put(std::vector<SortedRow> rows, Table& table, std::vector<std::string>* ids = nullptr) {
  std::ranges::stable_sort(rows, std::ranges::greater(), &SortedRow::key);
  for (SortedRow& row : rows) {
    table.rows.push_back(std::move(row.cells));
    if (ids != nullptr) ids->push_back(std::move(row.id));
  }
}

Table processes(const Activity& activity, std::vector<std::string>& ids) {
  Table table{"Processes",
              {{"pid"},
               {"rank", kNone, 6},
               {"program"},
               {"cpu", kPercent},
               {"memory", kBytes, 3},
               {"in_calls", kPercent, 2},
               {"waits", kPercent, 4},
               {"ready", kPercent, 4},
               {"calls", kCount, 1},
               {"read", kBytes, 5},
               {"written", kBytes, 5},
               {"now", kNone, 2},
               {"note", kNone, 7}},
              {},
              ""};
  std::map<std::int64_t, OfProcess> sums = by_process(activity);
  const std::map<std::int64_t, std::string> late = find_stragglers(activity);
  std::vector<SortedRow> rows;
  for (const ProcessNow& process : activity.processes) {
    const OfProcess& of = sums[process.pid];
    const auto straggler = late.find(process.pid);
    const double calls = of.calls > 0 ? of.calls : of.system_calls;
    const double in_calls = of.in_calls_ns > 0 ? of.in_calls_ns : of.in_system_ns;
    rows.push_back(
        {process.cpu.value_or(0) + in_calls / kNsPerSecond,
         std::to_string(process.pid),
         {process.pid, process.rank ? Value(*process.rank) : Value(), process.program,
          or_null(process.cpu, 100), process.memory_bytes ? Value(*process.memory_bytes) : Value(),
          percent(in_calls), activity.sampled ? Value(percent(of.waits_ns)) : Value(),
          activity.sampled ? Value(percent(of.ready_ns)) : Value(), whole(calls),
          whole(OfProcess::most(of.read)), whole(OfProcess::most(of.written)),
          of.now.empty() ? Value() : Value(of.now),
          straggler == late.end() ? Value() : Value(straggler->second)}});
  }
  put(std::move(rows), table, &ids);
  if (table.rows.empty()) table.note = "no recorded process runs now";
  return table;
}

struct FunctionTime {
  double ns = 0;
  std::int64_t total = 0;
};

Table functions(const Activity& activity, std::optional<std::int64_t> pid) {
  Table table{"Hot functions",
              {{"function"}, {"layer", kNone, 2}, {"cpu", kPercent}, {"total", kNanoseconds, 1}},
              {},
              ""};
  std::map<std::pair<std::string_view, std::string_view>, FunctionTime> sums;
  for (const analysis::TimeNow& row : activity.functions) {
    if (pid && row.pid != *pid) continue;
    FunctionTime& sum = sums[{row.what, "cpu"}];
    sum.ns += row.ns;
    sum.total += row.total_ns;
  }
  for (const CallNow& call : activity.calls) {
    if (is_call(call.layer) || (pid && call.pid != *pid)) continue;
    FunctionTime& sum = sums[{call.name, call.layer}];
    sum.ns += call.self_ns;
    sum.total += call.total_self_ns;
  }
  std::vector<SortedRow> rows;
  for (const auto& [key, sum] : sums) {
    rows.push_back({sum.ns + static_cast<double>(sum.total) / 1e12,
                    "",
                    {std::string(key.first), std::string(key.second), percent(sum.ns), sum.total}});
  }
  put(std::move(rows), table);
  if (table.rows.empty())
    table.note =
        activity.sampled ? "nothing ran yet" : "record layer cpu, python or app to see functions";
  return table;
}

Table calls(const Activity& activity, std::optional<std::int64_t> pid) {
  Table table{"Calls",
              {{"layer"},
               {"call"},
               {"calls", kCount},
               {"bytes", kBytes, 2},
               {"time", kPercent},
               {"total_calls", kCount, 3},
               {"total", kNanoseconds, 1}},
              {},
              ""};
  std::map<std::pair<std::string_view, std::string_view>, CallNow> sums;
  for (const CallNow& call : activity.calls) {
    if (!is_call(call.layer) || (pid && call.pid != *pid)) continue;
    CallNow& sum = sums[{call.layer, call.name}];
    sum.calls += call.calls;
    sum.bytes += call.bytes;
    sum.self_ns += call.self_ns;
    sum.total_calls += call.total_calls;
    sum.total_self_ns += call.total_self_ns;
  }
  std::vector<SortedRow> rows;
  for (const auto& [key, sum] : sums) {
    rows.push_back({sum.self_ns + sum.calls + static_cast<double>(sum.total_self_ns) / 1e12,
                    "",
                    {std::string(key.first), std::string(key.second), whole(sum.calls),
                     whole(sum.bytes), percent(sum.self_ns), sum.total_calls, sum.total_self_ns}});
  }
  put(std::move(rows), table);
  if (table.rows.empty()) table.note = "no call was recorded yet";
  return table;
}

Table waits(const Activity& activity, std::optional<std::int64_t> pid) {
  Table table{
      "Waits", {{"cause"}, {"wait"}, {"time", kPercent}, {"total", kNanoseconds, 1}}, {}, ""};
  std::map<std::pair<std::string_view, std::string_view>, FunctionTime> sums;
  for (const analysis::TimeNow& row : activity.waits) {
    if (pid && row.pid != *pid) continue;
    FunctionTime& sum = sums[{row.cause, row.what}];
    sum.ns += row.ns;
    sum.total += row.total_ns;
  }
  std::vector<SortedRow> rows;
  for (const auto& [key, sum] : sums) {
    rows.push_back({sum.ns + static_cast<double>(sum.total) / 1e12,
                    "",
                    {std::string(key.first), std::string(key.second), percent(sum.ns), sum.total}});
  }
  put(std::move(rows), table);
  if (table.rows.empty())
    table.note = activity.sampled ? "no wait has ended yet" : "record layer cpu to see waits";
  return table;
}

Table threads(const Activity& activity, std::int64_t pid) {
  Table table{"Threads in calls", {{"tid"}, {"call"}, {"since", kNanoseconds}}, {}, ""};
  std::vector<SortedRow> rows;
  for (const analysis::ThreadNow& thread : activity.threads) {
    if (thread.pid != pid) continue;
    rows.push_back(
        {static_cast<double>(thread.since_ns), "", {thread.tid, thread.call, thread.since_ns}});
  }
  put(std::move(rows), table);
  if (table.rows.empty()) table.note = "no thread is in a recorded call now";
  return table;
}

std::string title_of(const Activity& activity, const std::string& name) {
  std::string text = name + ": " + human_ns(static_cast<double>(activity.elapsed_ns)) + ", " +
                     counted(activity.processes.size(), "process") + ", " +
                     human_count(activity.events) + " events/s";
  if (activity.lost > 0) text += ", " + human_count(static_cast<double>(activity.lost)) + " lost";
  if (activity.left_out > 0) text += ", " + counted(activity.left_out, "thread") + " not read";
  return text;
}

Table facts_of(const Activity& activity, const std::string& name) {
  return {"Now",
          {{"recording"},
           {"elapsed", kNanoseconds},
           {"processes", kCount},
           {"ended", kCount},
           {"events", kCount},
           {"total_events", kCount},
           {"lost", kCount},
           {"left_out", kCount}},
          {{name, activity.elapsed_ns, static_cast<std::int64_t>(activity.processes.size()),
            activity.ended, whole(activity.events), activity.total_events, activity.lost,
            activity.left_out}},
          ""};
}

Page process_page(const Activity& activity, const std::string& name, std::int64_t pid) {
  Page page;
  page.title = title_of(activity, name);
  const auto process = std::ranges::find(activity.processes, pid, &ProcessNow::pid);
  const bool runs = process != activity.processes.end();
  page.head.push_back(runs ? fmt::format("process {}: {}", pid, process->command)
                           : fmt::format("process {} has ended", pid));
  if (runs) {
    const auto late = find_stragglers(activity);
    if (late.contains(pid)) page.head.push_back(late.at(pid));
  }
  page.tables = {threads(activity, pid), functions(activity, pid), calls(activity, pid),
                 waits(activity, pid)};
  return page;
}

}  // namespace

Page activity_page(const Activity& activity, const std::string& name, const std::string& inside) {
  const Result<std::int64_t> pid = parse_int(inside);
  Page page;
  if (!inside.empty() && pid) {
    page = process_page(activity, name, *pid);
  } else {
    page.title = title_of(activity, name);
    page.tables.push_back(processes(activity, page.ids));
    page.tables.push_back(functions(activity, std::nullopt));
    page.tables.push_back(calls(activity, std::nullopt));
    page.tables.push_back(waits(activity, std::nullopt));
  }
  page.facts = facts_of(activity, name);
  if (activity.writers.empty())
    page.end =
        name + " has ended; 'fathom report " + shell_quote(name) + "' shows what it recorded";
  return page;
}

}  // namespace fathom::cli::top
