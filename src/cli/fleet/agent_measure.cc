// SPDX-License-Identifier: MIT
// A program is measured as `fathom stat` does it, and every repetition goes to the job, with what
// one needs to know to compare it: the command, the machine, the revision and the time.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/host.h"
#include "cli/fleet/agent.h"
#include "cli/fleet/agent_recording.h"
#include "cli/stat_options.h"
#include "cli/stat_text.h"
#include "cli/tell.h"
#include "fleet/revision.h"
#include "perf/event.h"
#include "render/json_writer.h"
#include "session/run/run.h"
#include "session/stat/stat.h"

namespace fathom::cli {
namespace {

// What machines of one class have in common. What an update changes stands beside it: a benchmark
// that a new kernel made slower is compared with the old one.
Value machine_object() {
  const HostFacts& host = this_host();
  return Object{{"cpu", host.cpu_model}, {"cores", std::int64_t{host.cores}}, {"arch", host.arch}};
}

// "2026-11-18T00:20:00Z"
std::string iso_time(std::int64_t ns) {
  const std::time_t seconds = ns / 1'000'000'000;
  std::tm parts{};
  char text[32];
  if (::gmtime_r(&seconds, &parts) == nullptr) return "";
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

// `recording`: the name of one of the same command; "": there is none.
std::string record_of(const std::vector<std::string>& command,
                      const std::vector<session::Measured>& runs, const std::string& revision,
                      std::int64_t start_ns, const std::string& recording) {
  const HostFacts& host = this_host();
  List words, each;
  for (const std::string& word : command) words.emplace_back(word);
  for (const session::Measured& run : runs) each.push_back(stat_run_object(run));
  Object record{
      {"command", std::move(words)}, {"host", host.hostname},
      {"machine", machine_object()}, {"memory", static_cast<std::int64_t>(host.memory_bytes)},
      {"system", host.system},       {"kernel", host.kernel},
      {"revision", revision},        {"time", iso_time(start_ns)}};
  if (!recording.empty()) record.emplace_back("recording", recording);
  record.emplace_back("runs", std::move(each));
  std::string text;
  render::JsonWriter(text).value(Value(std::move(record)));
  return text;
}

Result<session::StatOptions> options_of(const AgentArguments& a,
                                        const std::vector<std::string>& command) {
  session::StatOptions options;
  options.commands = {command};
  FATHOM_ASSIGN(options.events, stat_events(a.events));
  options.needs_events = !a.events.empty();
  options.runs = a.runs;
  options.warmup = a.warmup;
  options.ignore_failure = a.ignore_failure;
  return options;
}

Status send_record(const std::string& record, const AgentArguments& a) {
  FATHOM_ASSIGN(fleet::Sender sender, open_sender(a));
  FATHOM_TRY(sender.add_record(a.job, std::string(fleet::kBenchmarks), record));
  return finish_sending(sender, a.quiet);
}

// In the child. The program has written its output before; this run is for us.
int record_run(const std::vector<std::string>& command, const std::string& directory) {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(nowhere, STDOUT_FILENO);
  session::RunOptions options;
  options.command = command;
  options.output = directory;
  options.no_command = true;  // what its environment holds is nobody's business on a server
  const Result<session::RunOutcome> outcome = session::run(options, {});
  if (!outcome) tell(outcome.error());
  return outcome && !outcome->not_started && !outcome->trouble && !outcome->interrupted ? 0 : 1;
}

// One more run of the command, recorded by a process of its own, as recorders want it. Nothing
// where it failed, which is told: the numbers count all the same.
std::optional<AgentRecording> record_once(const AgentArguments& a,
                                          const std::vector<std::string>& command) {
  Result<AgentRecording> recording = AgentRecording::begin(a);
  if (!recording) {
    tell(recording.error());
    return {};
  }
  const pid_t child = ::fork();
  if (child == 0) ::_exit(record_run(command, recording->directory()));
  int status = 1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::move(*recording);
  remark("the run for --record could not be recorded; the numbers are sent without it");
  return {};
}

}  // namespace

Result<int> bench_command(const AgentArguments& a, const std::vector<std::string>& command) {
  FATHOM_ASSIGN(const session::StatOptions options, options_of(a, command));
  const std::int64_t start_ns = now_realtime_ns();
  FATHOM_ASSIGN(const session::StatOutcome outcome, session::stat(options));
  if (outcome.not_started) tell(*outcome.not_started);
  if (outcome.runs[0].empty()) return outcome.exit_status;
  std::optional<AgentRecording> recording;
  if (a.record) recording = record_once(a, command);
  const std::string record = record_of(command, outcome.runs[0], fleet::revision_here(a.revision),
                                       start_ns, recording ? recording->name() : "");
  // Whatever becomes of the numbers, the program's status is its own.
  if (const Status sent = send_record(record, a); !sent) tell(sent.error());
  if (recording) {
    if (const Status sent = recording->hand_over(a); !sent) tell(sent.error());
  }
  return outcome.exit_status;
}

}  // namespace fathom::cli
