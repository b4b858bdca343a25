// SPDX-License-Identifier: MIT
// Puts a process together from what it told itself, what its parent saw (exec, wait) and what the
// manifest knows. Programs that never attached are listed with a reason.
#include "trace/recording/processes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/files.h"
#include "base/sum.h"
#include "base/text.h"
#include "base/utf8.h"
#include "trace/recording/obstacle.h"
#include "wire/exec.h"

namespace fathom::trace {
namespace {

std::string shown(std::string_view text) {
  return is_valid_utf8(text) ? std::string(text) : escape_invalid_utf8(text);
}

// Facts that have no column of their own.
void further_facts(const Definitions& definitions, const Process& process, ProcessRow& row) {
  constexpr std::string_view kColumns[] = {"exe", "command", "rank", "container",
                                           FATHOM_META_NSPID};
  for (const auto& [key_id, value_id] : process.meta) {
    const std::string_view key = definitions.text(process, key_id);
    if (key.empty() || key == FATHOM_META_KERNEL_IO || key.starts_with(FATHOM_META_UNSEEN) ||
        std::find(std::begin(kColumns), std::end(kColumns), key) != std::end(kColumns))
      continue;
    row.meta.emplace_back(shown(key), shown(definitions.text(process, value_id)));
  }
  std::sort(row.meta.begin(), row.meta.end());
  row.meta.erase(std::unique(row.meta.begin(), row.meta.end(),
                             [](const auto& a, const auto& b) { return a.first == b.first; }),
                 row.meta.end());
}

std::int64_t number_or_null(const InnerPid& inner) {
  return inner.number == 0 ? kNull : inner.number;
}

bool pid_lives(std::int64_t pid) {
  return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
}

// A program that was started and never attached.
struct Stranger {
  const Process* teller;
  const Note* exec;
  PidIndex::Address address;
  std::string program;  // path; "" where it is not known
  std::string reason;
};

// Why a program that was started never attached. What its parent saw when it started it comes
// first: its file may be another one by now, or lie in another root.
std::string reason_of(const Note& exec, const std::string& program, const std::string& library,
                      bool local) {
  const auto told = [&exec](unsigned flag) { return (exec.value & flag) != 0; };
  // In this order: the first that holds explains it alone, and what was seen at the time comes
  // before what a file looks like now.
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
  if (told(FATHOM_EXEC_OTHER_RUN)) return "part of another recording (FATHOM_OUT)";
  return told(FATHOM_EXEC_WITHOUT_LIBRARY) ? "environment cleared" : "";
}

// It may be about to. Of one that is known by a number of another namespace its teller is asked.
bool may_attach(const Stranger& one) {
  const bool is_known = one.address <= INT32_MAX;
  return pid_lives(is_known ? one.address : one.teller->pid);
}

std::vector<Stranger> strangers(const Population& all, const std::string& library) {
  std::vector<Stranger> found;
  Definitions& definitions = *all.definitions;
  for (const auto& process : definitions.processes()) {
    const Note* own = own_exec(*process);
    for (const Note& note : process->notes) {
      if (note.kind != NoteKind::kExec || (note.pid == 0 && &note != own)) continue;
      if (all.index.attached_after(*process, note)) continue;
      bool known = false;
      const std::uint32_t file = definitions.file(*process, note.path, known);
      Stranger one{process.get(), &note,
                   note.pid == 0 ? all.index.address(*process) : all.index.meant(*process, note),
                   std::string(definitions.strings().view(file)), ""};
      one.reason = reason_of(note, one.program, library, definitions.local());
      // Its library may be at work at this moment: not yet a gap.
      if (one.reason.empty() && may_attach(one)) continue;
      if (one.reason.empty() && (note.value & FATHOM_EXEC_ANOTHER_USER) != 0)
        one.reason = "another user, who may not write to the recording";
      if (one.reason.empty()) one.reason = "ended before it attached";
      found.push_back(std::move(one));
    }
  }
  return found;
}

std::int64_t pid_of(PidIndex::Address address) { return address & UINT32_MAX; }

// What others know of a program that told nothing itself: of its arguments, nothing.
ProcessRow row_of(const Stranger& stranger, const Population& all) {
  ProcessRow row;
  row.pid = pid_of(stranger.address);
  row.ppid =
      stranger.exec->pid == 0 ? all.index.parent_pid(*stranger.teller) : stranger.teller->pid;
  row.name = shown(base_name(stranger.program));
  row.command = shown(stranger.program);
  row.start = all.clock->ns(stranger.exec->tick);
  if (stranger.exec->pid == 0) {  // it is what the teller became
    const Lifespan& before = all.lives.of(*stranger.teller);
    row.image = before.image + 1;
    if (before.end != kNull) row.start = plus(before.end, 1);
    row.nspid = number_or_null(all.index.inner(*stranger.teller));
  } else if (stranger.address > INT32_MAX) {
    row.nspid = row.pid;
  }
  if (const Note* waited = all.index.waited_for(stranger.address, stranger.exec->tick)) {
    row.exit = exit_of_wait_status(waited->value);
    row.end = all.clock->ns(waited->tick);
  }
  const auto known = all.exits.find(stranger.address);
  if (known != all.exits.end() && known->second != kNull) row.exit = known->second;
  return row;
}

void add_texts(Definitions& definitions, Process& process, ProcessRow& row) {
  row.name = shown(base_name(definitions.meta(process, "exe")));
  row.command = shown(definitions.meta(process, "command"));
  row.container = shown(definitions.meta(process, "container"));
  const std::int32_t rank = definitions.rank(process);
  row.rank = rank == kNull32 ? kNull : rank;
  further_facts(definitions, process, row);
}

}  // namespace

void sort_threads(std::vector<ThreadRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const ThreadRow& a, const ThreadRow& b) {
    return std::tie(a.pid, a.start, a.tid) < std::tie(b.pid, b.start, b.tid);
  });
}

