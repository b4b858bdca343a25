// SPDX-License-Identifier: MIT
// `fathom agent`: measures a program on this machine and sends the numbers to a job. A log of
// commands is run line by line, each in a process of its own, so that none finds the threads or the
// directory of the one before.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/os_error.h"
#include "base/plural.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/fleet/agent.h"
#include "cli/fleet/agent_recording.h"
#include "cli/fleet/store_options.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "fleet/agents/command_log.h"

namespace fathom::cli {
namespace {

void declare(Parser& parser, AgentArguments& a) {
  parser.positional("ACTION", a.action, "what to do, see below");
  parser.optional_tail("COMMAND", a.command, "the program and its arguments, after --");
  parser.option("--job", a.job, "NAME", "the job to send the numbers to");
  parser.option("--log", a.log, "FILE",
                "run the commands of this file one after the other: lines 'cd DIR && CMD ARGS…'");
  parser.option("--program", a.program, "PROGRAM",
                "with --log, run this program; what follows 'cd DIR &&' are its arguments");
  parser.flag("--stdin", a.from_stdin,
              "profile: read rows from standard input: JSON lines {\"node\", \"exec\", \"event\", "
              "\"count\"}, or the text of 'perf script'");
  parser.option("-r,--runs", a.runs, "N", "bench: run the command N times (default: 1)");
  parser.option("--warmup", a.warmup, "W", "bench: warm up with W runs that are not counted");
  parser.repeated("-e,--events", a.events, "E,…",
                  "bench: events to count, by perf's names (default: those of fathom stat)");
  parser.flag("--ignore-failure", a.ignore_failure, "bench: continue after a failed run");
  parser.option("--revision", a.revision, "TEXT",
                "bench: revision of the program (default: $FATHOM_REVISION, else git's HEAD here)");
  parser.option("--sample", a.sample_hz, "HZ",
                "profile: samples per second of CPU time (default: 99)");
  parser.option("--sample-event", a.sample_event, "E",
                "profile: sample this event of perf instead of CPU time, e.g. page-faults");
  parser.option(
      "--interval", a.interval, "S",
      "profile: send what was sampled so far every S seconds (default: 5; 0: at the end)");
  parser.flag("--record", a.record,
              "also send a recording to the server: profile: of what was sampled; bench: of one "
              "extra run after the measured ones");
  parser.flag("--no-outbox", a.no_outbox,
              "fail if the server is unavailable, instead of keeping the numbers until it is back");
  parser.flag("-q,--quiet", a.quiet, "print only errors from Fathom");
  declare_store(parser, a.store);
  parser.list("Actions", {{"profile", "sample where the program's CPU time goes"},
                          {"bench", "measure its time, memory and events"},
                          {"flush", "send queued batches and recordings"}});
}

Status check(const AgentArguments& a) {
  constexpr std::int64_t kMostRuns = 1'000'000;
  constexpr double kMostHz = 100'000;
  if (a.action != "profile" && a.action != "bench" && a.action != "flush")
    return usage_error("unknown action '" + escape_control(a.action) + "'",
                       "use profile, bench or flush");
  const int given = (a.command.empty() ? 0 : 1) + (a.log.empty() ? 0 : 1) + (a.from_stdin ? 1 : 0);
  if (a.action == "flush") {
    if (given == 0 && a.job.empty()) return {};
    return usage_error("'agent flush' takes no job and no command", "write: fathom agent flush");
  }
  if (a.job.empty())
    return usage_error("no job was named", "fathom agent " + a.action + " --job NAME -- COMMAND");
  if (given != 1)
    return usage_error(
        given == 0 ? "no command was given" : "give one of COMMAND, --log and --stdin, not several",
        "fathom agent " + a.action + " --job " + escape_control(a.job) + " -- COMMAND");
  if (a.from_stdin && a.action == "bench")
    return usage_error("--stdin is for profiles",
                       "records of benchmarks: fathom job add NAME benchmark --stdin");
  if (a.record && a.from_stdin) return usage_error("with --stdin there is nothing to record");
  if (!a.program.empty() && a.log.empty()) return usage_error("--program needs --log FILE");
  if (a.runs < 1 || a.runs > kMostRuns || a.warmup < 0 || a.warmup > kMostRuns)
    return usage_error("--runs and --warmup must be numbers up to " + std::to_string(kMostRuns));
  if (!(a.interval >= 0 && a.interval <= 86'400))
    return usage_error("--interval must be a number of seconds up to 86400");
  if (!(a.sample_hz > 0 && a.sample_hz <= kMostHz))
    return usage_error("--sample must be a number up to 100000");
  return {};
}

Result<int> run_one(const AgentArguments& a, const std::vector<std::string>& command) {
  return a.action == "bench" ? bench_command(a, command) : profile_command(a, command);
}

// 128 + N where it was killed by signal N.
int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return exit_status(Code::kIo);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// In the child; main tells the Error and ends with the status.
// A line ends with the agent: it asks for that first, and looks whether the agent is gone already.
Result<int> run_line(const AgentArguments& a, const fleet::LoggedCommand& line, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) return exit_status(Code::kIo);
  if (::chdir(line.directory.c_str()) != 0) return os_error(errno, "cd " + line.directory);
  return run_one(a, line.words);
}

// All lines are run, whatever becomes of one; the status is the first failure's.
Result<int> replay(const AgentArguments& a) {
  FATHOM_ASSIGN(const std::string text, read_file(a.log));
  Result<std::vector<fleet::LoggedCommand>> lines = fleet::parse_command_log(text, a.program);
  if (!lines) return std::move(lines).error().with(escape_control(a.log));
  if (lines->empty()) return Error{Code::kInvalid, escape_control(a.log) + " has no command", ""};
  const pid_t self = ::getpid();
  int first_failure = 0;
  std::int64_t failed = 0;
  for (const fleet::LoggedCommand& line : *lines) {
    const pid_t child = ::fork();
    if (child < 0) return os_error(errno, "start a process");
    if (child == 0) return run_line(a, line, self);
    const int status = wait_for(child);
    if (status == 0) continue;
    ++failed;
    if (first_failure == 0) first_failure = status;
  }
  if (failed > 0 && !a.quiet)
    remark(std::to_string(failed) + " of " + counted(lines->size(), "command") + " failed");
  return first_failure;
}

Result<int> flush(const AgentArguments& a) {
  FATHOM_ASSIGN(fleet::Sender sender, open_sender(a));
  FATHOM_TRY(finish_sending(sender, a.quiet));
  FATHOM_ASSIGN(const std::int64_t recordings, send_waiting_recordings(a));
  return sender.outcome().waiting + recordings > 0 ? exit_status(Code::kUnavailable) : 0;
}

Result<int> run(Parser& parser) {
  AgentArguments arguments;
  declare(parser, arguments);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  FATHOM_TRY(check(arguments));
  if (arguments.action == "flush") return flush(arguments);
  FATHOM_TRY(check_job(arguments));
  if (arguments.from_stdin) return profile_stdin(arguments);
  return arguments.log.empty() ? run_one(arguments, arguments.command) : replay(arguments);
}

}  // namespace

extern const CommandDef kAgentCommand;
const CommandDef kAgentCommand = {
    .name = "agent",
    .summary = "Profile or benchmark a program here, and send the numbers to a job",
    .usage = "ACTION --job NAME [OPTION…] [--] [COMMAND [ARGUMENT…]]",
    .example =
        "fathom agent profile --job nightly -- ./solve input.dat\n"
        "fathom agent bench --job nightly -r 10 -- ./solve input.dat\n"
        "perf script | fathom agent profile --job nightly --stdin\n"
        "fathom agent flush",
    .run = run,
};

}  // namespace fathom::cli
