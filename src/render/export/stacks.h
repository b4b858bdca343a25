// SPDX-License-Identifier: MIT
// What formats of call stacks share: names of programs and threads, functions that are named once,
// and trees of stacks with sums. Memory is that of distinct functions and stacks, not of events.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/stack_tree.h"
#include "base/result.h"
#include "render/export/event_stream.h"

namespace fathom::render {

using analysis::StackSums;
using analysis::StackTree;

// "read [posix]"; functions of the program itself bear their plain name.
[[nodiscard]] std::string frame_text(const ExportEvent& event);
// The function; its address's module where nobody knows its name.
[[nodiscard]] std::string frame_text(const ExportFrame& frame);

// Names of processes and threads, which come before the events.
class ThreadNames {
 public:
  Status load(EventStream& from);
  // "pid 7" where it has no name.
  [[nodiscard]] std::string program(std::string_view host, const ExportNumber& pid) const;
  // "work (7), thread 8 reader"; the host too where there are several. `program`: not the one that
  // the process is called by.
  [[nodiscard]] std::string thread(std::string_view host, const ExportNumber& pid,
                                   const ExportNumber& tid, std::string_view program = {}) const;

 private:
  using Process = std::pair<std::string, std::int64_t>;
  using Thread = std::tuple<std::string, std::int64_t, std::int64_t>;
  std::map<Process, std::string> programs_;
  std::map<Thread, std::string> threads_;
  std::map<std::string, int> hosts_;
};

// A function of a module: libraries may have one of the same name and source each.
struct FrameInfo {
  std::string text;
  std::string file = {};  // of the source, or the module
  std::int64_t line = 0;
  std::string module = {};
};

// Numbers from 0, in the order in which functions came. The same name in another module, or on
// another line, is another frame.
class FrameTable {
 public:
  std::uint32_t id(const ExportEvent& event);
  std::uint32_t id(const ExportFrame& frame);
  [[nodiscard]] const std::vector<FrameInfo>& frames() const { return frames_; }

 private:
  std::uint32_t id(FrameInfo frame);
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<FrameInfo> frames_;
};

// What has a profile of its own: formats of stacks know one program and one unit each.
struct ProfileKey {
  std::string host;
  std::int64_t pid = -1;
  std::string event;    // of samples; "" for calls
  std::string program;  // "": the one that the process is called by
  bool operator<(const ProfileKey& other) const {
    return std::tie(host, pid, event, program) <
           std::tie(other.host, other.pid, other.event, other.program);
  }
};

// All stacks of a recording, by process and program: calls with self time, samples with weight.
struct StackProfile {
  ThreadNames names;
  FrameTable frames;
  std::map<ProfileKey, StackSums> stacks;
  std::int64_t end = 0;  // the last time that occurs

  // Names, and then calls, samples or both.
  Status load(EventStream& from);
  Status load_names(EventStream& from) { return names.load(from); }
  Status load_calls(EventStream& from);
  Status load_samples(EventStream& from);
  [[nodiscard]] std::string program(const ProfileKey& key) const;
};

}  // namespace fathom::render
