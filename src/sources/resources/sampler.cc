// SPDX-License-Identifier: MIT
// One pass over tree, control group and machine. Ended processes are sampled once more for their
// final CPU time, but not for memory, which is gone.
#include "sources/resources/sampler.h"

#include <unistd.h>

#include <cstdlib>

#include "base/files.h"
#include "base/text.h"

namespace fathom::sources {
namespace {

std::string read_or_empty(const std::string& path) {
  Result<std::string> text = read_file(path);
  return text ? std::move(text).value() : std::string();
}

}  // namespace

Sampler::Sampler(std::string proc)
    : proc_(std::move(proc)),
      tree_(proc_),
      tick_seconds_(1.0 / static_cast<double>(sysconf(_SC_CLK_TCK))),
      page_bytes_(static_cast<double>(sysconf(_SC_PAGESIZE))) {}

void Sampler::add(pid_t pid) {
  tree_.add(pid);
  // The first process's group stands for all.
  if (cgroup_known_ || group_) return;
  const std::string groups = read(pid, "cgroup");
  cgroup_known_ = !groups.empty();
  if (cgroup_known_) cgroup_ = find_cgroup(groups, read(pid, "mountinfo"));
}

void Sampler::watch_group(const std::string& directory) {
  if (group_ && group_->directory() == directory) return;
  group_.emplace(directory, proc_);
}

std::set<pid_t> Sampler::members() const { return group_ ? group_->members() : std::set<pid_t>(); }

void Sampler::add_members() {
  for (const pid_t pid : members()) tree_.add(pid);
}

std::map<std::string, std::string> Sampler::facts() const {
  return group_ ? group_->facts() : std::map<std::string, std::string>();
}

void Sampler::sample(std::int64_t ts, bool thorough, CounterRows& rows) {
  ts_ = ts;
  rows_ = &rows;
  sample_cgroup();  // first: it may be about to go
  for (const ProcessStat& stat : tree_.refresh()) sample_process(stat, thorough);
  sample_machine(thorough);
}

void Sampler::add(std::string_view name, std::string_view unit, double value, std::int32_t pid) {
  add_at(ts_, name, unit, value, pid);
}

void Sampler::add_at(std::int64_t ts, std::string_view name, std::string_view unit, double value,
                     std::int32_t pid) {
  trace::Strings& strings = rows_->strings;
  rows_->batch.rows.push_back({.ts = ts,
                               .pid = pid,
                               .tid = trace::kNull32,
                               .layer = strings.code("resource"),
                               .name = strings.code(name),
                               .unit = strings.code(unit),
                               .host = trace::kNoString,
                               .value = value});
}

void Sampler::sample_process(const ProcessStat& stat, bool thorough) {
  const auto add_of = [&](std::string_view name, std::string_view unit, double value) {
    add(name, unit, value, stat.pid);
  };
  add_of("cpu_user", "s", static_cast<double>(stat.user_ticks) * tick_seconds_);
  add_of("cpu_system", "s", static_cast<double>(stat.system_ticks) * tick_seconds_);
  add_of("minor_faults", "count", static_cast<double>(stat.minor_faults));
  add_of("major_faults", "count", static_cast<double>(stat.major_faults));
  sample_io(stat.pid);
  if (stat.state == 'Z' || stat.state == 'X')
    return;  // its memory and threads are gone: zeros would be no sample
  add_of("rss", "bytes", static_cast<double>(stat.rss_pages) * page_bytes_);
  add_of("vsize", "bytes", static_cast<double>(stat.vsize_bytes));
  add_of("threads", "count", static_cast<double>(stat.threads));
  if (!thorough) return;
  if (const auto pss = number_of(read(stat.pid, "smaps_rollup"), "Pss")) {
    add_of("pss", "bytes", static_cast<double>(*pss) * 1024);
  }
  sample_switches(stat.pid);
}

void Sampler::sample_io(pid_t pid) {
  const std::string text = read(pid, "io");
  for (const char* key : {"rchar", "wchar", "read_bytes", "write_bytes"}) {
    if (const auto value = number_of(text, key))
      add(key, "bytes", static_cast<double>(*value), pid);
  }
}

// /proc/PID/status counts the main thread alone.
void Sampler::sample_switches(pid_t pid) {
  const std::string tasks = join_path(proc_, std::to_string(pid) + "/task");
  const Result<std::vector<std::string>> threads = list_dir(tasks);
  if (!threads) return;
  double voluntary = 0;
  double involuntary = 0;
  for (const std::string& thread : *threads) {
    const std::string text = read_or_empty(join_path(tasks, thread + "/status"));
    voluntary += static_cast<double>(number_of(text, "voluntary_ctxt_switches").value_or(0));
    involuntary += static_cast<double>(number_of(text, "nonvoluntary_ctxt_switches").value_or(0));
  }
  add("voluntary_switches", "count", voluntary, pid);
  add("involuntary_switches", "count", involuntary, pid);
}

namespace {

// Nothing where the numbers did not grow.
std::optional<double> busy_percent(const MachineCpu& before, const MachineCpu& now) {
  if (now.total <= before.total || now.busy < before.busy) return {};
  return 100 * static_cast<double>(now.busy - before.busy) /
         static_cast<double>(now.total - before.total);
}

}  // namespace

// The lines behind the first: "cpu3 12 0 …". Those of a large machine are read each second only.
void Sampler::sample_cores(std::string_view stat) {
  for (const std::string_view line : split(stat, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos || blank <= 3 || !line.starts_with("cpu")) continue;
    const std::string name(line.substr(0, blank));
    const auto now = parse_machine_cpu("cpu" + std::string(line.substr(blank)));
    if (!now) continue;
    const auto before = last_cores_.find(name);
    const auto busy =
        before == last_cores_.end() ? std::nullopt : busy_percent(before->second, *now);
    if (busy) add(name + "_busy", "percent", *busy);
    last_cores_[name] = *now;
  }
}

void Sampler::sample_machine(bool thorough) {
  constexpr std::size_t kFewCores = 16;
  const std::string stat = read_or_empty(join_path(proc_, "stat"));
  const auto cpu = parse_machine_cpu(stat);
  const auto busy = cpu && last_cpu_ ? busy_percent(*last_cpu_, *cpu) : std::nullopt;
  if (busy) add("cpu_busy", "percent", *busy);
  last_cpu_ = cpu;
  if (thorough || last_cores_.size() <= kFewCores) sample_cores(stat);
  const std::string memory = read_or_empty(join_path(proc_, "meminfo"));
  const auto total = number_of(memory, "MemTotal");
  const auto available = number_of(memory, "MemAvailable");
  if (total && available && *total >= *available) {
    add("memory_used", "bytes", static_cast<double>(*total - *available) * 1024);
  }
  if (total && thorough) add("memory_total", "bytes", static_cast<double>(*total) * 1024);
  const std::string load = read_or_empty(join_path(proc_, "loadavg"));
  if (!load.empty()) add("load", "tasks", std::strtod(load.c_str(), nullptr));
}

void Sampler::sample_cgroup() {
  if (group_) {
    group_->sample(ts_, [this](std::int64_t ts, std::string_view name, std::string_view unit,
                               double value) { add_at(ts, name, unit, value); });
    return;
  }
  if (!cgroup_.memory_file.empty()) {
    const auto bytes = only_number(read_or_empty(cgroup_.memory_file));
    if (bytes) add("cgroup_memory", "bytes", static_cast<double>(*bytes));
  }
  if (cgroup_.cpu_file.empty()) return;
  const std::string text = read_or_empty(cgroup_.cpu_file);
  const auto used = cgroup_.cpu_is_v2 ? number_of(text, "usage_usec") : only_number(text);
  if (used) add("cgroup_cpu", "ns", static_cast<double>(*used) * (cgroup_.cpu_is_v2 ? 1000 : 1));
}

std::string Sampler::read(pid_t pid, std::string_view name) const {
  return read_or_empty(join_path(join_path(proc_, std::to_string(pid)), name));
}

}  // namespace fathom::sources
