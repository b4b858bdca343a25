// SPDX-License-Identifier: MIT
// One table of keys for the file and for the command line. Values keep where they came from, so
// that an error names the line or the option.
#include "session/watch/watch_settings.h"

#include <pwd.h>
#include <algorithm>
#include <charconv>

#include "base/brackets.h"
#include "base/files.h"
#include "base/private_files.h"
#include "base/text.h"
#include "session/watch/control_group.h"
#include "session/watch/watch_messages.h"

namespace fathom::session {
namespace {

using Kind = SettingKey::Kind;

constexpr SettingKey kKeys[] = {
    {"output", Kind::kText, "DIR",
     "directory of the recording (default: fathom-watch-<time>.fathom)"},
    {"layers", Kind::kList, "L,…",
     "layers to record: those of the kernel, user, cpu and resource, or 'default' or 'all' "
     "(default: syscall); append ? to skip a layer that is unavailable"},
    {"detail", Kind::kList, "L,…", "layers that also record an event for every call"},
    {"functions", Kind::kList, "F,…",
     "layers user and kernel: functions to probe, as PATH:NAME, PATH:REGEX, "
     "usdt:PATH:PROVIDER:NAME, kernel:NAME or tracepoint:NAME"},
    {"returns", Kind::kFlag, "",
     "layer user: time every function; can crash Go programs and programs that throw exceptions"},
    {"categories", Kind::kList, "C=F,…",
     "layer user: categories of functions, as CATEGORY=NAME, CATEGORY=REGEX or "
     "CATEGORY=PATH:REGEX"},
    {"filter", Kind::kList, "F,…",
     "only calls that match [LAYER:]KEY=VALUE, where KEY is path, call, min, one-in or cgroup"},
    {"interval", Kind::kText, "TIME",
     "length of the intervals over which calls are summed (default: 1s)"},
    {"sample", Kind::kText, "HZ", "layer cpu: samples per second of CPU time (default: 99)"},
    {"sample-event", Kind::kText, "E",
     "layer cpu: sample this event of perf instead of CPU time, e.g. page-faults"},
    {"all", Kind::kFlag, "", "record every process of the machine"},
    {"user", Kind::kText, "NAME", "record every process of this user"},
    {"cgroup", Kind::kText, "PATH",
     "record every process of this control group and of those below it"},
    {"container", Kind::kText, "ID", "record every process of this container"},
    {"socket", Kind::kText, "PATH",
     "socket on which the daemon listens (default: /run/fathom/watch.sock)"},
    {"pfw", Kind::kText, "FILE",
     "also write counters to this file in DataCrumbs' format, as they arrive"},
    {"mode", Kind::kText, "MODE",
     "profile: record sums; trace: also an event for every call (default: profile)"},
    {"roll-size", Kind::kText, "SIZE",
     "start a new recording at this size; --output then names the directory that holds them"},
    {"roll-time", Kind::kText, "TIME", "start a new recording after this time"},
    {"keep", Kind::kText, "N", "number of finished recordings to keep"},
    {"keep-size", Kind::kText, "SIZE", "total size of finished recordings to keep"},
    {"keep-time", Kind::kText, "TIME", "how long to keep finished recordings"},
    {"share", Kind::kText, "GROUP",
     "let this group read the recordings (default: only their owner)"},
    {"no-command", Kind::kFlag, "", "do not store the arguments of programs"},
    {"user-files", Kind::kText, "N",
     "number of files with rows of their own, per user (default: 8192)"},
    {"user-rows", Kind::kText, "N",
     "new rows with file names per second and user (default: 16384)"},
};

// Reads values of settings, each with its place in the message where it is wrong.
class Values {
 public:
  explicit Values(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] const Setting* find(std::string_view key) const {
    const auto found = settings_.find(key);
    return found == settings_.end() || found->second.values.empty() ? nullptr : &found->second;
  }
  void text(std::string_view key, std::string& to) const {
    if (const Setting* found = find(key)) to = found->values.front();
  }
  void list(std::string_view key, std::vector<std::string>& to) const {
    if (const Setting* found = find(key)) to = found->values;
  }
  [[nodiscard]] bool flag(std::string_view key) const {
    const Setting* found = find(key);
    return found != nullptr && found->values.front() == "true";
  }
  Status time(std::string_view key, std::int64_t least, std::int64_t& to) const {
    const Setting* found = find(key);
    if (found == nullptr) return {};
    const Result<std::int64_t> ns = parse_duration(found->values.front());
    if (!ns || *ns < least)
      return wrong(*found, "not a time of at least " + human_ns(double(least)));
    to = *ns;
    return {};
  }
  Status size(std::string_view key, std::uint64_t& to) const {
    const Setting* found = find(key);
    if (found == nullptr) return {};
    const Result<std::uint64_t> bytes = parse_bytes(found->values.front());
    if (!bytes || *bytes == 0) return wrong(*found, "not a size, such as 512M");
    to = *bytes;
    return {};
  }
  Status number(std::string_view key, std::int64_t& to) const {
    const Setting* found = find(key);
    if (found == nullptr) return {};
    const Result<std::int64_t> number = parse_int(found->values.front());
    if (!number || *number < 1) return wrong(*found, "not a number of at least 1");
    to = *number;
    return {};
  }
  static Error wrong(const Setting& setting, const std::string& what) {
    const bool on_command_line = setting.where.starts_with("--");
    return {on_command_line ? Code::kUsage : Code::kInvalid,
            setting.where + ": '" + escape_control(join(setting.values, ",")) + "' is " + what,
            "docs/watch.md lists the settings"};
  }

