// SPDX-License-Identifier: MIT
// A pid is had by one program image after the other: a process execs, or ends and its number is
// given away again. Each image lasts until the next one begins, so that a moment and a pid name one
// image, and an event joins one row of `processes`.
#include "trace/recording/lifespans.h"

#include <sys/wait.h>

#include <algorithm>

#include "base/sum.h"
#include "wire/record.h"

namespace fathom::trace {
namespace {

// The moment at which the process stopped being this image, by its own words: 0 is unknown.
struct Ending {
  std::uint64_t tick = 0;
  std::int64_t exit = kNull;
  bool became_another = false;
};

Ending own_ending(const Process& process) {
  Ending ending;
  if (const Note* exec = own_exec(process)) {
    ending.tick = exec->tick;
    ending.became_another = true;
  }
  for (const Note& note : process.notes) {
    if (note.kind != NoteKind::kProcessEnd || note.tick < ending.tick) continue;
    ending = {note.tick, note.known ? note.value : kNull, false};
  }
  return ending;
}

std::uint64_t first_tick_of(const Process& process) {
  return process.attached ? process.start_tick : process.first_tick;
}

// A program that was loaded, in contrast to a copy of one.
bool is_program(const Process& process) {
  return process.attach == FATHOM_ATTACH_PRELOAD || process.attach == FATHOM_ATTACH_LATE;
}

// The first of them from `since` on, and before `until`.
const Note* first_between(const PidIndex::Notes& notes, std::uint64_t since, std::uint64_t until) {
  const Note* best = nullptr;
  for (const Note* note : notes) {
    if (note->tick < since || note->tick >= until) continue;
    if (best == nullptr || note->tick < best->tick) best = note;
  }
  return best;
}

const PidIndex::Notes& notes_of(const std::unordered_map<std::int64_t, PidIndex::Notes>& notes,
                                std::int64_t pid) {
  static const PidIndex::Notes none;
  const auto found = notes.find(pid);
  return found == notes.end() ? none : found->second;
}

}  // namespace

const Note* own_exec(const Process& process) {
  const Note* exec = nullptr;
  for (const Note& note : process.notes) {
    if (note.kind == NoteKind::kExec && note.pid == 0 &&
        (exec == nullptr || note.tick > exec->tick))
      exec = &note;
  }
  if (exec == nullptr) return nullptr;
  const bool failed =
      std::any_of(process.notes.begin(), process.notes.end(), [exec](const Note& note) {
        return note.kind == NoteKind::kExecFailed && note.tick >= exec->tick &&
               note.thread == exec->thread;
      });
  return failed ? nullptr : exec;
}

std::uint64_t last_tick_of(const Definitions& definitions) {
  std::uint64_t last = 0;
  for (const auto& process : definitions.processes()) {
    last = std::max(last, process->last_tick);
    for (const Note& note : process->notes) last = std::max(last, note.tick);
    for (const auto& [ordinal, thread] : process->threads) last = std::max(last, thread.end_tick);
  }
  return last;
}

bool ended_in_order(const Process& process) { return own_ending(process).tick != 0; }

std::int64_t exit_of_wait_status(std::int64_t status) {
  const auto word = static_cast<int>(status);
  return WIFSIGNALED(word) ? 128 + WTERMSIG(word) : WEXITSTATUS(word);
}

PidIndex::PidIndex(const Definitions& definitions) {
  for (const auto& process : definitions.processes()) {
    images_[process->pid].push_back(process.get());
    for (const Note& note : process->notes) {
      const auto status = static_cast<int>(note.value);
      if (note.kind == NoteKind::kWaited && (WIFEXITED(status) || WIFSIGNALED(status)))
        waits_[note.pid].push_back(&note);
      if (note.kind == NoteKind::kExec && note.pid != 0) spawns_[note.pid].push_back(&note);
    }
  }
  for (auto& [pid, images] : images_) {
    std::stable_sort(images.begin(), images.end(), [](const Process* a, const Process* b) {
      return first_tick_of(*a) < first_tick_of(*b);
    });
  }
}

const PidIndex::Notes& PidIndex::waits(std::int64_t pid) const { return notes_of(waits_, pid); }

const PidIndex::Notes& PidIndex::spawns(std::int64_t pid) const { return notes_of(spawns_, pid); }

const Note* PidIndex::waited_for(std::int64_t pid, std::uint64_t since) const {
  return first_between(waits(pid), since, UINT64_MAX);
}

bool PidIndex::attached_after(const Process& teller, const Note& exec) const {
  const auto images = images_.find(exec.pid == 0 ? teller.pid : exec.pid);
  if (images == images_.end()) return false;
  // A spawned child may be up before its parent has written that it spawned it.
  const std::uint64_t from = exec.pid == 0 ? exec.tick : teller.start_tick;
  return std::any_of(images->second.begin(), images->second.end(), [&](const Process* image) {
    return image->attached && is_program(*image) && image->key != teller.key &&
           image->start_tick >= from;
  });
}

Lifespans::Lifespans(const PidIndex& index, const Clock& clock, const KnownExits& exits)
    : index_(&index) {
  for (const auto& [pid, images] : index.images()) tell(images, clock, exits);
}

// The parent's word for when it started a program: the loader has worked since then.
const Note* Lifespans::started_by_parent(const Process& process, const Process* before) const {
  if (!is_program(process)) return nullptr;
  const std::uint64_t since = before == nullptr ? 0 : before->last_tick;
  return first_between(index_->spawns(process.pid), since, first_tick_of(process));
}

Lifespan Lifespans::begun(const Process& process, const Process* before, const Clock& clock) const {
  Lifespan life;
  if (first_tick_of(process) != UINT64_MAX) life.start = clock.ns(first_tick_of(process));
  if (const Note* spawn = started_by_parent(process, before)) life.start = clock.ns(spawn->tick);
  if (before == nullptr) return life;
  const Lifespan& last = lives_.at(before);
  const bool ended = last.end != kNull && !own_ending(*before).became_another;
  if (is_program(process) && !ended) {  // an exec, whether it was told or not
    life.image = last.image + 1;
    if (last.end != kNull) life.start = last.end;
  }
  if (last.end != kNull && life.start <= last.end) life.start = plus(last.end, 1);
  return life;
}

// `until`: when the next image of this pid attached.
void Lifespans::end(const Process& process, std::uint64_t until, const Clock& clock,
                    Lifespan& life) const {
  const Ending own = own_ending(process);
  std::uint64_t tick = own.tick;
  if (!own.became_another) {
    life.exit = own.exit;
    const Note* waited = first_between(index_->waits(process.pid), first_tick_of(process), until);
    if (waited != nullptr) {
      life.exit = exit_of_wait_status(waited->value);
      if (tick == 0) tick = waited->tick;
    }
  }
  if (tick == 0) return;
  // Other threads, and destructors behind ours, may have gone on for a little.
  tick = std::max(tick, process.last_tick);
  if (until != UINT64_MAX) tick = std::min(tick, until - 1);
  life.end = clock.ns(tick);
}

void Lifespans::tell(const PidIndex::Images& images, const Clock& clock, const KnownExits& exits) {
  for (std::size_t i = 0; i < images.size(); i++) {
    const Process& process = *images[i];
    const bool last = i + 1 == images.size();
    Lifespan life = begun(process, i == 0 ? nullptr : images[i - 1], clock);
    end(process, last ? UINT64_MAX : first_tick_of(*images[i + 1]), clock, life);
    const auto known = exits.find(process.pid);
    if (known != exits.end()) {
      if (i == 0) life.start = 0;  // the run begins with it
      if (last && known->second != kNull) life.exit = known->second;
    }
    if (last && life.end == kNull && life.exit != kNull && process.last_tick != 0)
      life.end = clock.ns(process.last_tick);
    lives_[&process] = life;
  }
  // An image of which nobody saw the end lasted until the next one at the most.
  for (std::size_t i = 0; i + 1 < images.size(); i++) {
    Lifespan& life = lives_[images[i]];
    const std::int64_t next = lives_[images[i + 1]].start;
    if (life.end == kNull && next != kNull) life.end = next - 1;
  }
}

}  // namespace fathom::trace
