// SPDX-License-Identifier: MIT
// A descriptor of the process (pidfd) tells its end, whoever its parent is.
#include "session/attach/running_process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/os_error.h"
#include "base/proc_text.h"
#include "base/text.h"

namespace fathom::session {
namespace {

Error not_there(pid_t pid) {
  return {Code::kNotFound, "there is no process " + std::to_string(pid),
          "'ps -e' lists those that run"};
}

// The process that this thread belongs to; 0 where there is none.
pid_t process_of(pid_t thread) {
  const Result<std::string> status = read_file("/proc/" + std::to_string(thread) + "/status");
  const std::optional<std::uint64_t> process = status ? number_of(*status, "Tgid:") : std::nullopt;
  return static_cast<pid_t>(process.value_or(0));
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, '\0')) words.emplace_back(word);
  while (!words.empty() && words.back().empty()) words.pop_back();
  return words;
}

}  // namespace

Result<RunningProcess> RunningProcess::open(pid_t pid) {
  if (pid == ::getpid())
    return Error{Code::kInvalid, "a recorder cannot record itself", "name another process"};
  const pid_t process = process_of(pid);
  if (process == 0) return not_there(pid);
  if (process != pid)
    return Error{Code::kInvalid,
                 std::to_string(pid) + " is a thread of process " + std::to_string(process),
                 "name the process: its threads are recorded with it"};
  Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!handle.valid())
    return errno == ESRCH ? not_there(pid) : os_error(errno, "open process " + std::to_string(pid));
  RunningProcess opened(pid, std::move(handle));
  if (opened.has_ended())
    return Error{Code::kNotFound,
                 "process " + std::to_string(pid) + " has ended; its parent has not noticed yet",
                 "name one that runs"};
  return opened;
}

bool RunningProcess::has_ended() const {
  pollfd look{handle_.get(), POLLIN, 0};
  return ::poll(&look, 1, 0) == 1;
}

std::string RunningProcess::read(const char* name) const {
  Result<std::string> text = read_file("/proc/" + std::to_string(pid_) + "/" + name);
  return text ? std::move(text).value() : std::string();
}

std::vector<std::string> RunningProcess::command() const {
  std::vector<std::string> words = words_of(read("cmdline"));
  if (words.empty()) words.emplace_back(trim(read("comm")));
  return words;
}

std::vector<std::string> RunningProcess::environment() const { return words_of(read("environ")); }

}  // namespace fathom::session
