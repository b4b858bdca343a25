// SPDX-License-Identifier: MIT
// `fathom attach`: a request to the daemon and nothing else; who may attach to what is decided
// there.
#include <string>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parser.h"
#include "session/watch/watch_messages.h"

namespace fathom::cli {
namespace {

Result<int> run(Parser& parser) {
  std::string text;
  std::string socket = session::find_watch_socket();
  bool leaves = false;
  parser.positional("PID", text, "the process to record");
  parser.flag("--detach", leaves, "stop recording this process only");
  parser.option("--socket", socket, "PATH",
                "socket of the daemon (default: /run/fathom/watch.sock)");
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  const Result<std::int64_t> pid = parse_int(text);
  if (!pid || *pid <= 0 || *pid > INT32_MAX)
    return usage_error("'" + escape_control(text) + "' is not a process ID");
  const session::WatchRequest request{leaves ? FATHOM_WATCH_DETACH : FATHOM_WATCH_ATTACH,
                                      static_cast<pid_t>(*pid)};
  FATHOM_TRY(session::ask_daemon(socket, request));
  return 0;
}

}  // namespace

extern const CommandDef kAttachCommand;
const CommandDef kAttachCommand = {
    .name = "attach",
    .summary = "Hand a running process, its threads and future children to 'fathom watch'",
    .usage = "[OPTION…] PID",
    .example = "fathom attach 4711\nfathom attach --detach 4711",
    .run = run,
};

}  // namespace fathom::cli