KnownExits known_exits(const Manifest& manifest) {
  if (!manifest.pid) return {};
  return {{*manifest.pid, manifest.exit_status.value_or(kNull)}};
}

std::vector<ProcessRow> process_rows(const Population& all, const std::string& host,
                                     Detail detail) {
  std::vector<ProcessRow> rows;
  for (const auto& process : all.definitions->processes()) {
    const Lifespan& life = all.lives.of(*process);
    ProcessRow row;
    row.pid = process->pid;
    row.ppid = all.index.parent_pid(*process);
    row.nspid = number_or_null(all.index.inner(*process));
    row.start = life.start;
    row.end = life.end;
    row.exit = life.exit;
    row.image = life.image;
    row.process = process->key;
    if (detail == Detail::kWhole) add_texts(*all.definitions, *process, row);
    rows.push_back(std::move(row));
  }
  for (const Stranger& stranger : strangers(all, "")) rows.push_back(row_of(stranger, all));
  for (ProcessRow& row : rows) row.host = host;
  std::sort(rows.begin(), rows.end(), [](const ProcessRow& a, const ProcessRow& b) {
    return std::tie(a.start, a.pid) < std::tie(b.start, b.pid);
  });
  return rows;
}

namespace {

// What is known of the program though only others saw it: it may be over before they can look.
void complete_program(const Manifest& manifest, std::int64_t recorder,
                      std::span<ProcessRow* const> images) {
  ProcessRow& first = *images.front();
  first.start = 0;  // the run begins with it
  if (first.ppid == kNull) first.ppid = recorder;
  if (first.command.empty()) first.command = join(manifest.command, " ");
  ProcessRow& last = *images.back();
  if (last.exit == kNull) last.exit = manifest.exit_status.value_or(kNull);
}

}  // namespace

// The run's own program is listed in any case, also if the library could not enter it.
void add_program(const Manifest& manifest, std::int64_t recorder, std::vector<ProcessRow>& rows) {
  if (!manifest.pid || !manifest.duration_ns || manifest.command.empty()) return;
  std::vector<ProcessRow*> images;
  for (ProcessRow& row : rows) {
    if (row.pid == *manifest.pid) images.push_back(&row);
  }
  std::ranges::sort(images, {}, [](const ProcessRow* row) { return row->start; });
  const bool told =
      std::ranges::any_of(images, [](const ProcessRow* row) { return row->process != 0; });
  if (told) return;
  if (!images.empty()) return complete_program(manifest, recorder, images);
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

bool has_process(const Definitions& definitions, std::int64_t pid) {
  return std::any_of(
      definitions.processes().begin(), definitions.processes().end(),
      [pid](const auto& process) { return process->attached && process->pid == pid; });
}

std::vector<ThreadRow> thread_rows(const Population& all, const std::string& host) {
  std::vector<ThreadRow> rows;
  Definitions& definitions = *all.definitions;
  for (const auto& process : definitions.processes()) {
    const Lifespan& life = all.lives.of(*process);
    for (const auto& [ordinal, facts] : process->threads) {
      ThreadRow row;
      row.host = host;
      row.pid = process->pid;
      row.tid = facts.tid;
      row.name = shown(definitions.text(*process, facts.name));
      if (row.name.empty() && ordinal == 0)
        row.name = shown(base_name(definitions.meta(*process, "exe")));
      row.start = ordinal == 0 ? life.start : all.clock->ns(facts.first_tick);
      // Destructors behind ours may have called something.
      const std::uint64_t end = std::max(facts.end_tick, facts.last_tick);
      row.end = facts.end_tick != 0 ? all.clock->ns(end) : life.end;
      const std::int32_t rank = definitions.rank(*process);
      row.rank = rank == kNull32 ? kNull : rank;
      row.container = shown(definitions.meta(*process, "container"));
      rows.push_back(std::move(row));
    }
  }
  sort_threads(rows);
  return rows;
}

std::vector<NotCovered> not_covered(const Population& all, const std::string& library) {
  std::vector<NotCovered> rows;
  for (const Stranger& stranger : strangers(all, library))
    rows.push_back({pid_of(stranger.address),
                    stranger.program.empty() ? "a program without a name" : stranger.program,
                    stranger.reason, ""});
  return rows;
}

}  // namespace fathom::trace
