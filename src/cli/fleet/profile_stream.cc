// SPDX-License-Identifier: MIT
// Forks a child that reads the recording at an interval and sends what has grown. The two speak by
// a pipe of one letter: the end, or the end with nothing more to send.
#include "cli/fleet/profile_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>
#include <vector>

#include "analysis/store.h"
#include "base/file_limit.h"
#include "base/os_error.h"
#include "base/plural.h"
#include "cli/tell.h"
#include "fleet/agents/profile_ledger.h"
#include "fleet/client_numbers.h"
#include "sources/function_names.h"

namespace fathom::cli {
namespace {

constexpr char kEnded = 'e';
constexpr char kNothing = 'n';
// Reading takes the longer the more was recorded: no more than this part of one CPU.
constexpr std::int64_t kIdlePart = 10;

// Rows of view `nodes`.
void take_nodes(const Table& part, std::vector<fleet::ProfileRow>& rows) {
  for (const std::vector<Value>& row : part.rows) {
    fleet::ProfileRow sum;
    std::string* const texts[] = {&sum.node, &sum.exec, &sum.event};
    for (std::size_t i = 0; i < std::size(texts); ++i) {
      if (const auto* text = std::get_if<std::string>(&row[i].data)) *texts[i] = *text;
    }
    const auto* const count = std::get_if<std::int64_t>(&row[3].data);
    sum.count = count == nullptr || *count < 0 ? 0 : *count;
    rows.push_back(std::move(sum));
  }
}

// Not by open_store(): its limits are for questions of users, and its signals are not ours.
Result<std::vector<fleet::ProfileRow>> read_profile(const std::string& directory) {
  FATHOM_ASSIGN(
      analysis::Store store,
      analysis::Store::open(directory, {.resolver = sources::function_names(), .threads = 1}));
  std::vector<fleet::ProfileRow> rows;
  FATHOM_TRY(
      store.stream("SELECT node, execname, event, \"count\" FROM nodes", [&](const Table& part) {
        take_nodes(part, rows);
        return Status();
      }));
  return rows;
}

class Child {
 public:
  Child(const AgentArguments& arguments, std::string directory, int told)
      : a_(arguments), directory_(std::move(directory)), told_(told) {}

  Status run() {
    const auto every_ms = static_cast<std::int64_t>(a_.interval * 1000);
    std::int64_t wait_ms = every_ms;
    while (true) {
      const char word = wait(every_ms > 0 ? wait_ms : -1);
      if (word == kNothing) return {};
      if (word == kEnded) return send_rest();
      const std::clock_t began = std::clock();
      FATHOM_TRY(send_so_far());
      const std::int64_t took_ms = (std::clock() - began) / (CLOCKS_PER_SEC / 1000);
      wait_ms = std::max(every_ms, took_ms * kIdlePart);
    }
  }

 private:
  // What the agent says; 0: nothing in this time. An agent that is gone has nothing more to record.
  [[nodiscard]] char wait(std::int64_t ms) const {
    constexpr std::int64_t kLongest = 3'600'000;
    pollfd told{told_, POLLIN, 0};
    const int ready = ::poll(&told, 1, static_cast<int>(std::min(ms, kLongest)));
    if (ready <= 0) return 0;
    char word = kEnded;
    return ::read(told_, &word, 1) == 1 ? word : kEnded;
  }

  // What cannot be read now can be read later.
  Status send_so_far() {
    const Result<std::vector<fleet::ProfileRow>> rows = read_profile(directory_);
    if (!rows) return {};
    return send(ledger_.grown(*rows));
  }

  Status send_rest() {
    FATHOM_ASSIGN(const std::vector<fleet::ProfileRow> rows, read_profile(directory_));
    const fleet::ProfileLedger::Rest rest = ledger_.rest(rows);
    if (rest.too_much > 0)
      remark(counted(rest.too_much, "row") +
             " of the profile became smaller after sending: the job counts slightly too much");
    FATHOM_TRY(send(rest.rows));
    FATHOM_ASSIGN(fleet::Sender sender, open_sender(a_));
    return finish_sending(sender, a_.quiet);
  }

  // What is kept until the server is back is told at the end, once.
  Status send(const std::vector<fleet::ProfileRow>& rows) {
    if (rows.empty()) return {};
    FATHOM_ASSIGN(fleet::Sender sender, open_sender(a_));
    for (const fleet::ProfileRow& row : rows) FATHOM_TRY(sender.add(a_.job, row));
    FATHOM_TRY(sender.flush(a_.job));
    for (const std::string& sentence : sender.outcome().refused) remark(sentence);
    return {};
  }

  const AgentArguments& a_;
  std::string directory_;
  int told_;
  fleet::ProfileLedger ledger_;
};

// Signals are meant for the program and the agent; we hear of the end by the pipe.
int run_child(const AgentArguments& arguments, const std::string& directory, int told) {
  ::setpgid(0, 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(number, SIG_IGN);
  ::setpriority(PRIO_PROCESS, 0, 10);
  raise_file_limit();
  const Status done = Child(arguments, directory, told).run();
  if (!done) tell(done.error());
  return done ? 0 : 1;
}

}  // namespace

Result<ProfileStream> ProfileStream::start(const AgentArguments& given,
                                           const std::string& directory) {
  AgentArguments arguments = given;
  // One that is done again sends the same numbers: they must mean the same.
  if (fleet::batch_of_work(1)) arguments.interval = 0;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return os_error(errno, "make a pipe");
  Fd told(ends[0]);
  Fd ending(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return os_error(errno, "start a process");
  if (child == 0) {
    ending.reset();
    ::_exit(run_child(arguments, directory, told.get()));
  }
  return ProfileStream(child, std::move(ending));
}

ProfileStream::~ProfileStream() {
  if (ending_.valid()) give_up();
}

Status ProfileStream::finish() {
  const char word = kEnded;
  (void)!::write(ending_.get(), &word, 1);
  ending_.reset();
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0) {
    if (errno != EINTR) return os_error(errno, "wait for what sends the profile");
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Error{Code::kIo, "some of the profile was not sent", ""};
}

void ProfileStream::give_up() {
  const char word = kNothing;
  (void)!::write(ending_.get(), &word, 1);
  ending_.reset();
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace fathom::cli
