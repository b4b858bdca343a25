// SPDX-License-Identifier: MIT
// The first pass over .pfw files. Hashes may be defined after their use or in another process's
// file, so all names are gathered before a row is made.
#include "analysis/import/pfw_facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

#include "analysis/contract.h"
#include "base/files.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {
namespace {

// A time since 1970 that is larger than this many units of microseconds is in nanoseconds
// (DataCrumbs).
constexpr std::int64_t kSurelyNanoseconds = 100'000'000'000'000'000;
constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();

NestingRank rank_of(std::string_view layer) {
  if (layer == "stdio") return NestingRank::kStdio;
  return trace::is_code(layer) ? NestingRank::kApp : NestingRank::kPosix;
}

bool valid_id(const std::optional<std::int64_t>& id) {
  return !id || (*id >= -1 && *id <= kInt32Max);
}

std::string joined_command(std::string_view command) {
  std::string text(command);
  std::ranges::replace(text, ';', ' ');  // DFTracer's separator of arguments
  return text;
}

}  // namespace

void PfwUnit::learn(const PfwLine& line) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kUnits = {
      {{"NS", 1}, {"US", 1000}, {"MS", 1'000'000}, {"S", 1'000'000'000}}};
  if (line.kind != PfwKind::kMetadata || line.name != "CM") return;
  const PfwArg* const name = line.find("name");
  const PfwArg* const value = line.find("value");
  if (name == nullptr || value == nullptr || name->text != "time_metric") return;
  for (const auto& [text, factor] : kUnits) {
    if (value->text == text) ns = factor;
  }
}

// Microseconds since 1970 with a fraction have more digits than a double holds.
std::optional<std::int64_t> scaled(std::string_view text, std::int64_t factor) {
  std::int64_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, whole);
  if (failure != std::errc() || whole < 0) return {};
  if (at != end && *at != '.') {  // an exponent
    const std::optional<double> real = real_of(text);
    return real ? number_of(std::to_string(*real * static_cast<double>(factor))) : std::nullopt;
  }
  if (whole > kInt64Max / factor - 1) return {};
  std::int64_t value = whole * factor;
  std::int64_t digit = factor;
  for (const char* p = at == end ? end : at + 1; p != end; ++p) {
    if (*p < '0' || *p > '9') return {};
    digit /= 10;
    value += digit * (*p - '0');
  }
  return value;
}

std::optional<PfwTimes> times_of(const PfwLine& line, PfwUnit unit) {
  if (line.name.empty() || line.ts.empty() || !valid_id(line.pid) || !valid_id(line.tid)) return {};
  if (const auto raw = number_of(line.ts); raw && *raw >= kSurelyNanoseconds) unit.ns = 1;
  const std::optional<std::int64_t> ts = scaled(line.ts, unit.ns);
  const std::optional<std::int64_t> dur = line.dur.empty() ? 0 : scaled(line.dur, unit.ns);
  if (!ts || !dur || *dur > kInt64Max - *ts) return {};
  return PfwTimes{.ts = *ts, .dur = *dur};
}

void PfwSpan::widen(std::int64_t from, std::int64_t to) {
  start = std::min(start, from);
  end = std::max(end, to);
}

std::string_view host_of(const PfwLine& line) {
  for (const std::string_view key : {"hhash", "hostname"}) {
    if (const PfwArg* arg = line.find(key)) return arg->text;
  }
  return {};
}

bool is_interval(const PfwLine& line) {
  const auto has = [&](std::string_view key) { return line.find(key) != nullptr; };
  return has("dft_cnt") || has("dur_sum") || has("freq") || has("frequency") ||
         (has("count") && has("time"));
}

std::string_view event_layer(const PfwLine& line) {
  if (line.category == "POSIX") return "posix";
  if (line.category == "STDIO") return "stdio";
  const PfwArg* const said = line.find("layer");
  if (said == nullptr || said->text != line.category) return "app";
  const auto layers = layer_names();
  const auto found = std::ranges::find(layers, said->text);
  return found == layers.end() ? "app" : *found;
}

// Files are written process by process: the last one is nearly always meant again.
PfwProcess& PfwFacts::process(std::string_view host, std::int64_t pid) {
  if (last_process_ == nullptr || last_key_.second != pid || last_key_.first != host) {
    last_key_ = {std::string(host), pid};
    last_process_ = &processes[last_key_];
  }
  return *last_process_;
}

PfwThread& PfwFacts::thread(const PfwLine& line) {
  return process(host_of(line), line.pid.value_or(-1)).threads[line.tid.value_or(-1)];
}

bool PfwFacts::add(const PfwLine& line, PfwUnit unit) {
  if (line.kind == PfwKind::kMetadata) {
    add_metadata(line);
    return true;
  }
  const std::optional<PfwTimes> times = times_of(line, unit);
  if (!times || line.kind == PfwKind::kOther) return false;
  const std::int64_t end = times->ts + times->dur;
  if (main_host.empty()) main_host = host_of(line);
  ++rows;
  span.widen(times->ts, end);
  PfwProcess& of = process(host_of(line), line.pid.value_or(-1));
  PfwThread& thread = of.threads[line.tid.value_or(-1)];
  of.span.widen(times->ts, end);
  thread.span.widen(times->ts, end);
  if (line.kind == PfwKind::kComplete) {
    thread.nesting.add(times->ts, times->dur, rank_of(event_layer(line)));
    if (line.category == "dftracer" && line.name == "start") add_start(line);
  } else if (is_interval(line)) {
    add_interval(times->ts);
  }
  return true;
}

void PfwFacts::add_metadata(const PfwLine& line) {
  const PfwArg* const name = line.find("name");
  const PfwArg* const value = line.find("value");
  if (name == nullptr) return;
  if (line.name == "thread_name") {
    if (name->text != std::to_string(line.tid.value_or(-1))) thread(line).name = name->text;
  } else if (line.name == "process_name") {
    process(host_of(line), line.pid.value_or(-1)).name = name->text;
  } else if (value == nullptr) {
    return;
  } else if (line.name == "FH" || line.name == "SH") {
    names_.insert_or_assign(std::string(value->text), std::string(name->text));
  } else if (line.name == "HH") {
    hosts_.insert_or_assign(std::string(value->text), std::string(name->text));
  } else if (line.name == "PR" || line.name == "CM") {
    add_process_fact(line, name->text, value->text);
  }
}

void PfwFacts::add_process_fact(const PfwLine& line, std::string_view name,
                                std::string_view value) {
  PfwProcess& of = process(host_of(line), line.pid.value_or(-1));
  if (name == "rank") {
    of.rank = number_of(value);
  } else if (name == "ppid") {
    of.ppid = number_of(value);
  } else if (name == "command") {
    of.command = value;
    of.command_by_start = false;
  } else {
    of.meta.emplace_back(name, value);
  }
}

// Texts may be hashes whose names come later: finish() looks them up.
void PfwFacts::add_start(const PfwLine& line) {
  PfwProcess& of = process(host_of(line), line.pid.value_or(-1));
  for (const PfwArg& arg : line.args) {
    if (arg.key == "ppid") of.ppid = number_of(arg.text);
    if (arg.key == "cmd_hash" || arg.key == "cmd") {
      of.command = arg.text;
      of.command_by_start = true;
    }
    if ((arg.key == "exec_hash" || arg.key == "exec") && of.name.empty()) of.name = arg.text;
  }
}

// Intervals begin at multiples of their width: the greatest number that divides all distances.
void PfwFacts::add_interval(std::int64_t ts) {
  if (last_interval_ && *last_interval_ != ts)
    interval_ns = std::gcd(interval_ns, ts - *last_interval_);
  last_interval_ = ts;
}

void PfwFacts::finish() {
  constexpr std::int64_t kDefaultInterval = 1'000'000'000;  // DFTracer's
  if (interval_ns == 0) interval_ns = kDefaultInterval;
  for (auto& [key, of] : processes) {
    of.name = std::string(base_name(text_of(of.name)));
    if (of.command_by_start) of.command = joined_command(text_of(of.command));
    for (auto& [tid, thread] : of.threads) thread.nesting.finish();
  }
}

const std::string* PfwFacts::file_name(std::string_view hash) const {
  const auto found = names_.find(hash);
  return found == names_.end() ? nullptr : &found->second;
}

std::string_view PfwFacts::text_of(std::string_view hash) const {
  const std::string* const name = file_name(hash);
  return name == nullptr ? hash : std::string_view(*name);
}

std::string_view PfwFacts::host_name(std::string_view given) const {
  const auto found = hosts_.find(given);
  return found == hosts_.end() ? given : std::string_view(found->second);
}

}  // namespace fathom::analysis
