// SPDX-License-Identifier: MIT
// `fathom watch`: options come from the same table as the keys of the file (session's
// watch_settings.cc), so that the two cannot differ.
#include <fmt/format.h>

#include <cstdio>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/escape.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/live_counters.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "session/watch/watch.h"
#include "session/watch/watch_messages.h"
#include "session/watch/watch_plan.h"

namespace fathom::cli {
namespace {

using session::SettingKey;

struct Arguments {
  std::string action, config, format = "table";
  std::deque<std::string> texts;  // places that stay
  std::deque<std::vector<std::string>> lists;
  std::deque<bool> flags;
};

std::string option_of(const SettingKey& key) { return "--" + std::string(key.name); }

// The variables must stay where they are until parse(): hence deques.
void declare(Parser& parser, const SettingKey& key, Arguments& a) {
  const std::string names = (key.name == "output" ? "-o," : "") + option_of(key);
  const std::string metavar(key.metavar);
  const std::string help(key.help);
  switch (key.kind) {
    case SettingKey::Kind::kText:
      return parser.option(names, a.texts.emplace_back(), metavar, help);
    case SettingKey::Kind::kList:
      return parser.option(names, a.lists.emplace_back(), metavar, help);
    case SettingKey::Kind::kFlag:
      return parser.flag(names, a.flags.emplace_back(false), help);
  }
}

// What the command line says, in the order in which it was declared.
session::Settings given_settings(const Parser& parser, const Arguments& a) {
  session::Settings settings;
  auto text = a.texts.begin();
  auto list = a.lists.begin();
  auto flag = a.flags.begin();
  for (const SettingKey& key : session::watch_keys()) {
    session::Setting setting{{}, option_of(key)};
    if (key.kind == SettingKey::Kind::kText) setting.values = {*text++};
    if (key.kind == SettingKey::Kind::kList) setting.values = *list++;
    if (key.kind == SettingKey::Kind::kFlag) setting.values = {*flag++ ? "true" : "false"};
    if (parser.given(option_of(key))) settings[std::string(key.name)] = std::move(setting);
  }
  return settings;
}

// The file's, and the command line's above them.
Result<session::WatchOptions> read_options(const std::string& config,
                                           const session::Settings& given) {
  session::Settings settings = given;
  if (!config.empty()) {
    FATHOM_ASSIGN(const std::string text, read_file(config));
    FATHOM_ASSIGN(session::Settings of_file, session::parse_watch_settings(text, config));
    settings.merge(of_file);
  }
  return session::read_watch_options(settings);
}

// Of a daemon: with the layers that it was wished for and can record.
Result<session::WatchOptions> settled_options(const std::string& config,
                                              const session::Settings& given) {
  FATHOM_ASSIGN(session::WatchOptions options, read_options(config, given));
  options.refused = session::settle_wishes(options);
  return options;
}

void print_status(const std::string& json, const std::string& format) {
  const nlohmann::ordered_json status = nlohmann::ordered_json::parse(json, nullptr, false);
  if (format == "json" || !status.is_object()) {
    (void)print(json + "\n");
    return;
  }
  for (const auto& [key, value] : status.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    (void)print(fmt::format("{:<12} {}\n", escape_name(key), escape_name(text)));
  }
}

Result<int> turn_to_daemon(const Arguments& a, const session::WatchOptions& options,
                           bool names_socket) {
  const std::string socket = names_socket ? options.socket : session::find_watch_socket();
  if (a.format != "table" && a.format != "json")
    return usage_error("--format must be table or json, not '" + escape_control(a.format) + "'");
  const bool reloads = a.action == "reload";
  FATHOM_ASSIGN(const std::string said,
                session::ask_daemon(
                    socket, {reloads ? FATHOM_WATCH_RELOAD : FATHOM_WATCH_STATUS, /*process=*/0}));
  if (!reloads) print_status(said, a.format);
  return 0;
}

// A daemon reads its file again when it is asked to; what its command line said stays above it.
Result<int> record(const Parser& parser, const Arguments& a, const session::WatchOptions& options,
                   const session::Settings& given) {
  std::optional<LiveCounters> counters;
  if (!options.pfw.empty()) {
    FATHOM_ASSIGN(counters, LiveCounters::open(options.pfw));
  }
  session::WatchHooks hooks;
  hooks.command = parser.words();
  hooks.ready = [] {
    std::puts("ready");
    std::fflush(stdout);
  };
  hooks.reload = [&] { return settled_options(a.config, given); };
  hooks.trouble = [](const Error& error) { tell(error); };
  if (counters) {
    hooks.rows = [&](const trace::HostRows& rows, const trace::Strings& strings,
                     std::int64_t start_ns) {
      if (const Status added = counters->add(rows, strings, start_ns); !added) tell(added.error());
    };
  }
  FATHOM_ASSIGN(const session::WatchOutcome outcome, session::watch(options, hooks));
  return outcome.trouble ? exit_status(outcome.trouble->code) : 0;
}

Result<int> run(Parser& parser) {
  Arguments arguments;
  parser.optional_positional(
      "ACTION", arguments.action,
      "status: show the state of the daemon; reload: make it read its settings again");
  parser.option("--config", arguments.config, "FILE",
                "settings in YAML; options on the command line override them");
  for (const SettingKey& key : session::watch_keys()) declare(parser, key, arguments);
  parser.option("--format", arguments.format, "FORMAT",
                "output of status: table or json (default: table)");
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  const std::string& action = arguments.action;
  if (!action.empty() && action != "status" && action != "reload")
    return usage_error("'" + escape_control(action) + "' is neither status nor reload",
                       "run 'fathom watch --help' for usage");
  const session::Settings given = given_settings(parser, arguments);
  FATHOM_ASSIGN(const session::WatchOptions options, action.empty()
                                                         ? settled_options(arguments.config, given)
                                                         : read_options(arguments.config, given));
  for (const std::string& file : options.absent)
    remark("there is no " + escape_control(file) + " here: its functions are not recorded");
  for (const std::string& why : options.refused) remark(escape_control(why));
  if (action.empty()) return record(parser, arguments, options, given);
  return turn_to_daemon(arguments, options, given.contains("socket") || !arguments.config.empty());
}

}  // namespace

extern const CommandDef kWatchCommand;
const CommandDef kWatchCommand = {
    .name = "watch",
    .summary = "Record running programs from outside, as a daemon, until Ctrl-C",
    .usage = "[OPTION…] [status|reload]",
    .example =
        "fathom watch -o day.fathom --layers syscall,block &\n"
        "LD_PRELOAD=/usr/lib/libfathom.so ./simulate\n"
        "fathom watch --config /etc/fathom/watch.yaml\n"
        "fathom watch status",
    .run = run,
};

}  // namespace fathom::cli
