// SPDX-License-Identifier: MIT
// A program that another one becomes (exec) is a row of its own, of processes and of threads, as
// everywhere in a recording.
#include "sources/perf/cpu_rows.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "trace/rows/layers.h"

namespace fathom::sources {
namespace {

// "" where it is gone already, or hides it.
std::string command_of(std::int32_t pid) {
  Result<std::string> text = read_file("/proc/" + std::to_string(pid) + "/cmdline");
  if (!text) return "";
  while (!text->empty() && text->back() == '\0') text->pop_back();
  std::ranges::replace(*text, '\0', ' ');
  return *text;
}

ThreadId thread_of(const perf::SampleId& id) {
  return {static_cast<std::int32_t>(id.pid), static_cast<std::int32_t>(id.tid)};
}

}  // namespace

CpuRows::CpuRows(const CpuRowsOptions& options)
    : options_(options),
      event_(strings_.code(options.event)),
      frames_(maps_, strings_, options.kernel),
      account_(strings_.code(trace::kOnCpu), strings_.code(trace::kOffCpu)) {}

void CpuRows::take(const perf::Record& record, SampleOf of) {
  if (const auto* sample = std::get_if<perf::Sample>(&record.body))
    return take(record.id, *sample, of);
  std::visit([&](const auto& body) { take(record.id, body); }, record.body);
}

void CpuRows::take(const perf::SampleId& id, const perf::Sample& sample, SampleOf of) {
  const ThreadId thread = thread_of(id);
  const std::int64_t stack = frames_.stack(id, sample);
  if (of == SampleOf::kLeaving) return account_.leaves_from(thread, stack);
  if (options_.is_clock)
    return account_.sampled(thread, ts(id.time), static_cast<std::int32_t>(id.cpu), stack);
  trace::SampleRow row;
  row.ts = ts(id.time);
  row.pid = thread.pid;
  row.tid = thread.tid;
  row.cpu = static_cast<std::int32_t>(id.cpu);
  row.event = event_;
  row.weight = static_cast<std::int64_t>(sample.period);
  row.stack = stack;
  rows_.samples.rows.push_back(row);
}

void CpuRows::take(const perf::SampleId& id, const perf::Switch& change) {
  const ThreadId thread = thread_of(id);
  if (!change.is_out) return account_.switched_in(thread, ts(id.time));
  account_.switched_out(thread, ts(id.time), change.preempted);
  if (!change.preempted) slept_.insert(thread);
}

void CpuRows::take(const perf::SampleId& id, const perf::Comm& comm) {
  const ThreadId thread{static_cast<std::int32_t>(comm.pid), static_cast<std::int32_t>(comm.tid)};
  if (comm.is_exec) {
    begin_program(thread, ts(id.time), std::string(comm.name));
  } else {
    names_[thread] = comm.name;
  }
}

void CpuRows::begin_program(ThreadId thread, std::int64_t ts, const std::string& name) {
  maps_.cleared(thread.pid);
  frames_.jit().began(thread.pid, ts + options_.start_monotonic_ns);
  frames_.python().cleared(thread.pid);
  const auto before = processes_.find(thread.pid);
  const std::int64_t parent = before != processes_.end() ? before->second.row.ppid : trace::kNull;
  end_process(thread.pid, ts);
  begin_process(thread.pid, parent, ts, name);
  trace::ProcessRow& row = processes_[thread.pid].row;
  if (!options_.no_command) row.command = command_of(thread.pid);
  rows_.lives.processes.push_back(row);
  account_.ended(thread, ts);
  account_.running(thread, ts);
  names_[thread] = name;
}

void CpuRows::begin_process(std::int32_t pid, std::int64_t parent, std::int64_t ts,
                            const std::string& name) {
  processes_[pid] = {.row = {}, .threads = 1};
  trace::ProcessRow& row = processes_[pid].row;
  row.pid = pid;
  row.ppid = parent;
  row.name = name;
  row.start = ts;
  row.rung = options_.rung;
  rows_.lives.processes.push_back(row);
}

void CpuRows::end_process(std::int32_t pid, std::int64_t ts) {
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return;
  found->second.row.end = ts;
  rows_.lives.processes.push_back(found->second.row);
  processes_.erase(found);
}

void CpuRows::end_thread(ThreadId thread, std::int64_t ts) {
  account_.ended(thread, ts);
  ended_.push_back(thread);
  slept_.erase(thread);
  frames_.python().ended(thread.pid, thread.tid);
  const auto process = processes_.find(thread.pid);
  if (process == processes_.end() || --process->second.threads > 0) return;
  end_process(thread.pid, ts);
  maps_.cleared(thread.pid);
  frames_.jit().ended(thread.pid);
  frames_.python().cleared(thread.pid);
}

void CpuRows::take(const perf::SampleId& id, const perf::Task& task) {
  const auto pid = static_cast<std::int32_t>(task.pid);
  const ThreadId thread{pid, static_cast<std::int32_t>(task.tid)};
  if (task.is_exit) return end_thread(thread, ts(id.time));
  account_.forked(thread, ts(id.time));
  const ThreadId maker{static_cast<std::int32_t>(task.parent),
                       static_cast<std::int32_t>(task.parent_tid)};
  const auto name = names_.find(maker);
  names_[thread] = name != names_.end() ? name->second : "";
  if (task.pid == task.parent) {
    processes_[pid].threads++;
    return;
  }
  maps_.forked(maker.pid, pid);
  frames_.jit().forked(maker.pid, pid, static_cast<std::int64_t>(id.time));
  begin_process(pid, maker.pid, ts(id.time), names_[thread]);
}

void CpuRows::take(const perf::SampleId& /*id*/, const perf::Mapping& mapping) {
  if (mapping.is_data) return;
  const std::string_view build_id(reinterpret_cast<const char*>(mapping.build_id.data()),
                                  mapping.build_id.size());
  const auto pid = static_cast<std::int32_t>(mapping.pid);
  if (is_jitdump(mapping.file)) frames_.jit().mapped_dump(pid, mapping.file, mapping.inode);
  const Module* module = maps_.module(mapping.file, build_id);
  maps_.mapped(pid, {mapping.address, mapping.length, mapping.offset, module});
  (void)frames_.python().process(pid);
}

void CpuRows::take(const perf::SampleId& /*id*/, const perf::Lost& lost) {
  count_loss("records for which the ring had no room", lost.count);
}

void CpuRows::take(const perf::SampleId& /*id*/, const perf::Throttle& throttle) {
  if (!throttle.ends) count_loss("times that the kernel slowed sampling down", 1);
}

void CpuRows::count_loss(const char* reason, std::uint64_t count) { losses_[reason] += count; }

void CpuRows::stop(std::int64_t monotonic_ns) {
  account_.stop(monotonic_ns - options_.start_monotonic_ns);
  frames_.jit().stop();
}

std::vector<ThreadId> CpuRows::take_slept() {
  const std::set<ThreadId> slept = std::exchange(slept_, {});
  return {slept.begin(), slept.end()};
}

void CpuRows::drain(trace::Strings& strings, trace::HostRows& into) {
  const auto code = [&](std::uint32_t own) { return strings.code_or_null(strings_.view(own)); };
  trace::FrameBatch frames = frames_.take_new();
  for (trace::FrameRow& row : frames.rows) {
    for (std::uint32_t trace::Frame::*text : {&trace::Frame::function, &trace::Frame::module,
                                              &trace::Frame::file, &trace::Frame::build_id})
      row.frame.*text = code(row.frame.*text);
    into.frames.rows.push_back(row);
  }
  std::ranges::move(account_.take_samples(), std::back_inserter(rows_.samples.rows));
  for (trace::SampleRow& row : rows_.samples.rows) {
    row.event = code(row.event);
    into.samples.rows.push_back(row);
  }
  for (trace::ThreadRow& row : account_.take_threads()) {
    const ThreadId id{static_cast<std::int32_t>(row.pid), static_cast<std::int32_t>(row.tid)};
    if (const auto name = names_.find(id); name != names_.end()) row.name = name->second;
    into.lives.threads.push_back(std::move(row));
  }
  for (const ThreadId& id : std::exchange(ended_, {})) names_.erase(id);
  into.lives.add({std::move(rows_.lives.processes), {}});
  if (const std::uint64_t cut = frames_.take_cut(); cut > 0)
    count_loss("stacks without their outermost functions", cut);
  if (const std::uint64_t unnamed = frames_.take_unnamed(); unnamed > 0)
    count_loss("frames of code made at run time whose name nobody told", unnamed);
  if (const std::uint64_t unread = frames_.python().take_unread(); unread > 0)
    count_loss("stacks of Python whose functions could not be read", unread);
  for (const auto& [reason, count] : std::exchange(losses_, {})) {
    into.losses.push_back(
        {std::string(trace::kSampledLayer), reason, static_cast<std::int64_t>(count)});
  }
  rows_ = {};
}

}  // namespace fathom::sources
