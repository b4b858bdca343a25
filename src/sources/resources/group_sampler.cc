// SPDX-License-Identifier: MIT
// One pass over a control group's files. Version 1 has a directory for each controller, version 2
// one for all; in a hybrid system pressure comes from the second, the rest from the first. Groups
// come and go while we look: what cannot be read has no sample, and what counters of ended groups
// said last is kept in the sums.
#include "sources/resources/group_sampler.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "base/proc_text.h"
#include "base/text.h"

namespace fathom::sources {
namespace {

constexpr double kNsPerUs = 1000;
// Bounds: a machine may have very many groups and processes, and this is done ten times a second.
constexpr int kMostGroups = 256;        // below a group that is sampled
constexpr std::size_t kMostAsked = 16;  // processes, for their network
constexpr std::size_t kMostNetText = std::size_t{1} << 16;

std::string read_or_empty(const std::string& path) {
  Result<std::string> text = read_file(path);
  return text ? std::move(text).value() : std::string();
}

// The group's directory and those below it.
std::vector<std::string> groups_at(const std::string& directory) {
  namespace fs = std::filesystem;
  std::vector<std::string> groups = {directory};
  std::error_code failed;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied,
                                      failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    std::error_code gone;
    if (at->is_directory(gone)) groups.push_back(at->path().string());
    if (groups.size() >= kMostGroups) break;
  }
  return groups;
}

// A number in a file, by its key, or the only one.
struct Place {
  const char* file;
  const char* key = "";  // "": the file is one number
  double scale = 1;
};

std::optional<double> read_number(const std::string& directory, const Place& place) {
  const std::string text = read_or_empty(join_path(directory, place.file));
  const auto value = *place.key == '\0' ? only_number(text) : number_of(text, place.key);
  if (!value) return {};
  return static_cast<double>(*value) * place.scale;
}

// A number that stands in one file: most do.
struct Series {
  const char* name;
  const char* unit;
  GroupDirectory GroupPlace::*controller;
  Place first, second;  // by version
  // Counts each group by itself, in the first version and in the second.
  bool is_local_in_first = false, is_local_in_second = false;
};

constexpr Series kSeries[] = {
    {"cgroup_cpu",
     "ns",
     &GroupPlace::cpuacct,
     {"cpuacct.usage"},
     {"cpu.stat", "usage_usec", kNsPerUs}},
    {"cgroup_memory", "bytes", &GroupPlace::memory, {"memory.usage_in_bytes"}, {"memory.current"}},
    {"cgroup_memory_peak",
     "bytes",
     &GroupPlace::memory,
     {"memory.max_usage_in_bytes"},
     {"memory.peak"}},
    {"cgroup_oom_kills",
     "count",
     &GroupPlace::memory,
     {"memory.oom_control", "oom_kill"},
     {"memory.events", "oom_kill"},
     true},
    {"cgroup_periods",
     "count",
     &GroupPlace::cpu,
     {"cpu.stat", "nr_periods"},
     {"cpu.stat", "nr_periods"},
     true,
     true},
    {"cgroup_throttled_periods",
     "count",
     &GroupPlace::cpu,
     {"cpu.stat", "nr_throttled"},
     {"cpu.stat", "nr_throttled"},
     true,
     true},
    {"cgroup_throttled",
     "ns",
     &GroupPlace::cpu,
     {"cpu.stat", "throttled_time"},
     {"cpu.stat", "throttled_usec", kNsPerUs},
     true,
     true},
    {"cgroup_pids", "count", &GroupPlace::pids, {"pids.current"}, {"pids.current"}},
    {"cgroup_pids_peak", "count", &GroupPlace::pids, {"pids.peak"}, {"pids.peak"}},
    {"cgroup_pids_refused",
     "count",
     &GroupPlace::pids,
     {"pids.events", "max"},
     {"pids.events", "max"},
     true},
};

// Those that only grow, and so were 0 before the group was there.
constexpr std::string_view kGrowing[] = {
    "cgroup_cpu",         "cgroup_periods",         "cgroup_throttled_periods",
    "cgroup_throttled",   "cgroup_read_bytes",      "cgroup_write_bytes",
    "cgroup_reads",       "cgroup_writes",          "cgroup_cpu_pressure",
    "cgroup_io_pressure", "cgroup_memory_pressure", "cgroup_net_received",
    "cgroup_net_sent"};

bool grows(std::string_view name) {
  return std::ranges::find(kGrowing, name) != std::end(kGrowing) ||
         (name.starts_with("cgroup_cpu") && name.ends_with("_time"));
}

// Version 1 writes "none" as the largest number of pages.
bool is_limit(double bytes) {
  constexpr double kNoLimit = 1e18;
  return bytes < kNoLimit;
}

}  // namespace

