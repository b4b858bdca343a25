// SPDX-License-Identifier: MIT
// One process that runs Python: its threads and their stacks, read when a sample asks for them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sources/perf/python/code_objects.h"
#include "sources/perf/python/foreign_memory.h"
#include "sources/perf/python/frame_reader.h"
#include "sources/perf/python/interpreter_file.h"
#include "sources/perf/python/stack_merge.h"

namespace fathom::sources {

// One thread at a time.
class PythonProcess {
 public:
  // `bias` is where the interpreter's file is loaded. Both references must outlive this.
  PythonProcess(pid_t process, const InterpreterFile& file, std::uint64_t bias, LoopPlaces& places);

  [[nodiscard]] NativeRole role(std::uint64_t address) const { return file_.role(address - bias_); }
  // Empty: there is nothing of Python in this stack, or it cannot be read.
  [[nodiscard]] std::vector<MergedFrame> merge(std::int32_t tid, const SampledStack& stack);
  // What is asked from now on is as it is then.
  void forget();
  void ended(std::int32_t tid) { threads_of_.erase(tid); }
  // Stacks whose functions of Python could not be read, since the last time.
  [[nodiscard]] std::uint64_t take_unread() { return std::exchange(unread_, 0); }
  // Stacks with the interpreter's own function where it is not certain what that ran.
  [[nodiscard]] std::uint64_t take_uncertain() { return std::exchange(uncertain_, 0); }

 private:
  bool learn_layout();
  const std::vector<PythonThread>& threads();
  std::optional<std::uint64_t> thread_of(std::int32_t tid, const SampledStack& stack);
  std::optional<std::uint64_t> thread_in(const SampledStack& stack);
  const PythonStack& live_stack(std::uint64_t thread);
  [[nodiscard]] bool has_thread(std::uint64_t thread);

  const InterpreterFile& file_;
  std::uint64_t bias_;
  LoopPlaces& places_;
  ProcessMemory memory_;
  std::optional<PythonLayout> layout_;
  std::optional<CodeObjects> codes_;
  std::optional<FrameReader> reader_;
  bool own_numbers_ = false;  // the process counts threads as we do
  std::unordered_map<std::int32_t, std::uint64_t> threads_of_;  // by tid
  std::uint64_t unread_ = 0;
  std::uint64_t uncertain_ = 0;
  // Until forget().
  std::optional<std::vector<PythonThread>> threads_;
  std::unordered_map<std::uint64_t, PythonStack> stacks_;
  std::unordered_map<std::uint64_t, PythonStack> stacks_before_;  // by the same
};

}  // namespace fathom::sources
