// SPDX-License-Identifier: MIT
// The second pass. What has a column of ours leaves the arguments; everything else stays there, so
// that nothing of the foreign trace is lost.
#include "analysis/import/pfw_rows.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/contract.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {
namespace {

using trace::kNoString;
using trace::kNull;
using trace::kNull32;

// Bookkeeping of the tracer that columns of ours say better.
constexpr std::string_view kDropped[] = {"hhash", "hostname", "p_idx", "level"};

bool is_one_of(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

std::int32_t id_of(const std::optional<std::int64_t>& id) {
  return id && *id >= 0 ? static_cast<std::int32_t>(*id) : kNull32;
}

// DataCrumbs names the level of the kernel, DFTracer's service what it samples.
// Names of layers in other tools' files that are ours under another name.
std::string_view interval_layer(const PfwLine& line) {
  static constexpr std::string_view kFileSystems[] = {"ext4", "xfs",    "btrfs",
                                                      "nfs",  "lustre", "fuse"};
  if (line.category == "POSIX") return "posix";
  if (line.category == "STDIO") return "stdio";
  if (line.category == "sys") return "syscall";
  if (is_one_of(line.category, kFileSystems)) return "fs";
  const auto layers = layer_names();
  const auto found = std::ranges::find(layers, line.category);
  return found == layers.end() ? "app" : *found;
}

std::string_view counter_layer(const PfwLine& line) {
  static constexpr std::string_view kResources[] = {"sys", "mem", "cpu",  "io",
                                                    "net", "nic", "power"};
  if (is_one_of(line.category, kResources)) return "resource";
  const auto layers = layer_names();
  const auto found = std::ranges::find(layers, line.category);
  return found == layers.end() ? "app" : *found;
}

std::optional<std::int64_t> arg_number(const PfwLine& line, std::string_view key) {
  const PfwArg* const arg = line.find(key);
  return arg == nullptr ? std::nullopt : number_of(arg->text);
}

std::int64_t first_number(const PfwLine& line, std::initializer_list<std::string_view> keys,
                          std::int64_t otherwise) {
  for (const std::string_view key : keys) {
    if (const auto value = arg_number(line, key)) return *value;
  }
  return otherwise;
}

// dur_sum and its like are in the file's unit; DataCrumbs' `time` is in seconds and its `duration`
// in ns.
std::int64_t interval_dur(const PfwLine& line, PfwUnit unit) {
  const PfwArg* const sum = line.find("dur_sum");
  if (sum != nullptr) return scaled(sum->text, unit.ns).value_or(0);
  const PfwArg* const time = line.find("time");
  if (time == nullptr) return first_number(line, {"duration"}, 0);
  const double ns = real_of(time->text).value_or(0) * 1e9;
  return ns > 0 && ns < 9e18 ? static_cast<std::int64_t>(std::llround(ns)) : 0;
}

std::int64_t scaled_or_null(const PfwLine& line, std::string_view key, PfwUnit unit) {
  const PfwArg* const arg = line.find(key);
  return arg == nullptr ? kNull : scaled(arg->text, unit.ns).value_or(kNull);
}

std::int64_t start_of(const PfwSpan& span, std::int64_t base) {
  return span.known() ? span.start - base : kNull;
}
std::int64_t end_of(const PfwSpan& span, std::int64_t base) {
  return span.known() ? span.end - base : kNull;
}

}  // namespace

// A call of libc or of another layer below the app, while its arguments are sorted out.
struct PfwRows::Call {
  trace::EventRow* row;
  bool is_call = false;  // not a region of the app: sizes and results have columns
  CallName name;
  std::optional<std::int64_t> size = {};
  std::optional<std::int64_t> count = {};
  bool file_known = true;
};

PfwRows::PfwRows(PfwFacts& facts, trace::Strings& strings)
    : facts_(&facts), strings_(&strings), main_host_(facts.host_name(facts.main_host)) {}

PfwRows::Origin PfwRows::origin_of(const PfwLine& line, std::int64_t ts) {
  const std::string_view host = facts_->host_name(host_of(line));
  const bool elsewhere = !host.empty() && host != main_host_;
  return {.ts = ts - facts_->span.start,
          .pid = id_of(line.pid),
          .tid = id_of(line.tid),
          .host = elsewhere ? strings_->code(host) : kNoString};
}

// Must meet the same lines as PfwFacts::add() did, in the same order: depths are taken one by one.
void PfwRows::add(const PfwLine& line, PfwUnit unit, PfwBatches& out) {
  if (line.kind == PfwKind::kMetadata || line.kind == PfwKind::kOther) return;
  const std::optional<PfwTimes> times = times_of(line, unit);
  if (!times) return;
  if (line.kind == PfwKind::kComplete) {
    add_event(line, *times, out.events);
  } else if (is_interval(line)) {
    add_interval(line, *times, unit, out.intervals);
  } else {
    add_counters(line, *times, out.counters);
  }
}

void PfwRows::add_event(const PfwLine& line, const PfwTimes& times, trace::EventBatch& out) {
  const Origin origin = origin_of(line, times.ts);
  const std::string_view layer = event_layer(line);
  const PfwProcess& process = facts_->process(host_of(line), line.pid.value_or(-1));
  trace::EventRow row{
      .ts = origin.ts, .dur = times.dur, .pid = origin.pid, .tid = origin.tid, .host = origin.host};
  row.depth = facts_->thread(line).nesting.next();
  if (process.rank) row.rank = static_cast<std::int32_t>(*process.rank);
  row.layer = strings_->code(layer);
  Call call{.row = &row,
            .is_call = layer != "app",
            .name = {.plain = line.name, .category = line.category}};
  if (trace::is_io(layer)) call.name = call_name(layer, line.name);
  row.name = strings_->code(call.name.plain);
  row.category = strings_->code_or_null(call.name.category);
  if (call.name.plain != line.name) row.entry = strings_->code(line.name);
  for (const PfwArg& arg : line.args) {
    if (!take(arg, call)) out.args.add(strings_->code(arg.key), arg.text);
  }
  finish_call(call, row);
  if (!call.file_known) ++unknown_files_;
  out.push(row);
}

std::uint32_t PfwRows::file_of(const PfwArg& arg, bool& known) {
  if (arg.key == "fname") return strings_->code_or_null(arg.text);
  const std::string* const name = facts_->file_name(arg.text);
  known = name != nullptr;
  return known ? strings_->code_or_null(*name) : kNoString;
}

// Whether the argument has found its column; if not, it stays an argument.
bool PfwRows::take(const PfwArg& arg, Call& call) {
  if (is_one_of(arg.key, kDropped)) return true;
  if (arg.key == "fhash" || arg.key == "fname") {
    call.row->file = file_of(arg, call.file_known);
    return call.file_known;
  }
  return call.is_call && take_call_field(arg, call);
}

bool PfwRows::take_call_field(const PfwArg& arg, Call& call) {
  trace::EventRow& row = *call.row;
  if (arg.key == "error") {
    row.error = strings_->code_or_null(arg.text);
    return true;
  }
  if (arg.key == "category") {
    row.category = strings_->code_or_null(arg.text);
    return true;
  }
  if (arg.key == "layer") return true;  // event_layer() took it
  const std::optional<std::int64_t> value = number_of(arg.text);
  if (!value) return false;
  if (arg.key == "ret") {
    row.ret = *value;
  } else if (arg.key == "fd" && *value >= -1 && *value < INT32_MAX) {
    row.fd = static_cast<std::int32_t>(*value);
  } else if (arg.key == "offset" &&
             call.name.category != "seek") {  // where lseek goes is no position before it
    row.offset = *value;
  } else if (arg.key == "size") {
    call.size = *value;
  } else if (arg.key == "count") {
    call.count = *value;
  } else if (arg.key == "bytes" || arg.key == "size_sum") {
    row.bytes = *value;
  } else {
    return false;
  }
  return true;
}

void PfwRows::finish_call(const Call& call, trace::EventRow& row) const {
  const std::int64_t item = call.name.result == CallResult::kItems ? call.size.value_or(1) : 1;
  if (call.size || call.count) {
    row.size = call.count ? *call.count : *call.size;
    std::int64_t product = 0;
    const bool both = call.size && call.count;
    if (both && !__builtin_mul_overflow(*call.size, *call.count, &product)) row.size = product;
  }
  std::int64_t moved = 0;
  if (row.bytes != kNull || call.name.result == CallResult::kOther || row.ret == kNull ||
      row.ret < 0)
    return;
  if (!__builtin_mul_overflow(row.ret, item, &moved)) row.bytes = moved;
}

void PfwRows::add_counters(const PfwLine& line, const PfwTimes& times, trace::CounterBatch& out) {
  const Origin origin = origin_of(line, times.ts);
  const std::string_view layer = counter_layer(line);
  const PfwArg* const unit = line.find("unit");
  for (const PfwArg& arg : line.args) {
    const std::optional<double> value = real_of(arg.text);
    if (!value || is_one_of(arg.key, kDropped)) continue;
    trace::CounterRow row{.ts = origin.ts,
                          .pid = origin.pid,
                          .tid = origin.tid,
                          .host = origin.host,
                          .value = *value};
    row.layer = strings_->code(layer);
    const std::string name(line.name);
    row.name = strings_->code(arg.key == "value" ? name : name + "." + std::string(arg.key));
    if (unit != nullptr) row.unit = strings_->code_or_null(unit->text);
    if (arg.key.ends_with("_pct")) row.unit = strings_->code("%");
    if (arg.key.ends_with("_bytes")) row.unit = strings_->code("bytes");
    out.rows.push_back(row);
  }
}

void PfwRows::add_interval(const PfwLine& line, const PfwTimes& times, PfwUnit unit,
                           trace::IntervalBatch& out) {
  const Origin origin = origin_of(line, times.ts);
  const std::string_view layer = interval_layer(line);
  trace::IntervalRow row;
  row.ts = origin.ts;
  row.pid = origin.pid;
  row.tid = origin.tid;
  row.host = origin.host;
  const bool libc = trace::is_io(layer);
  const CallName name =
      libc ? call_name(layer, line.name) : CallName{.plain = line.name, .category = line.category};
  row.width = facts_->interval_ns;
  row.layer = strings_->code(layer);
  row.name = strings_->code(name.plain);
  row.calls = first_number(line, {"dft_cnt", "freq", "frequency", "count"}, 0);
  row.errors = first_number(line, {"errors"}, 0);
  row.dur = interval_dur(line, unit);
  row.dur_min = scaled_or_null(line, "dur_min", unit);
  row.dur_max = scaled_or_null(line, "dur_max", unit);
  row.bytes = first_number(line, {"size_sum", "size"}, kNull);
  if (row.bytes == kNull && name.result == CallResult::kBytes)
    row.bytes = first_number(line, {"ret_sum"}, kNull);
  for (const PfwArg& arg : line.args) {
    bool known = true;
    if (arg.key == "fhash" || arg.key == "fname") row.file = file_of(arg, known);
    if (!known) ++unknown_files_;
  }
  out.rows.push_back(std::move(row));
}

std::vector<trace::ProcessRow> PfwRows::processes() const {
  std::vector<trace::ProcessRow> rows;
  for (const auto& [key, process] : facts_->processes) {
    if (key.second < 0) continue;
    trace::ProcessRow row;
    row.host = facts_->host_name(key.first);
    row.pid = key.second;
    if (row.host.empty()) row.host = main_host_;
    row.ppid = process.ppid.value_or(kNull);
    row.name = process.name;
    row.command = process.command;
    row.start = start_of(process.span, facts_->span.start);
    row.end = end_of(process.span, facts_->span.start);
    row.rank = process.rank.value_or(kNull);
    row.meta = process.meta;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<trace::ThreadRow> PfwRows::threads() const {
  std::vector<trace::ThreadRow> rows;
  for (const auto& [key, process] : facts_->processes) {
    for (const auto& [tid, thread] : process.threads) {
      if (key.second < 0 || tid < 0) continue;
      trace::ThreadRow row;
      row.host = facts_->host_name(key.first);
      row.pid = key.second;
      row.tid = tid;
      if (row.host.empty()) row.host = main_host_;
      row.name = thread.name;
      row.start = start_of(thread.span, facts_->span.start);
      row.end = end_of(thread.span, facts_->span.start);
      row.rank = process.rank.value_or(kNull);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace fathom::analysis