struct GroupSampler::Out {
  const Add& add_row;
  std::int64_t ts;
  std::int64_t zero_ts;  // -1: it was there before

  void add(std::string_view name, std::string_view unit, double value) const {
    // A group that is made while we look begins at 0 there: rates need a first point.
    if (zero_ts >= 0 && grows(name)) add_row(zero_ts, name, unit, 0);
    add_row(ts, name, unit, value);
  }
};

GroupSampler::GroupSampler(std::string directory, std::string proc)
    : directory_(std::move(directory)), proc_(std::move(proc)), cores_(proc_) {
  found_ = find_group_place(directory_, read_or_empty(join_path(proc_, "self/mountinfo")));
  place_ = found_;
}

GroupSampler::GroupSampler(GroupPlace place, std::string proc)
    : directory_(place.memory.path),
      proc_(std::move(proc)),
      place_(std::move(place)),
      cores_(proc_) {}

// A group of the second version may have none of its name in the hierarchies of the first.
void GroupSampler::choose_places() {
  if (directory_ != found_.pressure) return;
  place_ = found_;
  for (GroupDirectory GroupPlace::*const one :
       {&GroupPlace::cpu, &GroupPlace::cpuacct, &GroupPlace::memory, &GroupPlace::io,
        &GroupPlace::pids}) {
    if (!path_exists((found_.*one).path)) place_.*one = {.path = directory_, .is_v2 = true};
  }
}

bool GroupSampler::exists() const {
  return std::ranges::any_of(
      std::initializer_list<const std::string*>{&place_.memory.path, &place_.cpuacct.path,
                                                &place_.pids.path},
      [](const std::string* path) { return !path->empty() && path_exists(*path); });
}

void GroupSampler::sample(std::int64_t ts, const Add& add) {
  choose_places();
  if (!exists()) {
    if (!was_there_) absent_ts_ = ts;
    return;
  }
  Out out{add, ts, was_there_ ? -1 : absent_ts_};
  was_there_ = true;
  sample_numbers(out);
  sample_memory(out);
  sample_cpus(out);
  sample_io(out);
  sample_limits(out);
  sample_pressure(out);
  sample_network(out);
}

void GroupSampler::sample_numbers(Out& out) {
  for (const Series& series : kSeries) {
    const GroupDirectory& group = place_.*series.controller;
    if (group.path.empty()) continue;
    const Place& place = group.is_v2 ? series.second : series.first;
    const std::optional<double> own = read_number(group.path, place);
    if (!own) continue;
    const bool is_local = group.is_v2 ? series.is_local_in_second : series.is_local_in_first;
    const double value = is_local ? sum_below(group, place.file, place.key) * place.scale : *own;
    out.add(series.name, series.unit, value);
  }
}

// These count for each group alone. A group that is gone keeps its last number: sums only grow.
double GroupSampler::sum_below(const GroupDirectory& group, const char* file, const char* key) {
  const std::string ending = "/" + std::string(file) + " " + key;
  for (const std::string& one : groups_at(group.path)) {
    const std::optional<double> value = read_number(one, {file, key});
    if (value) last_below_[one + ending] = *value;
  }
  double sum = 0;
  for (const auto& [name, value] : last_below_) {
    if (name.ends_with(ending)) sum += value;
  }
  return sum;
}

