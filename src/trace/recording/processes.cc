// SPDX-License-Identifier: MIT
// Puts a process together from what it told itself, what its parent saw (exec, wait) and what the
// manifest knows. Programs that never attached are listed with a reason.
#include "trace/recording/processes.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "base/utf8.h"
#include "trace/recording/obstacle.h"
#include "wire/exec.h"

namespace fathom::trace {
namespace {

std::string shown(std::string_view text) {
  return is_valid_utf8(text) ? std::string(text) : escape_invalid_utf8(text);
}

// The moment at which the process stopped being this image, by its own words: 0 is unknown.
struct Ending {
  std::uint64_t tick = 0;
  std::int64_t exit = kNull;
  bool became_another = false;
};

// The last EXEC of the process itself, unless it failed.
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

// Who had a pid, and who waited for it: there may be very many processes.
class PidIndex {
 public:
  explicit PidIndex(const Definitions& definitions) {
    for (const auto& process : definitions.processes()) {
      images_[process->pid].push_back(process.get());
      for (const Note& note : process->notes) {
        const auto status = static_cast<int>(note.value);
        const bool ended =
            note.kind == NoteKind::kWaited && (WIFEXITED(status) || WIFSIGNALED(status));
        if (ended) waits_[note.pid].push_back(&note);
      }
    }
  }

  // What a covered parent saw: the first wait after the image began.
  [[nodiscard]] const Note* waited_for(std::int64_t pid, std::uint64_t start_tick) const {
    const auto waits = waits_.find(pid);
    const Note* best = nullptr;
    if (waits == waits_.end()) return nullptr;
    for (const Note* note : waits->second) {
      if (note->tick < start_tick) continue;
      if (best == nullptr || note->tick < best->tick) best = note;
    }
    return best;
  }

  [[nodiscard]] bool is_last_image(const Process& process) const {
    const auto& images = images_.at(process.pid);
    return std::none_of(images.begin(), images.end(), [&process](const Process* other) {
      return other->key != process.key && other->start_tick > process.start_tick;
    });
  }

  // Whether the program of an EXEC note came up with the library in it.
  [[nodiscard]] bool attached_after(const Process& teller, const Note& exec) const {
    const auto images = images_.find(exec.pid == 0 ? teller.pid : exec.pid);
    if (images == images_.end()) return false;
    // A spawned child may be up before its parent has written that it spawned it.
    const std::uint64_t from = exec.pid == 0 ? exec.tick : teller.start_tick;
    return std::any_of(images->second.begin(), images->second.end(), [&](const Process* image) {
      const bool program =
          image->attach == FATHOM_ATTACH_PRELOAD || image->attach == FATHOM_ATTACH_LATE;
      return image->attached && program && image->key != teller.key && image->start_tick >= from;
    });
  }

