// SPDX-License-Identifier: MIT
// `fathom view`: opens the recordings first, so that a wrong name is told before anything listens.
#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "analysis/info.h"
#include "base/escape.h"
#include "base/memory_limit.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/fleet/open_browser.h"
#include "cli/named_trace.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/question_guard.h"
#include "cli/tell.h"
#include "serve/view_service.h"
#include "sources/function_names.h"

namespace fathom::cli {
namespace {

struct Arguments {
  std::vector<std::string> traces;
  std::string listen = "127.0.0.1:0";
  std::string socket, memory, timeout = "60s";
  bool stays_closed = false;
};

Result<bool> parse(Parser& parser, Arguments& a) {
  parser.positionals("TRACE…", a.traces, kTraceHelp);
  parser.option("--listen,--port", a.listen, "HOST:PORT",
                "address to listen on; port 0 takes a free one (default: 127.0.0.1:0)");
  parser.option("--socket", a.socket, "PATH",
                "listen on a Unix socket that only you can connect to, instead of a port");
  parser.flag("--no-open", a.stays_closed, "print the address, but do not open a browser");
  parser.option("--timeout", a.timeout, "TIME",
                "time limit for each query, e.g. 30s or 5m (default: 60s)");
  parser.option("--memory", a.memory, "SIZE",
                "memory limit for all queries (default: half of the machine's), e.g. 2GB");
  return parser.parse();
}

// One that is damaged keeps nobody from the others.
Status find_all(const std::vector<std::string>& words, serve::ViewServiceOptions& options) {
  std::optional<Error> first;
  for (const std::string& word : words) {
    FATHOM_ASSIGN(std::string path, find_trace(word));
    const Result<analysis::Info> info = analysis::read_info(path, sources::function_names());
    if (info) {
      options.traces.push_back({word, std::move(path)});
      continue;
    }
    options.not_shown.push_back({word, info.error().message});
    if (!first) first = info.error();
  }
  if (options.traces.empty()) return *first;
  for (const serve::NotShown& one : options.not_shown)
    remark("not shown: " + escape_name(one.name) + ": " + one.reason);
  return {};
}

Result<serve::ViewServiceOptions> options_of(const Parser& parser, const Arguments& a) {
  serve::ViewServiceOptions options;
  if (a.traces.empty()) return usage_error("no recording was given", "name one, or 'last'");
  if (parser.given("--listen") && parser.given("--socket"))
    return usage_error("--socket listens on a path, --listen on a port", "give one of them");
  FATHOM_ASSIGN(options.listen, fleet::parse_address(a.listen, "--listen"));
  options.socket = a.socket;
  FATHOM_ASSIGN(const QuestionLimits limits, memory_limits(parser, a.memory));
  options.limits.memory_bytes = limits.memory_bytes;
  FATHOM_ASSIGN(options.limits.timeout_ns, timeout_of(a.timeout));
  options.names = sources::function_names();
  FATHOM_TRY(find_all(a.traces, options));
  return options;
}

std::string user_name() {
  const passwd* const entry = ::getpwuid(::getuid());
  return entry == nullptr ? "USER" : entry->pw_name;
}

// The address of this machine as the ssh session knows it; "" where there is none.
std::string ssh_host() {
  const char* const connection = std::getenv("SSH_CONNECTION");
  if (connection == nullptr) return "";
  const std::vector<std::string_view> words = split(connection, ' ');
  const bool is_address =
      words.size() == 4 &&
      words[2].find_first_not_of("0123456789abcdefABCDEF.:") == std::string_view::npos;
  return is_address ? std::string(words[2]) : "HOST";
}

// What to type on the machine that has the browser.
std::string forward_line(const serve::ViewAddress& address) {
  const std::string host = ssh_host();
  if (host.empty()) return "";
  const std::string port = std::to_string(address.port == 0 ? 8080 : address.port);
  return "ssh -N -L " + shell_quote(port + ":" + address.local) + " " + user_name() + "@" + host;
}

void announce(const serve::ViewAddress& address) {
  std::string text = "ready " + address.url + "\n";
  const std::string line = forward_line(address);
  if (!line.empty()) text += "on your own machine: " + line + "\n";
  if (const Status printed = print(text); !printed) tell(printed.error());
  std::fflush(stdout);
}

Result<int> run(Parser& parser) {
  Arguments arguments;
  FATHOM_ASSIGN(const bool go_on, parse(parser, arguments));
  if (!go_on) return 0;
  FATHOM_ASSIGN(const serve::ViewServiceOptions options, options_of(parser, arguments));
  if (options.socket.empty()) {
    FATHOM_ASSIGN(const bool is_private, serve::is_loopback(options.listen));
    if (!is_private) remark("others can reach this address, and the token is sent unencrypted");
  }
  MemoryLimit(options.limits.memory_bytes).bound_process();
  OpenedBrowser browser;
  const Status served = serve::serve_view(options, [&](const serve::ViewAddress& address) {
    guard_server(address.stop);
    announce(address);
    if (!arguments.stays_closed && address.port != 0) browser.open(address.url);
  });
  guard_server({});
  FATHOM_TRY(served);
  return 0;
}

}  // namespace

extern const CommandDef kViewCommand;
const CommandDef kViewCommand = {
    .name = "view",
    .summary = "Look at recordings in the browser, until Ctrl-C",
    .usage = "[OPTION…] TRACE…",
    .example =
        "fathom view sort.fathom\nfathom view before.fathom after.fathom --no-open\n"
        "fathom view last --socket ~/fathom.sock",
    .run = run,
};

}  // namespace fathom::cli