// The working set as Kubernetes has it: what is in use without the files that may go at any time.
void GroupSampler::sample_memory(Out& out) {
  const GroupDirectory& group = place_.memory;
  if (group.path.empty()) return;
  const std::string text = read_or_empty(join_path(group.path, "memory.stat"));
  const auto used =
      read_number(group.path, {group.is_v2 ? "memory.current" : "memory.usage_in_bytes"});
  const auto cache = number_of(text, group.is_v2 ? "file" : "total_cache");
  const auto inactive = number_of(text, group.is_v2 ? "inactive_file" : "total_inactive_file");
  const auto anonymous = number_of(text, group.is_v2 ? "anon" : "total_rss");
  if (cache) out.add("cgroup_page_cache", "bytes", static_cast<double>(*cache));
  if (anonymous) out.add("cgroup_anonymous", "bytes", static_cast<double>(*anonymous));
  if (!used || !inactive) return;
  out.add("cgroup_inactive_file", "bytes", static_cast<double>(*inactive));
  out.add("cgroup_working_set", "bytes", std::max(*used - static_cast<double>(*inactive), 0.0));
}

void GroupSampler::sample_cpus(Out& out) {
  const GroupDirectory& group = place_.cpuacct;
  if (group.path.empty()) return;
  if (!group.is_v2) {
    const auto usage =
        parse_usage_by_cpu(read_or_empty(join_path(group.path, "cpuacct.usage_percpu")));
    for (std::size_t cpu = 0; cpu < usage.size(); ++cpu)
      by_core_[static_cast<int>(cpu)] = static_cast<double>(usage[cpu]);
  } else if (const auto used = read_number(group.path, {"cpu.stat", "usage_usec", kNsPerUs})) {
    const double grown = std::max(*used - last_cpu_, 0.0);
    last_cpu_ = *used;
    for (const auto& [core, part] : cores_.split(members(), grown)) by_core_[core] += part;
  }
  for (const auto& [core, ns] : by_core_)
    out.add("cgroup_cpu" + std::to_string(core) + "_time", "ns", ns);
}

void GroupSampler::sample_io(Out& out) {
  const GroupDirectory& group = place_.io;
  if (group.path.empty()) return;
  IoStat sums;
  if (group.is_v2) {
    const Result<std::string> text = read_file(join_path(group.path, "io.stat"));
    if (!text) return;
    sums = parse_io_stat(*text);
  } else {
    Result<std::string> bytes =
        read_file(join_path(group.path, "blkio.throttle.io_service_bytes_recursive"));
    if (!bytes) bytes = read_file(join_path(group.path, "blkio.throttle.io_service_bytes"));
    if (!bytes) return;
    sums.bytes = parse_blkio(*bytes);
    sums.calls =
        parse_blkio(read_or_empty(join_path(group.path, "blkio.throttle.io_serviced_recursive")));
  }
  out.add("cgroup_read_bytes", "bytes", sums.bytes.read);
  out.add("cgroup_write_bytes", "bytes", sums.bytes.written);
  out.add("cgroup_reads", "count", sums.calls.read);
  out.add("cgroup_writes", "count", sums.calls.written);
}

