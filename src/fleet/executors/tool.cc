// SPDX-License-Identifier: MIT
// Both streams are read while the tool runs, since it waits where a pipe is full; what is more than
// we keep is read and dropped.
#include "fleet/executors/tool.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/clock.h"
#include "base/files.h"
#include "base/os_error.h"
#include "base/text.h"
#include "fleet/executors/spawn.h"

namespace fathom::fleet {
namespace {

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return os_error(errno, "make a pipe");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

// false: it is at its end.
bool take_some(const Fd& from, std::string& into) {
  char buffer[16'384];
  const ssize_t count = read(from.get(), buffer, sizeof buffer);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  const std::size_t room = kMostToolOutput - into.size();
  into.append(buffer, std::min(static_cast<std::size_t>(count), room));
  return count > 0;
}

// false: the time was over before both streams were.
bool read_both(const Fd& out, const Fd& err, std::int64_t until, ToolRun& run) {
  bool out_open = true;
  bool err_open = true;
  while (out_open || err_open) {
    const std::int64_t left = until - now_monotonic_ns();
    if (left <= 0) return false;
    pollfd polled[] = {{out_open ? out.get() : -1, POLLIN, 0},
                       {err_open ? err.get() : -1, POLLIN, 0}};
    const int ready =
        poll(polled, 2, static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 1000)));
    if (ready <= 0) continue;
    if (polled[0].revents != 0) out_open = take_some(out, run.out);
    if (polled[1].revents != 0) err_open = take_some(err, run.err);
  }
  return true;
}

int status_of(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int kBySignal = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
}

}  // namespace

Result<ToolRun> run_tool(const std::vector<std::string>& words, std::int64_t timeout_ns) {
  FATHOM_ASSIGN(Pipe out, make_pipe());
  FATHOM_ASSIGN(Pipe err, make_pipe());
  FATHOM_ASSIGN(const pid_t pid, spawn({words, out.write.get(), err.write.get(), true}));
  out.write.reset();
  err.write.reset();
  ToolRun run;
  if (!read_both(out.read, err.read, now_monotonic_ns() + timeout_ns, run)) {
    kill(-pid, SIGKILL);
    (void)status_of(pid);
    return Error{Code::kUnavailable, "'" + words[0] + "' did not end in time", ""};
  }
  run.exit = status_of(pid);
  return run;
}

Result<std::string> run_tool_well(const std::vector<std::string>& words, std::int64_t timeout_ns) {
  FATHOM_ASSIGN(ToolRun run, run_tool(words, timeout_ns));
  if (run.exit == 0) return std::move(run.out);
  const std::string_view said = trim(run.err.empty() ? run.out : run.err);
  return Error{Code::kUnavailable,
               words[0] + " failed: " + escape_control(said.substr(0, said.find('\n'))), ""};
}

}  // namespace fathom::fleet