 private:
  const Settings& settings_;
};

Result<uid_t> find_user(const Setting& setting) {
  const std::string& name = setting.values.front();
  if (const passwd* entry = ::getpwnam(name.c_str())) return entry->pw_uid;
  const Result<std::int64_t> number = parse_int(name);
  if (number && *number >= 0 && *number < INT32_MAX) return static_cast<uid_t>(*number);
  return Values::wrong(setting, "not a user of this machine");
}

Status choose_group(const std::string& path, const std::string& words, WatchOptions& options) {
  FATHOM_ASSIGN(const ControlGroup group, find_control_group(path));
  options.choice.by = sources::Choice::By::kGroup;
  options.choice.hierarchy = group.hierarchy;
  options.choice.group = group.inode;
  options.choice.group_path = group.path;
  options.whom = words;
  return {};
}

// One of them at most.
Status read_choice(const Values& values, WatchOptions& options) {
  using By = sources::Choice::By;
  const Setting* user = values.find("user");
  const Setting* group = values.find("cgroup");
  const Setting* container = values.find("container");
  const int chosen = int{values.flag("all")} + (user != nullptr ? 1 : 0) +
                     (group != nullptr ? 1 : 0) + (container != nullptr ? 1 : 0);
  if (chosen > 1)
    return usage_error("only one of all, user, cgroup and container can be used", "choose one");
  options.whom = "who connects";
  if (values.flag("all")) {
    options.choice.by = By::kAll;
    options.whom = "every process";
  } else if (user != nullptr) {
    FATHOM_ASSIGN(options.choice.user, find_user(*user));
    options.choice.by = By::kUser;
    options.whom = "user " + user->values.front();
  } else if (group != nullptr) {
    return choose_group(group->values.front(), "control group " + group->values.front(), options);
  } else if (container != nullptr) {
    FATHOM_ASSIGN(const std::string path, find_container_group(container->values.front()));
    return choose_group(path, "container " + container->values.front(), options);
  }
  return {};
}

Status read_rolling(const Values& values, WatchOptions& options) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  FATHOM_TRY(values.size("roll-size", options.roll_bytes));
  FATHOM_TRY(values.time("roll-time", kSecond, options.roll_ns));
  FATHOM_TRY(values.size("keep-size", options.keep_bytes));
  FATHOM_TRY(values.time("keep-time", kSecond, options.keep_ns));
  FATHOM_TRY(values.number("keep", options.keep));
  const bool keeps = options.keep_bytes != 0 || options.keep_ns != 0 || options.keep != 0;
  options.rolls = options.roll_bytes != 0 || options.roll_ns != 0;
  if (keeps && !options.rolls)
    return usage_error("the keep settings need recordings that roll",
                       "add --roll-size or --roll-time");
  if (options.rolls && options.output.empty())
    return usage_error("recordings that roll need a directory", "name it with -o");
  return {};
}

Status read_privacy(const Values& values, WatchOptions& options) {
  options.no_command = values.flag("no-command");
  const Setting* group = values.find("share");
  if (group == nullptr) return {};
  FATHOM_ASSIGN(options.share, find_own_group(group->values.front()));
  return {};
}

// `default` is what a daemon records by default, also where `+` stands for it. A layer with a
// question mark is recorded if it can.
void read_layers(const std::vector<std::string>& given, WatchOptions& options) {
  const std::string usual = options.layers;
  std::vector<std::string> layers;
  for (const std::string& list : given) {
    if (trim(list).starts_with('+') && layers.empty()) layers.push_back(usual);
    for (std::string_view word : split(list, ',')) {
      word = trim(word);
      if (word.starts_with('+')) word.remove_prefix(1);
      if (word.ends_with('?')) {
        word.remove_suffix(1);
        options.wished.emplace_back(word);
      } else {
        layers.emplace_back(word == "default" ? std::string_view(usual) : word);
      }
    }
  }
  options.layers = layers.empty() ? usual : join(layers, ",");
}

Status read_sampling(const Values& values, WatchOptions& options) {
  constexpr double kMostHz = 100'000;
  values.text("sample-event", options.sample_event);
  const Setting* rate = values.find("sample");
  if (rate == nullptr) return {};
  const std::string& text = rate->values.front();
  const auto [end, failed] =
      std::from_chars(text.data(), text.data() + text.size(), options.sample_hz);
  const bool is_number = failed == std::errc() && end == text.data() + text.size();
  if (is_number && options.sample_hz > 0 && options.sample_hz <= kMostHz) return {};
  return Values::wrong(*rate, "not a rate above 0, up to 100000");
}

Status read_mode(const Values& values, WatchOptions& options) {
  const Setting* mode = values.find("mode");
  if (mode == nullptr || mode->values.front() == "profile") return {};
  if (mode->values.front() != "trace") return Values::wrong(*mode, "neither profile nor trace");
  options.each_call = true;
  return {};
}

}  // namespace

