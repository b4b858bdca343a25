// SPDX-License-Identifier: MIT
// Which processes run Python, as their mappings tell.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sources/perf/process_maps.h"
#include "sources/perf/python/interpreter_file.h"
#include "sources/perf/python/python_process.h"

namespace fathom::sources {

// One thread at a time.
class PythonFrames {
 public:
  explicit PythonFrames(ProcessMaps& maps) : maps_(maps) {}

  // nullptr: no interpreter is mapped there, as far as is known.
  PythonProcess* process(std::int32_t pid);
  // Another program, or none any more.
  void cleared(std::int32_t pid) { processes_.erase(pid); }
  void ended(std::int32_t pid, std::int32_t tid);
  [[nodiscard]] bool anybody() const;
  // What is asked from now on is as it is then.
  void forget();
  // Stacks whose functions of Python could not be read, since the last time.
  [[nodiscard]] std::uint64_t take_unread();
  // Stacks in which it is not certain which of them ran, since the last time.
  [[nodiscard]] std::uint64_t take_uncertain();

 private:
  struct Interpreter {
    std::optional<InterpreterFile> file;
    LoopPlaces places;
  };
  struct Process {
    std::uint64_t changes = 0;  // of its mappings, when they were looked at
    std::uint64_t bias = 0;
    std::unique_ptr<PythonProcess> python;
  };

  Interpreter& interpreter(const Module& module);
  void look(std::int32_t pid, const ProcessMaps::Space& space, Process& process);

  ProcessMaps& maps_;
  std::unordered_map<const Module*, std::unique_ptr<Interpreter>> interpreters_;
  std::unordered_map<std::int32_t, Process> processes_;
  std::uint64_t unread_ = 0;
  std::uint64_t uncertain_ = 0;
};

}  // namespace fathom::sources
