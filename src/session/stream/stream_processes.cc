// SPDX-License-Identifier: MIT
// Which process a row belongs to is decided by pid and time, since a pid may have several images
// (exec) and may be reused.
#include "session/stream/stream_processes.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/text.h"
#include "trace/recording/processes.h"
#include "wire/exec.h"

namespace fathom::session {
namespace {

// The first one that a process told of has its rows.
constexpr std::string_view kDropIns[] = {"dftracer", "alnair"};

// The inode of the pid namespace that a process told of; 0: it told of none.
std::uint64_t told_namespace(std::string_view settings) {
  constexpr std::string_view kKey = "\npidns=pid:[";
  const std::size_t at = settings.find(kKey);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = settings.substr(at + kKey.size());
  const Result<std::int64_t> inode = parse_int(rest.substr(0, rest.find(']')));
  return inode ? static_cast<std::uint64_t>(*inode) : 0;
}

// Facts of the runtime itself, which StreamProcess has fields for or nobody needs.
bool is_own_fact(std::string_view key) {
  for (const std::string_view own :
       {"exe", "command", "cwd", "rank", "container", FATHOM_META_KERNEL_IO, FATHOM_META_NSPID,
        FATHOM_META_NAMESPACE}) {
    if (key == own) return true;
  }
  if (key.starts_with(FATHOM_META_UNSEEN) || key.starts_with(FATHOM_META_REFUSED)) return true;
  return std::ranges::any_of(kDropIns, [&](std::string_view name) {
    return key.starts_with(name) && key.substr(name.size()).starts_with('.');
  });
}

}  // namespace

StreamProcesses::StreamProcesses(const fathom_run_header& run, const trace::Clock& clock)
    : host_(run.host, strnlen(run.host, sizeof run.host)),
      home_(run.pid_namespace),
      own_(trace::own_pid_namespace()),
      liveness_(run, clock) {}

void StreamProcesses::learn(const trace::Definitions& definitions, const trace::Clock& clock) {
  for (const auto& process : definitions.processes()) {
    if (process->attached) learn_one(definitions, *process, clock);
  }
}

void StreamProcesses::learn_one(const trace::Definitions& definitions, const trace::Process& from,
                                const trace::Clock& clock) {
  const auto [found, fresh] = processes_.try_emplace(from.key);
  StreamProcess& process = found->second;
  if (fresh) {
    process.key = from.key;
    process.ppid = from.ppid;
    process.row_pid = from.pid;
    process.forked = from.attach == FATHOM_ATTACH_FORK;
    process.lodges = from.attach == FATHOM_ATTACH_SHARES;
    if (process.lodges) completed_.insert(from.key);
    process.start = clock.ns(from.start_tick);
    process.host = host_;
    images_[from.pid][process.start] = from.key;
  }
  // It tells of its namespace behind its begin.
  const trace::InnerPid inner = definitions.inner_pid(from);
  if (const std::int64_t own = inner.number != 0 ? inner.number : from.pid; process.pid != own) {
    named_[process.pid].erase(process.start);
    named_[own][process.start] = from.key;
    process.pid = own;
  }
  process.ended = trace::ended_in_order(from);
  process.command = definitions.meta(from, "command");
  process.cwd = definitions.meta(from, "cwd");
  const Result<std::int64_t> end = parse_int(definitions.meta(from, "dftracer.end"));
  if (end) process.end = clock.ns(static_cast<std::uint64_t>(*end));
  for (const std::string_view name : kDropIns) {
    if (!process.drop_in.empty() && process.drop_in != name) continue;
    for (int n = 0;; n++) {
      const std::string key = std::string(name) + "." + std::to_string(n);
      const std::string_view told = definitions.meta(from, key);
      if (told.empty()) break;
      process.drop_in = name;
      process.settings = told;
    }
  }
  const std::uint64_t told = told_namespace(process.settings);
  process.foreign = told != 0 && own_ != 0 && told != own_;
  liveness_.saw(pid_of(process), from.key, from.start_tick);
  std::map<std::uint64_t, std::uint64_t> meta(from.meta.begin(), from.meta.end());
  process.facts.clear();
  for (const auto& [key, value] : meta) {
    const std::string_view name = definitions.text(from, key);
    if (!is_own_fact(name)) process.facts.emplace_back(name, definitions.text(from, value));
  }
}

const StreamProcess* StreamProcesses::owner(std::int64_t pid, std::int64_t ts) const {
  const auto images = images_.find(pid);
  if (images == images_.end()) return nullptr;
  auto image = images->second.upper_bound(ts);
  if (image != images->second.begin()) --image;
  return &processes_.at(image->second);
}

const StreamProcess* StreamProcesses::newest(std::int64_t pid) const {
  const auto images = named_.find(pid);
  if (images == named_.end() || images->second.empty()) return nullptr;
  return &processes_.at(images->second.rbegin()->second);
}

std::vector<const StreamProcess*> StreamProcesses::newly_dead() {
  std::vector<const StreamProcess*> dead;
  liveness_.begin_pass();
  for (const auto& [key, process] : processes_) {
    if (completed_.contains(key)) continue;
    if (!liveness_.alive(pid_of(process), key, 0)) dead.push_back(&process);
  }
  return dead;
}

std::vector<const StreamProcess*> StreamProcesses::incomplete() const {
  std::vector<const StreamProcess*> rest;
  for (const auto& [key, process] : processes_) {
    if (!completed_.contains(key)) rest.push_back(&process);
  }
  return rest;
}

void StreamProcesses::see_owners(const trace::Drainer& drainer) {
  drainer.visit_owners(
      [this](std::uint64_t key, const trace::Pid& pid) { spaces_[key] = pid.space; });
}

// A child that was forked into a namespace of its own has what its parent told: the segment that it
// owns knows better.
trace::Pid StreamProcesses::pid_of(const StreamProcess& process) const {
  const auto number = static_cast<std::uint32_t>(process.pid);
  const auto space = spaces_.find(process.key);
  if (space != spaces_.end()) return {number, space->second};
  const std::uint64_t told = told_namespace(process.settings);
  return {number, told == 0 || told == home_ ? 0 : fathom_space(told)};
}

}  // namespace fathom::session
