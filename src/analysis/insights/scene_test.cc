// SPDX-License-Identifier: MIT
#include "analysis/insights/scene_test.h"

#include <tuple>

#include "base/text.h"

namespace fathom::analysis::testing {
namespace {

using trace::EventRow;

std::int64_t or_null(std::int64_t value) { return value == kNothing ? trace::kNull : value; }

EventRow first_row(const Calls& calls, std::int64_t ts, trace::Strings& strings) {
  EventRow row;
  row.ts = ts;
  row.dur = calls.dur;
  row.pid = row.tid = calls.pid;
  row.depth = 0;
  row.layer = strings.code(calls.layer);
  row.name = strings.code(calls.name);
  row.category = strings.code(calls.category);
  row.file = calls.file.empty() ? trace::kNoString : strings.code(calls.file);
  row.size = row.bytes = row.ret = or_null(calls.bytes);
  row.offset = or_null(calls.offset);
  if (calls.failed) {
    row.ret = -1;
    row.error = strings.code(calls.error);
  }
  return row;
}

void push(const Calls& calls, std::int64_t ts, trace::Strings& strings, trace::EventBatch& events) {
  EventRow row = first_row(calls, ts, strings);
  const std::int64_t step = calls.step == kNothing ? calls.bytes : calls.step;
  for (std::int64_t i = 0; i < calls.count; ++i) {
    if (!calls.peer.empty()) events.args.add(strings.code("peer"), calls.peer);
    events.push(row);
    row.ts += calls.dur;
    if (calls.offset != kNothing) row.offset += step;
  }
}

}  // namespace

Scene& Scene::calls(const Calls& calls) {
  std::int64_t& now = now_[calls.pid];
  calls_.emplace_back(now, calls);
  now += calls.count * calls.dur;
  return *this;
}

Scene& Scene::idle(std::int64_t ns, std::int32_t pid) {
  now_[pid] += ns;
  return *this;
}

Scene& Scene::rank(std::int32_t pid, std::int64_t rank) {
  ranks_[pid] = rank;
  now_[pid];
  return *this;
}

Scene& Scene::thread(std::int32_t pid, std::int32_t tid) {
  threads_.emplace_back(pid, tid);
  return *this;
}

Scene& Scene::child(std::int32_t pid, std::int32_t parent, const std::string& program) {
  children_[pid] = {parent, program};
  now_[pid];
  return *this;
}

Scene& Scene::short_process(std::int32_t pid, std::int64_t life) {
  lives_[pid] = life;
  now_[pid];
  return *this;
}

Scene& Scene::counter(const std::string& name, std::int32_t pid, std::int64_t ts, double value,
                      const std::string& layer) {
  counters_.push_back({layer, name, pid, ts, value});
  if (pid != trace::kNull32) now_[pid];  // else of the machine
  return *this;
}

Scene& Scene::loss(const std::string& reason, std::int64_t count) {
  losses_.emplace_back(reason, count);
  return *this;
}

Scene& Scene::spent(const Stretch& first, std::int64_t count) {
  now_[first.pid];
  std::int64_t& now = spent_[first.tid];
  for (std::int64_t i = 0; i < count; ++i) {
    stretches_.push_back(first);
    stretches_.back().ts = now;
    now += first.weight;
  }
  return *this;
}

Scene& Scene::ran(std::int32_t pid, std::int32_t tid, const std::string& stack, std::int64_t count,
                  std::int64_t each) {
  return spent({0, pid, tid, "cpu-clock", stack, each}, count);
}

Scene& Scene::waited(std::int32_t pid, std::int32_t tid, const std::string& stack,
                     std::int64_t count, std::int64_t each) {
  return spent({0, pid, tid, "off-cpu", stack, each}, count);
}

Scene& Scene::ready(std::int32_t pid, std::int64_t ns) {
  ready_[pid] = ns;
  now_[pid];
  return *this;
}

Scene& Scene::cores(int cores) {
  cores_ = cores;
  return *this;
}

Status Scene::append_samples(trace::RecordingWriter& writer) const {
  trace::SampleBatch samples;
  for (const Stretch& one : stretches_) {
    std::vector<trace::Frame> frames;
    for (const std::string_view text : split(one.stack, ';')) {
      const std::vector<std::string_view> words = split(text, '!');
      trace::Frame frame;
      frame.function = writer.strings().code(words[0]);
      frame.module = writer.strings().code(words.size() > 1 ? words[1] : "/opt/work");
      frames.push_back(frame);
    }
    trace::SampleRow row;
    row.ts = one.ts;
    row.pid = one.pid;
    row.tid = one.tid;
    row.event = writer.strings().code(one.event);
    row.weight = one.weight;
    row.stack = writer.stacks().stack(frames, writer.strings());
    samples.rows.push_back(row);
  }
  return writer.append(samples);
}

Result<Store> Scene::open(const std::string& directory) const {
  trace::Manifest manifest;
  manifest.command = {"work"};
  manifest.host.hostname = "here";
  manifest.origin = "run";
  manifest.duration_ns = wall_;
  manifest.host.cores = cores_;
  for (const auto& [reason, count] : losses_) manifest.add_loss({"posix", reason, count});
  FATHOM_ASSIGN(trace::RecordingWriter writer,
                trace::RecordingWriter::create(directory, std::move(manifest)));
  trace::EventBatch events;
  for (const auto& [ts, calls] : calls_) push(calls, ts, writer.strings(), events);
  FATHOM_TRY(writer.append(events));
  trace::CounterBatch counters;
  for (const Counter& one : counters_) {
    counters.rows.push_back({.ts = one.ts,
                             .pid = one.pid,
                             .tid = trace::kNull32,
                             .layer = writer.strings().code(one.layer),
                             .name = writer.strings().code(one.name),
                             .unit = writer.strings().code("bytes"),
                             .host = trace::kNoString,
                             .value = one.value});
  }
  FATHOM_TRY(writer.append(counters));
  FATHOM_TRY(append_samples(writer));
  for (const auto& [pid, now] : now_) {
    trace::ProcessRow process;
    process.host = "here";
    process.pid = pid;
    process.name = process.command = "work";
    if (children_.contains(pid)) std::tie(process.ppid, process.name) = children_.at(pid);
    process.start = 0;
    process.end = lives_.contains(pid) ? lives_.at(pid) : wall_;
    if (ranks_.contains(pid)) process.rank = ranks_.at(pid);
    writer.append(process);
    trace::ThreadRow thread;
    thread.host = "here";
    thread.pid = thread.tid = pid;
    thread.start = 0;
    thread.end = process.end;
    if (ready_.contains(pid)) thread.ready = ready_.at(pid);
    writer.append(thread);
  }
  for (const auto& [pid, tid] : threads_) {
    trace::ThreadRow thread;
    thread.host = "here";
    thread.pid = pid;
    thread.tid = tid;
    thread.start = 0;
    thread.end = wall_;
    writer.append(thread);
  }
  FATHOM_TRY(writer.finish());
  return Store::open(directory);
}

}  // namespace fathom::analysis::testing
