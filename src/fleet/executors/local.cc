// SPDX-License-Identifier: MIT
// Each work has a worker with a session of its own: ending the group ends all of it, and Ctrl-C
// reaches us alone, who then cancel.
#include "fleet/executors/local.h"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "base/clock.h"
#include "fleet/executors/spawn.h"
#include "fleet/executors/work_place.h"

namespace fathom::fleet {
namespace {

// It stays until it is waited for, so that its number is nobody else's yet.
bool has_ended(pid_t pid) {
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == pid;
}

// Ends whatever is left of a worker's group, and takes the worker's status.
int end_group(pid_t worker) {
  kill(-worker, SIGKILL);
  int status = 0;
  while (waitpid(worker, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string why_lost(int status) {
  if (WIFSIGNALED(status))
    return "its worker was killed by signal " + std::to_string(WTERMSIG(status));
  return "its worker ended without a result";
}

}  // namespace

LocalExecutor::LocalExecutor(std::string fathom, std::size_t at_once)
    : fathom_(std::move(fathom)), at_once_(at_once) {}

LocalExecutor::~LocalExecutor() {
  for (auto& [id, entry] : entries_) {
    if (entry.worker != 0) end_group(entry.worker);
  }
}

Status LocalExecutor::submit(const std::vector<Work>& works,
                             const std::vector<std::string>& /*after*/) {
  for (const Work& work : works) FATHOM_TRY(prepare_place(work));
  for (const Work& work : works) {
    entries_[work.id].place = work.place;
    entries_[work.id].grace_ns = work.grace_ns;
    waiting_.push_back(work.id);
  }
  return {};
}

void LocalExecutor::start_next() {
  while (running_ < at_once_ && !waiting_.empty()) {
    Entry& entry = entries_[waiting_.front()];
    waiting_.pop_front();
    const Result<pid_t> worker =
        spawn({words_of_worker(fathom_, entry.place), -1, -1, /*own_session=*/true});
    if (!worker) {
      entry.state = {WorkPhase::kLost, {}, "", worker.error().message};
      continue;
    }
    entry.worker = *worker;
    entry.state.phase = WorkPhase::kRunning;
    ++running_;
  }
}

void LocalExecutor::look_at(Entry& entry) {
  if (entry.worker == 0 || !has_ended(entry.worker)) return;
  const int status = end_group(entry.worker);
  entry.worker = 0;
  --running_;
  entry.state.outcome = read_outcome(entry.place);
  if (entry.state.outcome) {
    entry.state.phase = WorkPhase::kEnded;
    entry.state.host = entry.state.outcome->host;
  } else {
    entry.state.phase = WorkPhase::kLost;
    entry.state.why = why_lost(status);
  }
}

Result<std::map<std::string, WorkState>> LocalExecutor::states() {
  for (auto& [id, entry] : entries_) look_at(entry);
  start_next();
  std::map<std::string, WorkState> states;
  for (const auto& [id, entry] : entries_) states[id] = entry.state;
  return states;
}

// Politely at first, and every second again: the program may have something to put away.
Status LocalExecutor::cancel(const std::string& id) {
  std::erase(waiting_, id);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return {};
  Entry& entry = found->second;
  if (entry.worker != 0) {
    constexpr std::int64_t kAgain = 1'000'000'000;
    const std::int64_t until = now_monotonic_ns() + entry.grace_ns;
    std::int64_t next = 0;
    while (!has_ended(entry.worker) && now_monotonic_ns() < until) {
      if (now_monotonic_ns() >= next) {
        kill(-entry.worker, SIGTERM);
        next = now_monotonic_ns() + kAgain;
      }
      const timespec nap{0, 10'000'000};
      nanosleep(&nap, nullptr);
    }
    end_group(entry.worker);
    entry.worker = 0;
    --running_;
  }
  if (entry.state.phase != WorkPhase::kEnded)
    entry.state = {WorkPhase::kLost, {}, entry.state.host, "it was cancelled"};
  return {};
}

Result<std::string> LocalExecutor::log(const std::string& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return Error{Code::kNotFound, "no work '" + id + "'", ""};
  return read_log(found->second.place);
}

}  // namespace fathom::fleet
