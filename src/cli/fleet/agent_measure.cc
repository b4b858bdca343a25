// SPDX-License-Identifier: MIT
// A program is measured as `fathom stat` does it, and every repetition goes to the job, with what
// one needs to know to compare it: the command, the machine, the revision and the time.
#include <ctime>
#include <string>

#include "base/clock.h"
#include "base/host.h"
#include "cli/fleet/agent.h"
#include "cli/stat_options.h"
#include "cli/stat_text.h"
#include "cli/tell.h"
#include "fleet/revision.h"
#include "perf/event.h"
#include "render/json_writer.h"
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

std::string record_of(const std::vector<std::string>& command,
                      const std::vector<session::Measured>& runs, const std::string& revision,
                      std::int64_t start_ns) {
  const HostFacts& host = this_host();
  List words, each;
  for (const std::string& word : command) words.emplace_back(word);
  for (const session::Measured& run : runs) each.push_back(stat_run_object(run));
  std::string text;
  render::JsonWriter(text).value(
      Value(Object{{"command", std::move(words)},
                   {"host", host.hostname},
                   {"machine", machine_object()},
                   {"memory", static_cast<std::int64_t>(host.memory_bytes)},
                   {"system", host.system},
                   {"kernel", host.kernel},
                   {"revision", revision},
                   {"time", iso_time(start_ns)},
                   {"runs", std::move(each)}}));
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

}  // namespace

Result<int> bench_command(const AgentArguments& a, const std::vector<std::string>& command) {
  FATHOM_ASSIGN(const session::StatOptions options, options_of(a, command));
  const std::int64_t start_ns = now_realtime_ns();
  FATHOM_ASSIGN(const session::StatOutcome outcome, session::stat(options));
  if (outcome.not_started) tell(*outcome.not_started);
  if (outcome.runs[0].empty()) return outcome.exit_status;
  const std::string record =
      record_of(command, outcome.runs[0], fleet::revision_here(a.revision), start_ns);
  // Whatever becomes of the numbers, the program's status is its own.
  if (const Status sent = send_record(record, a); !sent) tell(sent.error());
  return outcome.exit_status;
}

}  // namespace fathom::cli
