// SPDX-License-Identifier: MIT
// Which processes run Python is told by what they map: an interpreter is a file with certain
// symbols. Each file is looked into once, whichever process has it; a process is looked at again
// only when its mappings have changed, for each of its samples asks.
#include "sources/perf/python/python_frames.h"

#include <algorithm>
#include <utility>

#include "sources/perf/unwind_tables.h"

namespace fathom::sources {

PythonFrames::Interpreter& PythonFrames::interpreter(const Module& module) {
  std::unique_ptr<Interpreter>& known = interpreters_[&module];
  if (known) return *known;
  known = std::make_unique<Interpreter>();
  if (!InterpreterFile::may_be(module.path)) return *known;
  const Result<symbols::ElfFile> file = open_code(module);
  if (file) known->file = InterpreterFile::of(*file);
  return *known;
}

void PythonFrames::look(std::int32_t pid, const ProcessMaps::Space& space, Process& process) {
  process.changes = space.changes;
  if (process.python) return;
  for (auto at = space.regions.next(0); at; at = space.regions.next(at->end)) {
    const ProcessMaps::Region& region = *at->value;
    Interpreter& found = interpreter(*region.module);
    const std::optional<std::uint64_t> bias =
        found.file ? found.file->bias(region) : std::optional<std::uint64_t>();
    if (!bias) continue;
    process.python = std::make_unique<PythonProcess>(pid, *found.file, *bias, found.places);
    return;
  }
}

PythonProcess* PythonFrames::process(std::int32_t pid) {
  const ProcessMaps::Space* space = maps_.space(pid);
  if (space == nullptr) return nullptr;
  Process& process = processes_[pid];
  if (process.changes != space->changes) look(pid, *space, process);
  return process.python.get();
}

bool PythonFrames::anybody() const {
  return std::ranges::any_of(processes_,
                             [](const auto& one) { return one.second.python != nullptr; });
}

void PythonFrames::ended(std::int32_t pid, std::int32_t tid) {
  const auto found = processes_.find(pid);
  if (found != processes_.end() && found->second.python) found->second.python->ended(tid);
}

void PythonFrames::forget() {
  for (auto& [pid, process] : processes_) {
    if (!process.python) continue;
    unread_ += process.python->take_unread();
    uncertain_ += process.python->take_uncertain();
    process.python->forget();
  }
}

std::uint64_t PythonFrames::take_unread() {
  forget();
  return std::exchange(unread_, 0);
}

std::uint64_t PythonFrames::take_uncertain() {
  forget();
  return std::exchange(uncertain_, 0);
}

}  // namespace fathom::sources