// The tightest of the group and those below it: an engine sets them where the processes are.
void GroupSampler::sample_limits(Out& out) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  double memory = kNone, pids = kNone, cpu = kNone;
  const auto take = [](double& limit, std::optional<double> value) {
    if (value && is_limit(*value)) limit = std::min(limit, *value);
  };
  for (const std::string& one : groups_at(place_.memory.path))
    take(memory, read_number(one, {place_.memory.is_v2 ? "memory.max" : "memory.limit_in_bytes"}));
  for (const std::string& one : groups_at(place_.pids.path))
    take(pids, read_number(one, {"pids.max"}));
  for (const std::string& one : groups_at(place_.cpu.path)) {
    if (place_.cpu.is_v2) {
      take(cpu, parse_cpu_max(read_or_empty(join_path(one, "cpu.max"))));
      continue;
    }
    const auto quota = read_number(one, {"cpu.cfs_quota_us"});
    const auto period = read_number(one, {"cpu.cfs_period_us"});
    if (quota && period && *period > 0) take(cpu, *quota / *period);
  }
  if (memory < kNone) out.add("cgroup_memory_limit", "bytes", memory);
  if (pids < kNone) out.add("cgroup_pids_limit", "count", pids);
  if (cpu < kNone) out.add("cgroup_cpu_limit", "cores", cpu);
}

void GroupSampler::sample_pressure(Out& out) {
  if (place_.pressure.empty()) return;
  for (const std::string_view what : {"cpu", "memory", "io"}) {
    const std::string file = std::string(what) + ".pressure";
    const auto waited = parse_pressure(read_or_empty(join_path(place_.pressure, file)));
    if (!waited) continue;
    out.add("cgroup_" + std::string(what) + "_pressure", "ns",
            static_cast<double>(*waited) * kNsPerUs);
  }
}

// Of the network namespace of its processes, if that is not ours: else the numbers would be the
// machine's.
void GroupSampler::sample_network(Out& out) {
  if (network_.fd() < 0 && !open_network()) return;
  const Result<std::string> text = network_.read_range(0, kMostNetText);
  if (!text) return;
  for (const auto& [name, now] : parse_net_dev(*text)) {
    Traffic& last = traffic_[name];  // an interface goes away before the last look
    last.received = std::max(last.received, now.received);
    last.sent = std::max(last.sent, now.sent);
  }
  double received = 0, sent = 0;
  for (const auto& [name, sums] : traffic_) {
    received += static_cast<double>(sums.received);
    sent += static_cast<double>(sums.sent);
  }
  out.add("cgroup_net_received", "bytes", received);
  out.add("cgroup_net_sent", "bytes", sent);
}

// A process may enter its group before its namespace: each look tries again.
bool GroupSampler::open_network() {
  std::error_code failed;
  const auto own = std::filesystem::read_symlink(join_path(proc_, "self/ns/net"), failed);
  std::size_t asked = 0;
  for (const pid_t pid : members()) {
    if (++asked > kMostAsked) break;
    const std::string folder = join_path(proc_, std::to_string(pid));
    const auto other = std::filesystem::read_symlink(join_path(folder, "ns/net"), failed);
    if (failed) continue;
    if (other == own) {
      shares_network_ = true;
      continue;
    }
    Result<File> file = File::open(join_path(folder, "net/dev"), O_RDONLY);
    if (!file) continue;
    network_ = std::move(*file);
    shares_network_ = false;
    return true;
  }
  return false;
}

std::set<pid_t> GroupSampler::members() const {
  std::set<pid_t> pids;
  for (const GroupDirectory* group : {&place_.memory, &place_.pids, &place_.cpuacct}) {
    if (group->path.empty() || !path_exists(group->path)) continue;
    for (const std::string& one : groups_at(group->path)) {
      for (const pid_t pid : parse_pids(read_or_empty(join_path(one, "cgroup.procs"))))
        pids.insert(pid);
    }
    break;  // the others have the same ones
  }
  return pids;
}

std::map<std::string, std::string> GroupSampler::facts() const {
  std::map<std::string, std::string> facts = {{"cgroup", directory_}};
  if (place_.memory.path.empty()) facts["cgroup.lacks"] = "no such control group is mounted";
  if (shares_network_) facts["cgroup.network"] = "the machine's, which is not counted apart";
  if (!place_.io.path.empty() && !place_.io.is_v2)
    facts["cgroup.writes"] = "without those that the page cache makes later";
  if (place_.cpuacct.is_v2) facts["cgroup.cores"] = "estimated by where threads ran last";
  return facts;
}

}  // namespace fathom::sources
