// SPDX-License-Identifier: MIT
// The kernel's records become rows in the order of their times; each kind has a take() of its own.
// A program that another one becomes (exec) is a row of its own, of processes and of threads, as
// everywhere in a recording. Records may be missing where a ring was full: what is not known to
// have begun begins with what is heard of it first.
#include "sources/perf/cpu_rows.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "trace/rows/layers.h"
#include "trace/rows/loss_reasons.h"

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

// Whose record it is: the process that has to be recorded for it to be taken. A record of a new
// task (fork, clone) is its maker's, for nothing is known of the new one yet. Records of names,
// mappings and ends say themselves whom they mean; all others are of the task that ran when they
// were written.
std::int32_t subject_of(const perf::Record& record) {
  std::uint32_t pid = record.id.pid;
  if (const auto* task = std::get_if<perf::Task>(&record.body))
    pid = task->is_exit ? task->pid : task->parent;
  if (const auto* comm = std::get_if<perf::Comm>(&record.body)) pid = comm->pid;
  if (const auto* mapping = std::get_if<perf::Mapping>(&record.body)) pid = mapping->pid;
  return static_cast<std::int32_t>(pid);
}

// Of a ring or a CPU: a loss there may be anybody's.
bool speaks_of_nobody(const perf::Record& record) {
  return std::holds_alternative<perf::Lost>(record.body) ||
         std::holds_alternative<perf::Throttle>(record.body);
}

}  // namespace

CpuRows::CpuRows(const CpuRowsOptions& options)
    : options_(options),
      event_(strings_.code(options.event)),
      frames_(maps_, strings_, options.kernel, options.limits),
      account_(strings_.code(trace::kOnCpu), strings_.code(trace::kOffCpu)) {}

bool CpuRows::is_recorded(const perf::Record& record) {
  const std::int32_t pid = subject_of(record);
  if (left_.contains(pid)) {
    follow_left(record);
    return false;
  }
  if (!chooses_ || processes_.contains(pid) || speaks_of_nobody(record)) return true;
  // Of the whole machine, one that is not known yet may be chosen by the program that it becomes.
  const auto* comm = std::get_if<perf::Comm>(&record.body);
  return comm != nullptr && comm->is_exec && chooses_(pid);
}

// Children of a process that was left are left, too. The end of its first thread is taken for that
// of the process, which it nearly always is: its number may soon be another one's.
void CpuRows::follow_left(const perf::Record& record) {
  const auto* task = std::get_if<perf::Task>(&record.body);
  if (task == nullptr) return;
  const auto pid = static_cast<std::int32_t>(task->pid);
  if (!task->is_exit) {
    left_.insert(pid);
  } else if (task->tid == task->pid) {
    left_.erase(pid);
  }
}

void CpuRows::take(const perf::Record& record, SampleOf of) {
  if (!is_recorded(record)) return;
  if (const auto* sample = std::get_if<perf::Sample>(&record.body))
    return take(record.id, *sample, of);
  std::visit([&](const auto& body) { take(record.id, body); }, record.body);
}

void CpuRows::take(const perf::SampleId& id, const perf::Sample& sample, SampleOf of) {
  const ThreadId thread = thread_of(id);
  const std::int64_t stack = frames_.stack(id, sample);
  if (of == SampleOf::kLeaving) return account_.leaves_from(thread, ts(id.time), stack);
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
  const std::int32_t root = before != processes_.end() ? before->second.root : thread.pid;
  end_process(thread.pid, ts);
  begin_process(thread.pid, parent, ts, name);
  processes_[thread.pid].root = root;
  trace::ProcessRow& row = processes_[thread.pid].row;
  if (!options_.no_command) row.command = command_of(thread.pid);
  rows_.lives.processes.push_back(row);
  end_threads(thread.pid, ts);  // by whichever of them: the others are gone
  std::erase(ended_, thread);   // this one has the next program's name
  account_.running(thread, ts);
  names_[thread] = name;
}

