// SPDX-License-Identifier: MIT
// `fathom attach`: with -o a recording from outside (session/attach), else a request to the daemon,
// which decides who may attach to what.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/hz_option.h"
#include "cli/parser.h"
#include "cli/recorder_words.h"
#include "cli/share_option.h"
#include "session/attach/attach.h"
#include "session/environment.h"
#include "session/place.h"
#include "session/watch/watch_messages.h"

namespace fathom::cli {
namespace {

struct Arguments {
  std::vector<std::string> words;  // process IDs
  session::AttachOptions options;
  std::string duration, share, socket = session::find_watch_socket();
  bool detach = false, quiet = false;
};

Result<std::vector<pid_t>> read_processes(const std::vector<std::string>& words) {
  std::vector<pid_t> processes;
  for (const std::string& word : words) {
    const Result<std::int64_t> pid = parse_int(word);
    if (!pid || *pid <= 0 || *pid > INT32_MAX)
      return usage_error("'" + escape_control(word) + "' is not a process ID");
    processes.push_back(static_cast<pid_t>(*pid));
  }
  return processes;
}

void declare(Parser& parser, Arguments& a) {
  parser.positionals("PID", a.words, "the processes to record");
  parser.option("-o,--output", a.options.output, "DIR",
                "record here, without a daemon, until Ctrl-C or the end of the processes");
  parser.option("--for", a.duration, "TIME", "with -o: record for this time at most, e.g. 10s");
  parser.option("--layers", a.options.layers, "L,…",
                "with -o: layers to record, including kernel layers; +L,… adds to the default "
                "(default: cpu,resource)");
  parser.option("--sample", a.options.sample_hz, "HZ",
                "with -o: samples per second of CPU time (default: 99)");
  parser.option("--count", a.options.count, "E,…",
                "with -o: layer cpu: count these events of perf for each process, every 100 ms");
  declare_hz(parser, a.options.hz);
  parser.flag("--force", a.options.force,
              "with -o: replace an existing recording, unless it is still being written");
  declare_share(parser, a.share);
  parser.flag("--no-command", a.options.no_command,
              "with -o: do not store the arguments and environment of programs");
  parser.flag("-q,--quiet", a.quiet, "with -o: print no messages from Fathom");
  parser.flag("--detach", a.detach, "let the daemon stop recording these processes only");
  parser.option("--socket", a.socket, "PATH",
                "socket of the daemon (default: /run/fathom/watch.sock)");
}

// An option that only the other way of recording has.
Status check_way(const Parser& parser, bool records) {
  // Of one of the two ways alone; options that are not here belong to both.
  constexpr const char* kRecorders[] = {"--for",   "--layers", "--sample",
                                        "--count", "--force",  "--sample-resources",
                                        "--share", "--quiet",  "--no-command"};
  constexpr const char* kDaemons[] = {"--detach", "--socket"};
  for (const char* option : kRecorders) {
    if (!records && parser.given(option))
      return usage_error(std::string(option) + " needs -o", "name a recording with -o DIR");
  }
  for (const char* option : kDaemons) {
    if (records && parser.given(option))
      return usage_error(std::string(option) + " asks a daemon, and -o records without one",
                         "leave one of them out");
  }
  return {};
}

Status read_options(const Parser& parser, Arguments& a) {
  constexpr double kMostHz = 100'000;
  FATHOM_ASSIGN(a.options.processes, read_processes(a.words));
  FATHOM_TRY(check_way(parser, parser.given("--output")));
  if (!(a.options.sample_hz > 0 && a.options.sample_hz <= kMostHz))
    return usage_error(fmt::format("--sample must be above 0 and at most {}", kMostHz));
  FATHOM_TRY(check_hz(a.options.hz));
  if (parser.given("--for")) {
    const Result<std::int64_t> ns = parse_duration(a.duration);
    if (!ns || *ns <= 0)
      return usage_error("--for '" + escape_control(a.duration) + "' is not a time",
                         "write it as 10s or 5m");
    a.options.for_ns = *ns;
  }
  FATHOM_ASSIGN(a.options.share, shared_group(parser, a.share));
  FATHOM_ASSIGN(a.options.output, session::expand_name(a.options.output));
  a.options.no_command = a.options.no_command || session::wants_no_command();
  return {};
}

Result<int> record(const Arguments& a) {
  RecorderWords words;
  session::RunHooks hooks;
  if (!a.quiet) hooks = words.hooks();
  FATHOM_ASSIGN(const session::RunOutcome outcome, session::attach(a.options, hooks));
  words.clear();
  if (!a.quiet) tell_outcome(outcome);
  return outcome.trouble ? exit_status(outcome.trouble->code) : 0;
}

Result<int> hand_to_daemon(const Arguments& a) {
  for (const pid_t process : a.options.processes) {
    const session::WatchRequest request{a.detach ? FATHOM_WATCH_DETACH : FATHOM_WATCH_ATTACH,
                                        process};
    FATHOM_TRY(session::ask_daemon(a.socket, request));
  }
  return 0;
}

Result<int> run(Parser& parser) {
  Arguments arguments;
  declare(parser, arguments);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  FATHOM_TRY(read_options(parser, arguments));
  return parser.given("--output") ? record(arguments) : hand_to_daemon(arguments);
}

}  // namespace

extern const CommandDef kAttachCommand;
const CommandDef kAttachCommand = {
    .name = "attach",
    .summary = "Record running processes, their threads and future children",
    .usage = "[OPTION…] PID…",
    .example =
        "fathom attach 4711 -o server.fathom --for 10s\n"
        "fathom attach 4711 -o server.fathom --layers cpu,syscall\n"
        "fathom attach 4711               # hand it to 'fathom watch'\n"
        "fathom attach --detach 4711",
    .run = run,
};

}  // namespace fathom::cli
