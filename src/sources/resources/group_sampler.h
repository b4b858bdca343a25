// SPDX-License-Identifier: MIT
// Reads once what a control group used: of a container, or of whatever else has a group of its own.
// Names and units of the series: docs/formats/resources.md.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "sources/resources/cgroup.h"
#include "sources/resources/group_text.h"
#include "sources/resources/thread_cores.h"

namespace fathom::sources {

// One thread.
class GroupSampler {
 public:
  using Add = std::function<void(std::int64_t ts, std::string_view name, std::string_view unit,
                                 double value)>;

  // `directory` is that of the group in any hierarchy; it need not exist yet, and may go away. A
  // group of which this one is the only child keeps what it used: sample that one where it is ours.
  explicit GroupSampler(std::string directory, std::string proc = "/proc");
  // For tests: where its files lie.
  GroupSampler(GroupPlace place, std::string proc);

  // One row for each series. A group that was not there at an earlier look began at 0: that is told
  // too, for the time of that look.
  void sample(std::int64_t ts, const Add& add);
  // Its processes, and those of the groups below it.
  [[nodiscard]] std::set<pid_t> members() const;
  [[nodiscard]] const std::string& directory() const { return directory_; }
  // What it cannot tell, and why.
  [[nodiscard]] std::map<std::string, std::string> facts() const;

 private:
  struct Out;
  void choose_places();
  [[nodiscard]] bool exists() const;
  void sample_numbers(Out& out);
  void sample_cpus(Out& out);
  void sample_memory(Out& out);
  void sample_io(Out& out);
  void sample_limits(Out& out);
  void sample_pressure(Out& out);
  void sample_network(Out& out);
  bool open_network();
  // The sum over the group and those below it, also those that are gone.
  double sum_below(const GroupDirectory& group, const char* file, const char* key);

  std::string directory_;
  std::string proc_;
  GroupPlace place_;
  GroupPlace found_;  // by its name alone
  ThreadCores cores_;
  bool was_there_ = false;
  std::int64_t absent_ts_ = -1;  // of the last look that found none; -1: there was none
  std::map<std::string, double> last_below_;  // by file and key
  std::map<int, double> by_core_;             // ns; where the kernel does not tell
  double last_cpu_ = 0;
  File network_ = File::adopt(Fd(), "");  // stays readable when its process has ended
  std::map<std::string, Traffic> traffic_;
  bool shares_network_ = false;  // with us: it is the machine's
};

}  // namespace fathom::sources
