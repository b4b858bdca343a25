// SPDX-License-Identifier: MIT
// A pid is had by one program image after the other: a process execs, or ends and its number is
// given away again. Each image lasts until the next one begins, so that a moment and a pid name one
// image, and an event joins one row of `processes`.
#include "trace/recording/lifespans.h"

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

Lifespans::Lifespans(const PidIndex& index, const Clock& clock, const KnownExits& exits)
    : index_(&index) {
  for (const auto& [address, images] : index.images()) tell(images, clock, exits);
}

// The parent's word for when it started a program: the loader has worked since then.
const Note* Lifespans::started_by_parent(const Process& process, const Process* before) const {
  if (!is_program(process)) return nullptr;
  const std::uint64_t since = before == nullptr ? 0 : before->last_tick;
  return first_between(index_->spawns(index_->address(process)), since, first_tick_of(process));
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
    const Note* waited =
        first_between(index_->waits(index_->address(process)), first_tick_of(process), until);
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
    const auto known = exits.find(index_->address(process));
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
