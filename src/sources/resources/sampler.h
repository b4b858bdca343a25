// SPDX-License-Identifier: MIT
// Reads once what the processes of a tree, their control group and the machine use, as counters of
// layer `resource` (docs/formats/resources.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sources/process_tree.h"
#include "sources/resources/cgroup.h"
#include "sources/resources/group_sampler.h"
#include "trace/rows/batch.h"

namespace fathom::sources {

// Where rows go, with their texts.
struct CounterRows {
  trace::Strings strings;
  trace::CounterBatch batch;
};

// One thread.
class Sampler {
 public:
  explicit Sampler(std::string proc = "/proc");

  // Takes a process in, and its descendants. The first one names the control group.
  void add(pid_t pid);
  // A control group of which everything is told, and its processes, in place of that of a process.
  void watch_group(const std::string& directory);
  [[nodiscard]] std::string group() const { return group_ ? group_->directory() : ""; }
  // Those that are in that group now.
  [[nodiscard]] std::set<pid_t> members() const;
  // Takes them in.
  void add_members();
  [[nodiscard]] std::map<std::string, std::string> facts() const;
  [[nodiscard]] bool knows(pid_t pid) const { return tree_.knows(pid); }
  [[nodiscard]] std::set<pid_t> pids() const { return tree_.pids(); }

  // One row per series at time `ts`. `thorough` adds what is dear to read: PSS, and context
  // switches of all threads.
  void sample(std::int64_t ts, bool thorough, CounterRows& rows);

 private:
  void sample_process(const ProcessStat& stat, bool thorough);
  void sample_io(pid_t pid);
  void sample_switches(pid_t pid);
  void sample_machine(bool thorough);
  void sample_cores(std::string_view stat);
  void sample_cgroup();
  [[nodiscard]] std::string read(pid_t pid, std::string_view name) const;
  void add(std::string_view name, std::string_view unit, double value,
           std::int32_t pid = trace::kNull32);
  void add_at(std::int64_t ts, std::string_view name, std::string_view unit, double value,
              std::int32_t pid = trace::kNull32);

  std::string proc_;
  ProcessTree tree_;
  CgroupPaths cgroup_;
  bool cgroup_known_ = false;
  std::optional<GroupSampler> group_;
  std::optional<MachineCpu> last_cpu_;
  std::map<std::string, MachineCpu, std::less<>> last_cores_;  // "cpu3"
  double tick_seconds_;
  double page_bytes_;
  std::int64_t ts_ = 0;          // of the sample that is being taken
  CounterRows* rows_ = nullptr;  // likewise
};

}  // namespace fathom::sources
