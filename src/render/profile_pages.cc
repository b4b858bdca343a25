// SPDX-License-Identifier: MIT
// A profile as JSON, text, a page and a patch. The first has seconds and bytes as plain numbers;
// the others have tables, which people read.
#include "render/profile_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/files.h"
#include "base/text.h"
#include "render/cell_text.h"
#include "render/export/html_page.h"
#include "render/insight_text.h"
#include "render/json_writer.h"
#include "render/wrap.h"

namespace fathom::render {
namespace {

using analysis::ContainerRun;
using analysis::FunctionUse;
using analysis::LoopUse;
using analysis::Need;
using analysis::Profile;
using analysis::Quantities;
using enum Measure;

constexpr double kNsPerSecond = 1e9;
constexpr std::size_t kFunctionsInText = 20;
constexpr std::size_t kLoopsInText = 10;
constexpr std::size_t kRowsOfTimeInText = 10;

Value cell_of(const std::optional<double>& number) { return number ? Value(*number) : Value(); }

void put(JsonWriter& json, std::string_view key, const std::optional<double>& number) {
  json.key(key).value(cell_of(number));
}

void put_reason(JsonWriter& json, const std::string& reason) {
  if (!reason.empty()) json.key("reason").value(reason);
}

void put_needs(JsonWriter& json, const std::vector<Need>& needs) {
  json.new_line().key("needs").begin_object();
  for (const Need& need : needs) {
    json.new_line().key(need.name).begin_object();
    put(json, "typical", need.amount.typical);
    put(json, "peak", need.amount.peak);
    put_reason(json, need.amount.reason);
    json.end_object();
  }
  json.end_object();
}

void put_quantities(JsonWriter& json, std::string_view key, const Quantities& of) {
  json.key(key).begin_object();
  const auto put_one = [&](std::string_view name, const std::string& quantity) {
    json.key(name);
    quantity.empty() ? json.null() : json.value(quantity);
  };
  put_one("cpu", of.cpu);
  put_one("memory", of.memory);
  json.end_object();
}

// In seconds and bytes as plain numbers, and null with a reason where nothing was measured:
// programs compare these files.
void put_functions(JsonWriter& json, const std::vector<FunctionUse>& functions) {
  json.new_line().key("functions").begin_array();
  for (const FunctionUse& use : functions) {
    json.new_line().begin_object();
    json.key("name").value(use.name).key("calls").value(use.calls);
    json.key("total").value(use.total_s).key("self").value(use.self_s);
    put(json, "cpu_cores", use.cpu_cores);
    put(json, "memory_bytes", use.memory_bytes);
    json.key("layer").value(use.layer).key("module").value(use.module);
    put_reason(json, use.reason);
    json.end_object();
  }
  json.end_array();
}

void put_loops(JsonWriter& json, const std::vector<LoopUse>& loops) {
  json.new_line().key("loops").begin_array();
  for (const LoopUse& use : loops) {
    json.new_line().begin_object();
    json.key("file").value(use.file).key("line").value(use.line).key("kind").value(use.kind);
    json.key("function").value(use.function).key("runs").value(use.runs).key("turns");
    use.turns ? json.value(*use.turns) : json.null();
    json.key("total").value(use.total_s);
    put(json, "cpu_cores", use.cpu_cores);
    put(json, "memory_bytes", use.memory_bytes);
    put_reason(json, use.reason);
    json.end_object();
  }
  json.end_array();
}

void put_runs(JsonWriter& json, const std::vector<ContainerRun>& runs) {
  json.new_line().key("runs").begin_array();
  for (const ContainerRun& run : runs) {
    json.new_line().begin_object().key("kind").value(run.kind).key("exit").value(run.exit);
    json.key("oom").value(run.oom).key("timed_out").value(run.timed_out);
    json.key("success").value(run.success.value_or(run.exit == 0));
    json.key("wall").value(run.wall_s).key("recording");
    run.recording.empty() ? json.null() : json.value(base_name(run.recording));
    if (!run.failure.empty()) json.key("failure").value(run.failure);
    json.end_object();
  }
  json.end_array();
}

void put_rows(JsonWriter& json, std::string_view key, const Table& table) {
  json.new_line().key(key).begin_array();
  for (const auto& row : table.rows) {
    json.new_line().begin_object();
    for (std::size_t i = 0; i < row.size(); ++i) json.key(table.columns[i].name).value(row[i]);
    json.end_object();
  }
  json.end_array();
}

// "0.42 cores", "12.0 MiB/s", "1 process or thread".
std::string amount_text(const std::optional<double>& number, const Need& need) {
  if (!number) return "-";
  const bool is_plain = need.measure == kNone;
  const double shown = is_plain ? std::round(*number * 1000) / 1000 : std::round(*number);
  const bool is_whole = need.name == "pids" && shown == std::round(shown);  // "2", not "2.0"
  const Value value = need.measure == kPercent ? Value(*number)
                      : is_whole               ? Value(static_cast<std::int64_t>(shown))
                                               : Value(shown);
  const std::string text = is_plain ? plain_text(value) : human_text(value, need.measure);
  if (need.unit.empty() || need.unit.starts_with('/')) return text + need.unit;
  return text + " " + (is_whole && shown == 1 ? "process or thread" : need.unit);
}

Table titled(std::string title, std::vector<Column> columns) {
  return {.title = std::move(title), .columns = std::move(columns), .rows = {}, .note = ""};
}

bool is_known(const Need& need) { return need.amount.typical || need.amount.peak; }

// "disk read rate"
std::string words_of(const Need& need) {
  std::string name = need.name.substr(0, need.name.rfind("_bytes"));
  std::ranges::replace(name, '_', ' ');
  return name;
}

Table needs_table(const Profile& profile) {
  Table table = titled("What it needs", {{"what"}, {"typical"}, {"peak"}});
  for (const Need& need : profile.needs) {
    if (is_known(need))
      table.rows.push_back({words_of(need), amount_text(need.amount.typical, need),
                            amount_text(need.amount.peak, need)});
  }
  return table;
}

// What the columns mean, and what a number lacks: a line each.
std::vector<std::string> needs_notes(const Profile& profile) {
  std::vector<std::string> notes = {
      "typical: mean over the run; of memory and processes the median",
      "peak: highest second; of memory and processes the largest sample"};
  std::map<std::string, std::string> missing;  // names by the reason
  for (const Need& need : profile.needs) {
    const std::string name = words_of(need);
    if (!is_known(need)) {
      std::string& names = missing[need.amount.reason];
      names += (names.empty() ? "" : ", ") + name;
    } else if (!need.amount.reason.empty()) {
      notes.push_back(name + ": " + need.amount.reason);
    }
  }
  for (const auto& [reason, names] : missing)
    notes.push_back(fmt::format("not measured: {} ({})", names, reason));
  return notes;
}

Table recommend_table(const Profile& profile) {
  const auto cell = [](const std::string& text) { return text.empty() ? Value() : Value(text); };
  const auto& advice = profile.recommend;
  Table table = titled("What to ask Kubernetes for", {{"for"}, {"cpu"}, {"memory"}});
  table.rows = {{"requests", cell(advice.requests.cpu), cell(advice.requests.memory)},
                {"limits", cell(advice.limits.cpu), cell(advice.limits.memory)}};
  const auto margin = static_cast<std::int64_t>(std::round(advice.margin * 100));
  table.note = "limits are " + std::to_string(margin) + " % above the peak" +
               (advice.reason.empty() ? "" : "; " + advice.reason);
  return table;
}

// What took less than a thousandth of the longest is of no help on a screen.
Table functions_table(const Profile& profile, std::size_t most, bool leaves_out_small) {
  constexpr double kSmallShare = 0.001;
  const double longest = profile.functions.empty() ? 0 : profile.functions.front().self_s;
  Table table = titled("Functions", {{"name"},
                                     {"calls", kCount},
                                     {"self", kNanoseconds},
                                     {"total", kNanoseconds},
                                     {"cores"},
                                     {"memory", kBytes},
                                     {"module", kNone, 1}});
  for (const FunctionUse& use : profile.functions) {
    if (table.rows.size() == most) break;
    if (leaves_out_small && use.self_s < kSmallShare * longest) continue;
    const auto cores = use.cpu_cores ? Value(std::round(*use.cpu_cores * 100) / 100) : Value();
    const auto memory = use.memory_bytes ? Value(std::round(*use.memory_bytes)) : Value();
    table.rows.push_back({use.name, use.calls, use.self_s * kNsPerSecond,
                          use.total_s * kNsPerSecond, cores, memory, use.module});
  }
  const std::size_t left = profile.functions.size() - table.rows.size();
  table.note =
      profile.functions.empty()
          ? "no function was recorded. Recorded are Python functions, annotated regions, and "
            "code built with -finstrument-functions"
          : "self: excludes nested functions; cores, memory: used by the application "
            "while the function ran";
  if (left > 0) table.note += "; " + std::to_string(left) + " more in profile.json";
  return table;
}

Table first_rows(Table table, std::size_t most) {
  if (table.rows.size() <= most) return table;
  table.note += (table.note.empty() ? "" : "; ") + std::to_string(table.rows.size() - most) +
                " more in profile.json";
  table.rows.resize(most);
  return table;
}

Table loops_table(const Profile& profile, std::size_t most) {
  Table table = titled("Loops", {{"file"},
                                 {"line"},
                                 {"kind"},
                                 {"function"},
                                 {"runs", kCount},
                                 {"turns", kCount},
                                 {"total", kNanoseconds},
                                 {"cores"},
                                 {"memory", kBytes}});
  for (const LoopUse& use : profile.loops) {
    if (table.rows.size() == most) break;
    const auto cores = use.cpu_cores ? Value(std::round(*use.cpu_cores * 100) / 100) : Value();
    const auto memory = use.memory_bytes ? Value(std::round(*use.memory_bytes)) : Value();
    table.rows.push_back({use.file, use.line, use.kind, use.function, use.runs,
                          use.turns ? Value(*use.turns) : Value(), use.total_s * kNsPerSecond,
                          cores, memory});
  }
  const std::size_t left = profile.loops.size() - table.rows.size();
  if (left > 0) table.note = std::to_string(left) + " more in profile.json";
  return table;
}

Table runs_table(const Profile& profile) {
  Table table = titled("Runs", {{"run"}, {"kind"}, {"status"}, {"wall", kNanoseconds}, {"ended"}});
  std::int64_t number = 0;
  for (const ContainerRun& run : profile.runs) {
    const char* const ended = run.oom                ? "out of memory"
                              : !run.failure.empty() ? "failed its check"
                              : run.timed_out        ? "its time was over"
                                                     : "";
    table.rows.push_back({++number, run.kind, std::int64_t{run.exit}, run.wall_s * kNsPerSecond,
                          std::string(ended)});
  }
  return table;
}

std::string overhead_words(const Profile& profile) {
  const auto& overhead = profile.overhead;
  if (!overhead.ratio) return "The overhead of probing is not known: " + overhead.reason + ".";
  const auto percent = [](double ratio) {
    return plain_text(Value(std::round((ratio - 1) * 1000) / 10)) + " %";
  };
  std::string words = "Overhead: the probed run took " +
                      percent(std::abs(*overhead.ratio - 1) + 1) +
                      (*overhead.ratio < 1 ? " less" : " longer") + " than the plain one";
  if (overhead.low && overhead.high)
    words += " (95 % interval: " + percent(*overhead.low) + " to " + percent(*overhead.high) + ")";
  if (!overhead.low) words += "; one run of each does not tell how sure that is ('repetitions')";
  return words + ".";
}

std::vector<std::string> all_words(const Profile& profile) {
  std::vector<std::string> words = profile.words;
  words.push_back(overhead_words(profile));
  for (const analysis::Insight& insight : profile.insights)
    words.push_back(insight.title + ": " + insight.says + ". " + insight.advice);
  return words;
}

std::string yaml_block(std::string_view name, const Quantities& of) {
  std::string out = "          " + std::string(name) + ":\n";
  if (!of.cpu.empty()) out += "            cpu: " + of.cpu + "\n";
  if (!of.memory.empty()) out += "            memory: " + of.memory + "\n";
  return out;
}

constexpr char kUsualContainer[] = "app";

// What can be copied into a command line, too.
bool is_kubernetes_name(std::string_view name) {
  return !name.empty() && name.front() != '-' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

}  // namespace

std::string profile_json(const Profile& profile) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("schema").value(1).key("title").value(profile.title);
  for (const auto& [key, value] : profile.extra) json.new_line().key(key).value(value);
  put_needs(json, profile.needs);
  json.new_line().key("recommend").begin_object();
  put_quantities(json, "requests", profile.recommend.requests);
  put_quantities(json, "limits", profile.recommend.limits);
  json.key("margin").value(profile.recommend.margin);
  put_reason(json, profile.recommend.reason);
  json.end_object();
  put_functions(json, profile.functions);
  put_loops(json, profile.loops);
  json.new_line().key("overhead").begin_object();
  put(json, "ratio", profile.overhead.ratio);
  put(json, "low", profile.overhead.low);
  put(json, "high", profile.overhead.high);
  put_reason(json, profile.overhead.reason);
  json.end_object();
  put_runs(json, profile.runs);
  json.new_line().key("words").begin_array();
  for (const std::string& sentence : profile.words) json.new_line().value(sentence);
  json.end_array();
  put_rows(json, "time", profile.time);
  put_rows(json, "phases", profile.phases);
  put_rows(json, "hot", profile.hot);
  put_rows(json, "insights", insight_table(profile.insights));
  json.new_line().end_object();
  return out + "\n";
}

std::string profile_text(const Profile& profile, const Style& style) {
  std::string out = sentence_text(profile.title, Format::kTable) + "\n";
  for (const std::string& sentence : profile.words)
    out += sentence_text(sentence, Format::kTable) + "\n";
  out += overhead_words(profile) + "\n\n";
  const Table needs[] = {needs_table(profile)};
  out += render_document(needs, Format::kTable, style);
  for (const std::string& note : needs_notes(profile))
    out += sentence_text(note, Format::kTable) + "\n";
  out += "\n";
  std::vector<Table> tables = {recommend_table(profile)};
  if (!profile.loops.empty()) tables.push_back(loops_table(profile, kLoopsInText));
  for (const Table* table : {&profile.time, &profile.phases}) {
    if (!table->rows.empty()) tables.push_back(first_rows(*table, kRowsOfTimeInText));
  }
  out += render_document(tables, Format::kTable, style);
  out += insight_text(profile.insights, Format::kTable, style);
  const bool by_samples = profile.functions.empty() && !profile.hot.rows.empty();
  const Table last[] = {by_samples ? first_rows(profile.hot, kFunctionsInText)
                                   : functions_table(profile, kFunctionsInText, true)};
  return out + (out.ends_with("\n\n") ? "" : "\n") + render_document(last, Format::kTable, style);
}

std::string profile_html(const Profile& profile) {
  using Shape = PageSection::Shape;
  const auto wall_ns = static_cast<std::int64_t>(profile.wall_s * kNsPerSecond);
  std::string out = page_begin(profile.title) + page_words(all_words(profile));
  const auto add = [&](Table table, Shape shape = Shape::kTable,
                       std::vector<std::string> notes = {}) {
    out += page_section({std::move(table), shape, std::move(notes)}, wall_ns);
  };
  add(needs_table(profile), Shape::kTable, needs_notes(profile));
  add(recommend_table(profile));
  add(functions_table(profile, profile.functions.size(), false));
  if (!profile.hot.rows.empty()) add(profile.hot);
  if (!profile.loops.empty()) add(loops_table(profile, profile.loops.size()));
  for (const Table& curve : profile.curves) add(curve, Shape::kSeries);
  if (!profile.time.rows.empty()) add(profile.time, Shape::kSplit);
  if (!profile.phases.rows.empty()) add(profile.phases);
  add(runs_table(profile));
  return out + page_facts(profile.facts) + page_end();
}

std::string profile_patch(const Profile& profile, const std::string& name) {
  std::string quoted;
  append_json_text(quoted, name.empty() ? kUsualContainer : name);
  return "# kubectl patch deployment " + (is_kubernetes_name(name) ? name : "NAME") +
         " --patch-file THIS\n"
         "spec:\n  template:\n    spec:\n      containers:\n      - name: \"" +
         quoted + "\"\n        resources:\n" + yaml_block("requests", profile.recommend.requests) +
         yaml_block("limits", profile.recommend.limits);
}

}  // namespace fathom::render