 private:
  std::unordered_map<std::int64_t, std::vector<const Process*>> images_;
  std::unordered_map<std::int64_t, std::vector<const Note*>> waits_;
};

void finish_row(const PidIndex& index, const Process& process, const Clock& clock,
                const KnownExits& exits, ProcessRow& row) {
  const Ending own = own_ending(process);
  if (own.tick != 0) row.end = clock.ns(own.tick);
  if (own.became_another || !index.is_last_image(process)) return;
  row.exit = own.exit;
  if (const Note* waited = index.waited_for(process.pid, process.start_tick)) {
    row.exit = exit_of_wait_status(waited->value);
    if (row.end == kNull) row.end = clock.ns(waited->tick);
  }
  const auto known = exits.find(process.pid);
  if (known != exits.end()) row.exit = known->second;
  if (row.end == kNull && process.last_tick != 0 && row.exit != kNull) {
    row.end = clock.ns(process.last_tick);
  }
}

// Facts that have no column of their own.
void further_facts(const Definitions& definitions, const Process& process, ProcessRow& row) {
  constexpr std::string_view kColumns[] = {"exe", "command", "rank", "container"};
  for (const auto& [key_id, value_id] : process.meta) {
    const std::string_view key = definitions.text(process, key_id);
    if (key.empty() ||
        std::find(std::begin(kColumns), std::end(kColumns), key) != std::end(kColumns))
      continue;
    row.meta.emplace_back(shown(key), shown(definitions.text(process, value_id)));
  }
  std::sort(row.meta.begin(), row.meta.end());
  row.meta.erase(std::unique(row.meta.begin(), row.meta.end(),
                             [](const auto& a, const auto& b) { return a.first == b.first; }),
                 row.meta.end());
}

bool pid_lives(std::int64_t pid) {
  return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
}

// A program that was started and never attached.
struct Stranger {
  const Process* teller;
  const Note* exec;
  std::int64_t pid;
  std::string program;  // path; "" where it is not known
  std::string reason;
};

// Why a program that was started never attached. What its parent saw when it started it comes
// first: its file may be another one by now, or lie in another root.
std::string reason_of(const Note& exec, const std::string& program, const std::string& library,
                      bool local) {
  const auto told = [&exec](unsigned flag) { return (exec.value & flag) != 0; };
  if (told(FATHOM_EXEC_OTHER_ROOT)) return "another root, which has no libfathom.so";
  if (told(FATHOM_EXEC_UNREADABLE)) return "another user, who may not read libfathom.so";
  if (told(FATHOM_EXEC_SMALL_STACK)) return std::string(kSmallStack);
  if (told(FATHOM_EXEC_FEW_ADDRESSES)) return std::string(kFewAddresses);
  std::string seen = local ? obstacle_of(program, library) : "";
  if (!seen.empty()) return seen;
  if (told(FATHOM_EXEC_OTHER_MACHINE)) return "another architecture";
  if (told(FATHOM_EXEC_OTHER_LIBC)) return "another libc";
  if (told(FATHOM_EXEC_STATIC)) return "static binary";
  if (told(FATHOM_EXEC_CONFINED)) return "started inside a sandbox (seccomp)";
  return told(FATHOM_EXEC_WITHOUT_LIBRARY) ? "environment cleared" : "";
}

std::vector<Stranger> strangers(Definitions& definitions, const PidIndex& index,
                                const std::string& library) {
  std::vector<Stranger> found;
  for (const auto& process : definitions.processes()) {
    const Note* own = own_exec(*process);
    for (const Note& note : process->notes) {
      if (note.kind != NoteKind::kExec || (note.pid == 0 && &note != own)) continue;
      if (index.attached_after(*process, note)) continue;
      bool known = false;
      const std::uint32_t file = definitions.file(*process, note.path, known);
      const std::int64_t pid = note.pid == 0 ? process->pid : note.pid;
      const std::string program(definitions.strings().view(file));
      std::string reason = reason_of(note, program, library, definitions.local());
      if (reason.empty() && pid_lives(pid)) continue;  // it may be about to
      if (reason.empty() && (note.value & FATHOM_EXEC_ANOTHER_USER) != 0)
        reason = "another user, who may not write to the recording";
      if (reason.empty()) reason = "ended before it attached";
      found.push_back({process.get(), &note, pid, program, std::move(reason)});
    }
  }
  return found;
}

// What others know of a program that told nothing itself: of its arguments, nothing.
ProcessRow row_of(const Stranger& stranger, const PidIndex& index, const Clock& clock,
                  const KnownExits& exits) {
  ProcessRow row;
  row.pid = stranger.pid;
  row.ppid = stranger.exec->pid == 0 ? stranger.teller->ppid : stranger.teller->pid;
  row.name = shown(base_name(stranger.program));
  row.command = shown(stranger.program);
  row.start = clock.ns(stranger.exec->tick);
  if (const Note* waited = index.waited_for(stranger.pid, stranger.exec->tick)) {
    row.exit = exit_of_wait_status(waited->value);
    row.end = clock.ns(waited->tick);
  }
  const auto known = exits.find(stranger.pid);
  if (known != exits.end()) row.exit = known->second;
  return row;
}

}  // namespace

std::int64_t exit_of_wait_status(std::int64_t status) {
  const auto word = static_cast<int>(status);
  return WIFSIGNALED(word) ? 128 + WTERMSIG(word) : WEXITSTATUS(word);
}

KnownExits known_exits(const Manifest& manifest) {
  if (!manifest.pid || !manifest.exit_status) return {};
  return {{*manifest.pid, *manifest.exit_status}};
}

std::vector<ProcessRow> process_rows(Definitions& definitions, const Clock& clock,
                                     const KnownExits& exits, const std::string& host) {
  std::vector<ProcessRow> rows;
  const PidIndex index(definitions);
  for (const auto& process : definitions.processes()) {
    ProcessRow row;
    row.host = host;
    row.pid = process->pid;
    if (process->attached) {
      row.ppid = process->ppid;
      row.start = clock.ns(process->start_tick);
    } else if (process->first_tick != UINT64_MAX) {
      row.start = clock.ns(process->first_tick);
    }
    row.name = shown(base_name(definitions.meta(*process, "exe")));
    row.command = shown(definitions.meta(*process, "command"));
    row.container = shown(definitions.meta(*process, "container"));
    const std::int32_t rank = definitions.rank(*process);
    row.rank = rank == kNull32 ? kNull : rank;
    further_facts(definitions, *process, row);
    finish_row(index, *process, clock, exits, row);
    rows.push_back(std::move(row));
  }
  for (const Stranger& stranger : strangers(definitions, index, "")) {
    rows.push_back(row_of(stranger, index, clock, exits));
    rows.back().host = host;
  }
  std::sort(rows.begin(), rows.end(), [](const ProcessRow& a, const ProcessRow& b) {
    return std::tie(a.start, a.pid) < std::tie(b.start, b.pid);
  });
  return rows;
}

void add_program(const Manifest& manifest, std::int64_t recorder, std::vector<ProcessRow>& rows) {
  if (!manifest.pid || !manifest.duration_ns || manifest.command.empty()) return;
  const auto is_it = [&](const ProcessRow& row) { return row.pid == *manifest.pid; };
  if (std::any_of(rows.begin(), rows.end(), is_it)) return;
  ProcessRow row;
  row.host = manifest.host.hostname;
  row.pid = *manifest.pid;
  row.ppid = recorder;
  row.name = base_name(manifest.command[0]);
  row.command = join(manifest.command, " ");
  row.start = 0;  // the run begins with it
  row.end = *manifest.duration_ns;
  row.exit = manifest.exit_status.value_or(kNull);
  rows.insert(rows.begin(), std::move(row));
}

void add_seen_from_outside(const std::vector<ProcessRow>& seen, const std::string& host,
                           std::vector<ProcessRow>& rows) {
  std::set<std::int64_t> known;
  for (const ProcessRow& row : rows) known.insert(row.pid);
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> places;
  for (const ProcessRow& row : seen) {
    if (known.contains(row.pid)) continue;
    const auto [place, is_new] = places.try_emplace({row.pid, row.start}, rows.size());
    if (is_new) rows.emplace_back();
    rows[place->second] = row;
    rows[place->second].host = host;
  }
}

bool has_process(const Definitions& definitions, std::int64_t pid) {
  return std::any_of(
      definitions.processes().begin(), definitions.processes().end(),
      [pid](const auto& process) { return process->attached && process->pid == pid; });
}

std::vector<ThreadRow> thread_rows(Definitions& definitions, const Clock& clock,
                                   const std::string& host) {
  std::vector<ThreadRow> rows;
  for (const auto& process : definitions.processes()) {
    const Ending ending = own_ending(*process);
    for (const auto& [ordinal, facts] : process->threads) {
      ThreadRow row;
      row.host = host;
      row.pid = process->pid;
      row.tid = facts.tid;
      row.name = shown(definitions.text(*process, facts.name));
      if (row.name.empty() && ordinal == 0)
        row.name = shown(base_name(definitions.meta(*process, "exe")));
      row.start = clock.ns(facts.first_tick);
      const std::uint64_t end = facts.end_tick != 0 ? facts.end_tick : ending.tick;
      if (end != 0) row.end = clock.ns(end);
      const std::int32_t rank = definitions.rank(*process);
      row.rank = rank == kNull32 ? kNull : rank;
      row.container = shown(definitions.meta(*process, "container"));
      rows.push_back(std::move(row));
    }
  }
  std::sort(rows.begin(), rows.end(), [](const ThreadRow& a, const ThreadRow& b) {
    return std::tie(a.pid, a.start, a.tid) < std::tie(b.pid, b.start, b.tid);
  });
  return rows;
}

std::vector<NotCovered> not_covered(Definitions& definitions, const std::string& library) {
  std::vector<NotCovered> rows;
  const PidIndex index(definitions);
  for (const Stranger& stranger : strangers(definitions, index, library))
    rows.push_back({stranger.pid,
                    stranger.program.empty() ? "a program without a name" : stranger.program,
                    stranger.reason});
  return rows;
}

bool ended_in_order(const Process& process) { return own_ending(process).tick != 0; }

}  // namespace fathom::trace
