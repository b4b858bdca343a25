// SPDX-License-Identifier: MIT
// Two passes over the files: depths and process names are only known at the end, and rows must not
// be kept in memory until then.
#include "analysis/import/chrome_rows.h"

#include <algorithm>
#include <optional>

#include "analysis/import/pfw_line.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {
namespace {

using trace::kNull32;

std::int32_t id_of(std::int64_t id) { return id < 0 ? kNull32 : static_cast<std::int32_t>(id); }

std::pair<std::string, std::string> thread_of(const ChromeSpan& span) {
  return {span.pid < 0 ? std::string(span.pid_text) : std::to_string(span.pid),
          span.tid < 0 ? std::string(span.tid_text) : std::to_string(span.tid)};
}

// Work of a device is done beside its stream's other work, and what stands for a thread in the file
// is a stream.
bool is_on_device(std::string_view layer) { return trace::is_device(layer); }

bool nests(const ChromeSpan& span, std::string_view layer) {
  return span.on_thread && !is_on_device(layer);
}

std::int64_t thread_number(const ChromeSpan& span, std::string_view layer) {
  return is_on_device(layer) ? -1 : span.tid;
}

template <class T>
bool set_number(std::string_view text, T& place) {
  const std::optional<std::int64_t> number = number_of(text);
  if (!number || *number < std::numeric_limits<T>::min() || *number > std::numeric_limits<T>::max())
    return false;
  place = static_cast<T>(*number);
  return true;
}

}  // namespace

void ChromeFacts::widen(std::int64_t pid, std::int64_t tid, std::int64_t from, std::int64_t to) {
  ++rows_;
  start_ = std::min(start_, from);
  end_ = std::max(end_, to);
  const auto touch = [&](Life& life) {
    life.start = std::min(life.start, from);
    life.end = std::max(life.end, to);
  };
  if (pid >= 0) touch(processes_[pid]);
  if (pid >= 0 && tid >= 0) touch(threads_[{pid, tid}]);
}

void ChromeFacts::add(const ChromeSpan& span) {
  const std::string_view layer = place_of(span.category).layer;
  widen(span.pid, thread_number(span, layer), span.ts, span.ts + span.dur);
  if (is_on_device(layer)) streams_.insert({span.pid, span.tid});
  const bool outer = trace::is_code(layer);
  const NestingRank inner = layer == "stdio" ? NestingRank::kStdio : NestingRank::kPosix;
  if (nests(span, layer))
    nestings_[thread_of(span)].add(span.ts, span.dur, outer ? NestingRank::kApp : inner);
}

void ChromeFacts::add_counter(const ChromeEvent& event) {
  widen(event.pid.value_or(-1), -1, *event.ts, *event.ts);
}

void ChromeFacts::add_name(const ChromeEvent& event) {
  const std::string name(event.arg("name"));
  if (!event.pid || name.empty()) return;
  if (event.name == "process_name") processes_[*event.pid].name = name;
  if (event.name == "thread_name" && event.tid) threads_[{*event.pid, *event.tid}].name = name;
}

void ChromeFacts::finish() {
  for (auto& [thread, nesting] : nestings_) nesting.finish();
}

std::int32_t ChromeFacts::next_depth(const ChromeSpan& span) {
  if (!nests(span, place_of(span.category).layer)) return kNull32;
  return nestings_[thread_of(span)].next();
}

template <class Row>
void ChromeFacts::set_life(const Life& life, Row& row) const {
  row.name = life.name;
  if (life.start > life.end) return;
  row.start = life.start - start_;
  row.end = life.end - start_;
}

std::vector<trace::ProcessRow> ChromeFacts::processes() const {
  std::vector<trace::ProcessRow> rows;
  for (const auto& [pid, life] : processes_) {
    trace::ProcessRow& row = rows.emplace_back();
    row.pid = pid;
    set_life(life, row);
  }
  return rows;
}

std::vector<trace::ThreadRow> ChromeFacts::threads() const {
  std::vector<trace::ThreadRow> rows;
  for (const auto& [thread, life] : threads_) {
    const bool is_stream = life.start > life.end && streams_.contains(thread);
    if (is_stream) continue;
    trace::ThreadRow& row = rows.emplace_back();
    row.pid = thread.first;
    row.tid = thread.second;
    set_life(life, row);
  }
  return rows;
}

// Whether the argument has found its column; if not, it stays an argument.
bool ChromeRows::take(const std::string& key, const std::string& text, trace::EventRow& row) {
  if (key == "correlation") return set_number(text, row.correlation);
  if (key == "device") return set_number(text, row.device);
  if (key == "stream") return set_number(text, row.stream);
  if (key == "fd") return set_number(text, row.fd);
  if (key == "offset") return set_number(text, row.offset);
  if (key == "size") return set_number(text, row.size);
  if (key == "bytes") return set_number(text, row.bytes);
  if (key == "ret") return set_number(text, row.ret);
  if (key == "file") row.file = strings_->code_or_null(text);
  if (key == "error") row.error = strings_->code_or_null(text);
  return key == "file" || key == "error";
}

void ChromeRows::add(const ChromeSpan& span, trace::EventBatch& out) {
  const ChromePlace place = place_of(span.category);
  trace::EventRow row;
  row.ts = span.ts - facts_->start();
  row.dur = span.dur;
  row.pid = id_of(span.pid);
  row.tid = id_of(thread_number(span, place.layer));
  row.depth = facts_->next_depth(span);
  row.layer = strings_->code(place.layer);
  row.name = strings_->code(span.name);
  row.category = strings_->code_or_null(place.category);
  // Arguments of the program's own functions are its own words, whatever they are called.
  const bool call = !trace::is_code(place.layer);
  for (const auto& [key, text] : span.args) {
    if (!call || !take(key, text, row)) out.args.add(strings_->code(key), text);
  }
  const std::pair<const char*, std::string_view> names[] = {
      {"pid", span.pid < 0 ? span.pid_text : ""},
      {"tid", span.tid < 0 ? span.tid_text : ""},
      {"id", span.id}};
  for (const auto& [key, text] : names) {
    if (!text.empty()) out.args.add(strings_->code(key), text);
  }
  out.push(row);
}

void ChromeRows::add_counter(const ChromeEvent& event, trace::CounterBatch& out) {
  const ChromePlace place = place_of(event.category);
  const bool single = event.args.size() == 1;
  for (const ChromeArg& arg : event.args) {
    const std::optional<double> value = real_of(arg.text);
    if (!value) continue;
    trace::CounterRow row;
    row.ts = *event.ts - facts_->start();
    row.pid = id_of(event.pid.value_or(-1));
    row.layer = strings_->code(place.layer);
    row.value = *value;
    const std::string name(event.name);
    row.name = strings_->code(single ? name : name + "." + std::string(arg.key));
    const bool is_unit = single && arg.key != "value" && arg.key != event.name;
    if (is_unit) row.unit = strings_->code(arg.key);
    out.rows.push_back(row);
  }
}

}  // namespace fathom::analysis
