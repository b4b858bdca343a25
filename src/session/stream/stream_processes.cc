// SPDX-License-Identifier: MIT
// Which process a row belongs to is decided by pid and time, since a pid may have several images
// (exec) and may be reused.
#include "session/stream/stream_processes.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "trace/recording/processes.h"

namespace fathom::session {
namespace {

// The first one that a process told of has its rows.
constexpr std::string_view kDropIns[] = {"dftracer", "alnair"};

// Which processes share our numbers; "" where /proc does not tell.
std::string own_namespace() {
  char link[64] = {};
  const ssize_t length = ::readlink("/proc/self/ns/pid", link, sizeof link);
  return {link, length > 0 ? static_cast<std::size_t>(length) : 0};
}

bool is_foreign(std::string_view settings, const std::string& here) {
  constexpr std::string_view kKey = "\npidns=";
  const std::size_t at = settings.find(kKey);
  if (at == std::string_view::npos || here.empty()) return false;
  return !settings.substr(at + kKey.size()).starts_with(here + "\n");
}

// Facts of the runtime itself, which StreamProcess has fields for or nobody needs.
bool is_own_fact(std::string_view key) {
  for (const std::string_view own : {"exe", "command", "cwd", "rank"}) {
    if (key == own) return true;
  }
  return std::ranges::any_of(kDropIns, [&](std::string_view name) {
    return key.starts_with(name) && key.substr(name.size()).starts_with('.');
  });
}

}  // namespace

StreamProcesses::StreamProcesses(const fathom_run_header& run, const trace::Clock& clock)
    : host_(run.host, strnlen(run.host, sizeof run.host)),
      namespace_(own_namespace()),
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
    process.pid = from.pid;
    process.ppid = from.ppid;
    process.forked = from.attach == FATHOM_ATTACH_FORK;
    process.start = clock.ns(from.start_tick);
    process.host = host_;
    images_[from.pid][process.start] = from.key;
    liveness_.saw({static_cast<std::uint32_t>(from.pid), 0}, from.key, from.start_tick);
  }
  process.ended = trace::ended_in_order(from);
  process.command = definitions.meta(from, "command");
  process.cwd = definitions.meta(from, "cwd");
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
  process.foreign = is_foreign(process.settings, namespace_);
  std::map<std::uint64_t, std::uint64_t> meta(from.meta.begin(), from.meta.end());
  process.facts.clear();
  for (const auto& [key, value] : meta) {
    const std::string_view name = definitions.text(from, key);
    if (!is_own_fact(name)) process.facts.emplace_back(name, definitions.text(from, value));
  }
}

// The image of the pid that ran then.
const StreamProcess* StreamProcesses::owner(std::int64_t pid, std::int64_t ts) const {
  const auto images = images_.find(pid);
  if (images == images_.end()) return nullptr;
  auto image = images->second.upper_bound(ts);
  if (image != images->second.begin()) --image;
  return &processes_.at(image->second);
}

std::vector<const StreamProcess*> StreamProcesses::newly_dead() {
  std::vector<const StreamProcess*> dead;
  liveness_.begin_pass();
  for (const auto& [key, process] : processes_) {
    if (completed_.contains(key)) continue;
    if (!liveness_.alive({static_cast<std::uint32_t>(process.pid), 0}, key, 0))
      dead.push_back(&process);
  }
  return dead;
}

bool StreamProcesses::only_foreign() const {
  return !processes_.empty() &&
         std::ranges::all_of(processes_, [](const auto& entry) { return entry.second.foreign; });
}

}  // namespace fathom::session