std::span<const SettingKey> watch_keys() { return kKeys; }

Result<WatchOptions> read_watch_options(const Settings& settings) {
  constexpr std::int64_t kShortest = 1'000'000;
  const Values values(settings);
  WatchOptions options;
  values.text("output", options.output);
  options.socket = own_watch_socket();
  values.text("socket", options.socket);
  FATHOM_ASSIGN(options.socket, absolute_path(options.socket));
  values.text("pfw", options.pfw);
  values.list("absent", options.absent);
  std::vector<std::string> layers;
  values.list("layers", layers);
  if (!layers.empty()) read_layers(layers, options);
  values.list("detail", options.detail);
  values.list("functions", options.functions);
  options.functions = join_in_brackets(options.functions);
  options.returns = values.flag("returns");
  values.list("categories", options.categories);
  options.categories = join_in_brackets(options.categories);
  values.list("filter", options.filters);
  FATHOM_TRY(values.time("interval", kShortest, options.interval_ns));
  FATHOM_TRY(read_sampling(values, options));
  FATHOM_TRY(read_choice(values, options));
  FATHOM_TRY(read_rolling(values, options));
  FATHOM_TRY(read_mode(values, options));
  FATHOM_TRY(read_privacy(values, options));
  FATHOM_TRY(values.number("user-files", options.user_files));
  FATHOM_TRY(values.number("user-rows", options.user_rows));
  return options;
}

}  // namespace fathom::session
