// SPDX-License-Identifier: MIT
// Processes by their numbers. One of another pid namespace tells numbers of that namespace, of its
// children and of its parent; all that is told of one process is brought together here.
#include "trace/recording/pid_index.h"

#include <sys/wait.h>

#include <algorithm>

#include "wire/record.h"

namespace fathom::trace {
namespace {

constexpr unsigned kPidBits = 32;

PidIndex::Address address_in(std::uint32_t space, std::int64_t number) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(space) << kPidBits) + number;
}

const PidIndex::Notes& notes_of(const std::unordered_map<PidIndex::Address, PidIndex::Notes>& notes,
                                PidIndex::Address address) {
  static const PidIndex::Notes none;
  const auto found = notes.find(address);
  return found == notes.end() ? none : found->second;
}

void sort_by_start(PidIndex::Images& images) {
  std::stable_sort(images.begin(), images.end(), [](const Process* a, const Process* b) {
    return first_tick_of(*a) < first_tick_of(*b);
  });
}

// The last one that began until then, else the first.
const Process* latest(const PidIndex::Images& images, std::uint64_t tick) {
  const auto later = std::upper_bound(
      images.begin(), images.end(), tick,
      [](std::uint64_t moment, const Process* image) { return moment < first_tick_of(*image); });
  return later == images.begin() ? images.front() : *(later - 1);
}

}  // namespace

std::uint64_t first_tick_of(const Process& process) {
  return process.attached ? process.start_tick : process.first_tick;
}

bool is_program(const Process& process) {
  return process.attach == FATHOM_ATTACH_PRELOAD || process.attach == FATHOM_ATTACH_LATE;
}

const Note* first_between(const PidIndex::Notes& notes, std::uint64_t since, std::uint64_t until) {
  const Note* best = nullptr;
  for (const Note* note : notes) {
    if (note->tick < since || note->tick >= until) continue;
    if (best == nullptr || note->tick < best->tick) best = note;
  }
  return best;
}

std::int64_t exit_of_wait_status(std::int64_t status) {
  const auto word = static_cast<int>(status);
  return WIFSIGNALED(word) ? 128 + WTERMSIG(word) : WEXITSTATUS(word);
}

PidIndex::PidIndex(const Definitions& definitions) : definitions_(&definitions) {
  for (const auto& process : definitions.processes()) {
    const InnerPid inner = definitions.inner_pid(*process);
    if (inner.number == 0) continue;
    inner_[process.get()] = inner;
    by_inner_[address_in(inner.space, inner.number)].push_back(process.get());
    if (process->parent_key != 0) beneath_[process->parent_key].push_back(process.get());
  }
  for (const auto& process : definitions.processes())
    images_[address(*process)].push_back(process.get());
  for (auto& [address, images] : by_inner_) sort_by_start(images);
  for (auto& [address, images] : images_) {
    sort_by_start(images);
    if (!inner_.empty()) find_parents(images);
  }
  for (const auto& process : definitions.processes()) add_notes(*process);
}

void PidIndex::add_notes(const Process& process) {
  for (const Note& note : process.notes) {
    const auto status = static_cast<int>(note.value);
    if (note.kind == NoteKind::kWaited && (WIFEXITED(status) || WIFSIGNALED(status)))
      waits_[meant(process, note)].push_back(&note);
    if (note.kind == NoteKind::kExec && note.pid != 0)
      spawns_[meant(process, note)].push_back(&note);
  }
}

InnerPid PidIndex::inner(const Process& process) const {
  const auto found = inner_.find(&process);
  return found == inner_.end() ? InnerPid() : found->second;
}

PidIndex::Address PidIndex::address(const Process& process) const {
  const InnerPid inner = this->inner(process);
  const bool is_number_of_run = inner.number == 0 || inner.number != process.pid;
  return is_number_of_run ? process.pid : address_in(inner.space, process.pid);
}

const Process* PidIndex::find_inner(std::uint32_t space, std::int64_t number,
                                    std::uint64_t tick) const {
  const auto found = by_inner_.find(address_in(space, number));
  return found == by_inner_.end() ? nullptr : latest(found->second, tick);
}

// A child in a namespace beneath its parent's has a number there that nobody told. If only one may
// be meant, it is.
const Process* PidIndex::child_beneath(const Process& teller, std::uint64_t tick) const {
  const auto children = beneath_.find(teller.key);
  if (children == beneath_.end()) return nullptr;
  const std::uint32_t space = inner(teller).space;
  const Process* only = nullptr;
  for (const Process* child : children->second) {
    if (inner(*child).space == space || first_tick_of(*child) > tick) continue;
    if (only != nullptr) return nullptr;
    only = child;
  }
  return only;
}

PidIndex::Address PidIndex::meant(const Process& teller, const Note& note) const {
  const InnerPid own = inner(teller);
  if (own.number == 0) return note.pid;
  if (const Process* known = find_inner(own.space, note.pid, note.tick)) return address(*known);
  if (const Process* child = child_beneath(teller, note.tick)) return address(*child);
  return address_in(own.space, note.pid);
}

// Who forked it; else by the number that it told; else as of the image that it was before. The
// first process of a namespace tells 0, since its parent is outside.
void PidIndex::find_parents(const Images& images) {
  std::int64_t before = kNull;
  for (const Process* image : images) {
    const InnerPid own = inner(*image);
    if (own.number == 0) continue;
    const Process* parent = definitions_->find(image->parent_key);
    if (parent == nullptr && image->ppid != 0)
      parent = find_inner(own.space, image->ppid, first_tick_of(*image));
    if (parent != nullptr && parent != image) {
      before = parent->pid;
    } else if (!is_program(*image)) {
      before = kNull;
    }
    parents_[image] = before;
  }
}

std::int64_t PidIndex::parent_pid(const Process& process) const {
  const auto found = parents_.find(&process);
  if (found != parents_.end()) return found->second;
  return process.attached ? process.ppid : kNull;
}

const PidIndex::Notes& PidIndex::waits(Address address) const { return notes_of(waits_, address); }

const PidIndex::Notes& PidIndex::spawns(Address address) const {
  return notes_of(spawns_, address);
}

const Note* PidIndex::waited_for(Address address, std::uint64_t since) const {
  return first_between(waits(address), since, UINT64_MAX);
}

bool PidIndex::attached_after(const Process& teller, const Note& exec) const {
  const auto images = images_.find(exec.pid == 0 ? address(teller) : meant(teller, exec));
  if (images == images_.end()) return false;
  // A spawned child may be up before its parent has written that it spawned it.
  const std::uint64_t from = exec.pid == 0 ? exec.tick : teller.start_tick;
  return std::any_of(images->second.begin(), images->second.end(), [&](const Process* image) {
    return image->attached && is_program(*image) && image->key != teller.key &&
           image->start_tick >= from;
  });
}

}  // namespace fathom::trace