void CpuRows::begin_process(std::int32_t pid, std::int64_t parent, std::int64_t ts,
                            const std::string& name) {
  const auto maker = processes_.find(static_cast<std::int32_t>(parent));
  const std::int32_t root = maker != processes_.end() ? maker->second.root : pid;
  processes_[pid] = {.row = {}, .threads = 1, .root = root};
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

void CpuRows::end_threads(std::int32_t pid, std::int64_t ts) {
  account_.ended_all(pid, ts);
  for (auto at = names_.lower_bound({pid, 0}); at != names_.end() && at->first.pid == pid; ++at)
    ended_.push_back(at->first);
}

void CpuRows::end_with_threads(std::int32_t pid, std::int64_t ts) {
  end_threads(pid, ts);
  end_process(pid, ts);
  maps_.cleared(pid);
  frames_.jit().ended(pid);
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
  const auto found = processes_.find(pid);
  // A thread that was made while /proc was read may be known from there already.
  const bool was_found = found != processes_.end() && found->second.looked != trace::kNull &&
                         ts(id.time) <= found->second.looked && account_.knows(thread);
  if (was_found) return;  // when /proc was read, after it was made
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

void CpuRows::found(const FoundProcess& process, std::int64_t since_ns, std::int64_t looked_ns) {
  const std::int64_t since = ts(static_cast<std::uint64_t>(since_ns));
  left_.erase(process.pid);
  begin_process(process.pid, process.ppid, since, process.name);
  Process& made = processes_[process.pid];
  made.threads = static_cast<int>(process.threads.size());
  made.looked = ts(static_cast<std::uint64_t>(looked_ns));
  if (!options_.no_command) made.row.command = command_of(process.pid);
  rows_.lives.processes.push_back(made.row);
  maps_.cleared(process.pid);
  frames_.jit().began(process.pid, process.started_ns);
  for (const FoundCode& code : process.code) map_code(process.pid, code.mapping, code.build_id);
  (void)frames_.python().process(process.pid);
  for (const FoundThread& thread : process.threads) {
    const ThreadId id{process.pid, thread.tid};
    account_.found(id, since);
    names_[id] = thread.name;
  }
}

void CpuRows::asleep(std::int32_t pid, const FoundThread& thread) {
  if (thread.asleep) account_.asleep({pid, thread.tid}, frames_.kernel_stack(thread.waits_in));
}

void CpuRows::slept_in(ThreadId thread, const ThreadLook& look, std::int64_t looked_ns) {
  std::vector<std::string> functions = {look.kernel_place, look.call};
  std::erase(functions, "");
  const std::int64_t stack = frames_.kernel_stack(functions, look.user_place);
  account_.slept_in(thread, stack, ts(static_cast<std::uint64_t>(looked_ns)));
}

void CpuRows::refused_threads(std::uint64_t count) {
  if (count > 0) count_loss("threads that ran already and could not be followed", count);
}

void CpuRows::gave_up() { count_loss("samples of the rest of the run: no memory for them", 1); }

void CpuRows::leave(std::int32_t pid, std::int64_t monotonic_ns) {
  if (!processes_.contains(pid)) return;
  const std::int64_t now = ts(static_cast<std::uint64_t>(monotonic_ns));
  end_with_threads(pid, now);
  left_.insert(pid);
}

std::vector<std::int32_t> CpuRows::gone() const {
  std::vector<std::int32_t> all;
  const auto look = [&](std::int32_t pid) {
    if (::kill(pid, 0) != 0 && errno == ESRCH) all.push_back(pid);
  };
  for (const auto& [pid, process] : processes_) look(pid);
  for (const std::int32_t pid : left_) look(pid);
  return all;
}

void CpuRows::forget(const std::vector<std::int32_t>& gone, std::int64_t monotonic_ns) {
  for (const std::int32_t pid : gone) {
    left_.erase(pid);
    if (knows(pid)) end_with_threads(pid, ts(static_cast<std::uint64_t>(monotonic_ns)));
  }
}

bool CpuRows::has_descendants(std::int32_t pid) const {
  return std::ranges::any_of(
      processes_, [pid](const auto& one) { return one.first != pid && one.second.root == pid; });
}

std::vector<Followed> CpuRows::followed() const {
  std::vector<Followed> all;
  for (const auto& [pid, process] : processes_)
    all.push_back({pid, options_.start_monotonic_ns + process.row.start});
  return all;
}

void CpuRows::cut(std::int64_t monotonic_ns, trace::Strings& strings, trace::HostRows& last) {
  account_.cut(ts(static_cast<std::uint64_t>(monotonic_ns)));
  drain(strings, last);
}

void CpuRows::begin_anew(std::int64_t start_monotonic_ns, std::int64_t now) {
  // Those that go on begin again in the new recording, as if they had been found now.
  const std::int64_t shift = start_monotonic_ns - options_.start_monotonic_ns;
  options_.start_monotonic_ns = start_monotonic_ns;
  frames_.begin_anew();
  for (auto& [pid, process] : processes_) {
    process.row.start = now - start_monotonic_ns;
    if (process.looked != trace::kNull) process.looked -= shift;
    rows_.lives.processes.push_back(process.row);
  }
  account_.go_on(now - start_monotonic_ns);
}

const Module* CpuRows::module_of(std::int32_t pid, const CodeMapping& mapping,
                                 std::string_view build_id) {
  if (!options_.files || !mapping.path.starts_with('/') || is_memory(mapping.path))
    return maps_.module(mapping.path, build_id);
  const symbols::MappedFile file{.pid = pid,
                                 .begin = mapping.address,
                                 .end = mapping.address + mapping.length,
                                 .path = mapping.path,
                                 .build_id = std::string(build_id),
                                 .inode = mapping.inode};
  const bool is_known = options_.files->keep(file);
  Module* module = maps_.module(mapping.path, build_id, !is_known);
  if (module != nullptr && is_known) module->kept = options_.files->find(file.path, file.build_id);
  return module;
}

void CpuRows::map_code(std::int32_t pid, const CodeMapping& mapping, std::string_view build_id) {
  if (is_jitdump(mapping.path)) frames_.jit().mapped_dump(pid, mapping.path, mapping.inode);
  const Module* module = module_of(pid, mapping, build_id);
  const bool has_room = module != nullptr && maps_.mapped(pid, {mapping.address, mapping.length,
                                                                mapping.offset, module});
  if (!has_room) count_loss("mapped files for which there was no room", 1);
}

void CpuRows::take(const perf::SampleId& /*id*/, const perf::Mapping& mapping) {
  if (mapping.is_data) return;
  const std::string_view build_id(reinterpret_cast<const char*>(mapping.build_id.data()),
                                  mapping.build_id.size());
  map_code(static_cast<std::int32_t>(mapping.pid),
           {.address = mapping.address,
            .length = mapping.length,
            .offset = mapping.offset,
            .inode = mapping.inode,
            .path = std::string(mapping.file)},
           build_id);
  (void)frames_.python().process(static_cast<std::int32_t>(mapping.pid));
}

void CpuRows::take(const perf::SampleId& /*id*/, const perf::Lost& lost) {
  count_loss("records for which the ring had no room", lost.count);
}

void CpuRows::take(const perf::SampleId& /*id*/, const perf::Throttle& throttle) {
  if (!throttle.ends) count_loss("times that the kernel slowed sampling down", 1);
}

void CpuRows::count_loss(const char* reason, std::uint64_t count) { losses_[reason] += count; }

void CpuRows::count_losses_of_frames() {
  const std::pair<const char*, std::uint64_t> all[] = {
      {trace::kCutStacks, frames_.take_cut()},
      {trace::kShortenedStacks, frames_.memory().take_shortened()},
      {trace::kNamelessFrames, frames_.memory().take_nameless()},
      {trace::kUnnamedFrames, frames_.take_unnamed()},
      {trace::kReplacedFrames, frames_.take_replaced()},
      {trace::kUnreadPython, frames_.python().take_unread()},
      {trace::kUncertainPython, frames_.python().take_uncertain()},
  };
  for (const auto& [reason, count] : all) {
    if (count > 0) count_loss(reason, count);
  }
}

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
  std::ranges::move(take_named(account_, names_, ended_), std::back_inserter(into.lives.threads));
  into.lives.add({std::move(rows_.lives.processes), {}});
  const std::uint64_t untold = account_.take_untold();
  if (options_.sees_leaving && untold > 0) count_loss(trace::kUntoldWaits, untold);
  count_losses_of_frames();
  for (const auto& [reason, count] : std::exchange(losses_, {})) {
    into.losses.push_back(
        {std::string(trace::kSampledLayer), reason, static_cast<std::int64_t>(count)});
  }
  rows_ = {};
}

}  // namespace fathom::sources
