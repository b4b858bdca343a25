// SPDX-License-Identifier: MIT
// DataCrumbs' command line in the words of `fathom watch`. Its options that have no meaning here
// are taken with their values, so that scripts stay as they are.
#include "cli/datacrumbs_door.h"

#include <unistd.h>

#include <sys/wait.h>
#include <algorithm>
#include <csignal>
#include <cstdio>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "session/watch/watch_messages.h"
#include "session/watch/watch_settings.h"

namespace fathom::cli {
namespace {

constexpr std::string_view kProfile = "profile.pfw";
constexpr std::string_view kWithoutMeaning[] = {"--run_id", "--data_dir", "--log_dir", "--user"};
constexpr std::string_view kModule = "module=";
// What DataCrumbs probes without a configuration: system calls, the kernel below them, and I/O of
// the C library. Its list has malloc, too, which probes slow down many times over; layer heap of
// `fathom run` counts it. Layers that cannot be recorded here are named and left out.
constexpr std::string_view kOwnLayers = "syscall,vfs?,fs?,pagecache?,block?,user?";
constexpr std::string_view kOwnFunctions =
    "libc.so.6:^(fopen|fopen64|fclose|fread|fwrite|ftell|fseek|fdopen|fileno|fileno_unlocked|open|"
    "open64|creat|creat64|close_range|closefrom|pread|pwrite|lseek64|mmap64|munmap|mremap|madvise|"
    "shm_open|shm_unlink)$";

class Words {
 public:
  explicit Words(const std::vector<std::string>& words) : words_(words) {}

  Result<DatacrumbsDoor> read() {
    while (at_ < words_.size()) FATHOM_TRY(take(words_[at_++]));
    if (door_.action == DatacrumbsDoor::Action::kStop) return std::move(door_);
    if (!config_.empty()) {
      FATHOM_ASSIGN(const std::string file, find_config());
      door_.words.insert(door_.words.end(), {"--config", file});
    }
    if (!chooses_probes()) add_own_probes();
    FATHOM_ASSIGN(const bool named, names_file());
    if (!named) door_.words.insert(door_.words.end(), {"--pfw", in_folder(kProfile)});
    return std::move(door_);
  }

 private:
  Status take(const std::string& word) {
    using Action = DatacrumbsDoor::Action;
    if (word == "run" || word == "start" || word == "stop") {
      door_.action = word == "run"     ? Action::kRun
                     : word == "start" ? Action::kStart
                                       : Action::kStop;
    } else if (word.starts_with(kModule)) {
      config_ = word.substr(kModule.size());
    } else if (word == "--config_path") {
      FATHOM_ASSIGN(config_folder_, value_of(word));
    } else if (word == "--trace_log_dir") {
      FATHOM_ASSIGN(trace_folder_, value_of(word));
    } else if (word == "--inclusion_path") {
      FATHOM_ASSIGN(const std::string path, value_of(word));
      door_.words.insert(door_.words.end(), {"--filter", "path=" + path});
    } else if (std::ranges::find(kWithoutMeaning, word) != std::end(kWithoutMeaning)) {
      FATHOM_TRY(value_of(word));
    } else if (word == "--disable-mpi") {
      return {};
    } else if (!word.starts_with('-') && config_.empty() && !follows_option()) {
      config_ = word;
    } else {
      door_.words.push_back(word);
    }
    return {};
  }

  // A word behind an option of `watch` is its value.
  [[nodiscard]] bool follows_option() const {
    if (door_.words.empty() || at_ < 2 || words_[at_ - 2] != door_.words.back()) return false;
    const std::string& before = door_.words.back();
    if (!before.starts_with("-") || before.find('=') != std::string::npos) return false;
    for (const session::SettingKey& key : session::watch_keys()) {
      if (key.kind == session::SettingKey::Kind::kFlag && before == "--" + std::string(key.name))
        return false;
    }
    return true;
  }

  [[nodiscard]] bool chooses_probes() const {
    return std::ranges::any_of(door_.words, [](const std::string& word) {
      const std::string name = word.substr(0, word.find('='));
      return name == "--config" || name == "--layers" || name == "--functions";
    });
  }

  void add_own_probes() {
    const std::string functions(kOwnFunctions);
    door_.words.insert(door_.words.end(), {"--layers", std::string(kOwnLayers), "--functions",
                                           functions, "--categories", "c=" + functions});
  }

  Result<std::string> value_of(const std::string& option) {
    if (at_ < words_.size()) return words_[at_++];
    return usage_error("option " + option + " needs a value");
  }

  [[nodiscard]] std::string in_folder(std::string_view name) const {
    return trace_folder_.empty() ? std::string(name) : join_path(trace_folder_, std::string(name));
  }

  // A file, or the name of one in the folder of configurations.
  [[nodiscard]] Result<std::string> find_config() const {
    if (config_.ends_with(".json.gz"))
      return Error{Code::kUnsupported,
                   escape_control(config_) + " is a file of probes, which Fathom does not read",
                   "name the YAML file from which it was generated: datacrumbs run FILE"};
    for (const char* const ending : {"", ".yaml"}) {
      const std::string name = config_ + ending;
      if (path_exists(name)) return name;
      const std::string file = join_path(config_folder_, name);
      if (!config_folder_.empty() && path_exists(file)) return file;
    }
    return Error{Code::kNotFound, "there is no configuration " + escape_control(config_),
                 "name a YAML file, or the folder of it with --config_path"};
  }

  // Whether the lines have a file already.
  [[nodiscard]] Result<bool> names_file() const {
    const auto names = [](const std::string& word) {
      return word == "--pfw" || word.starts_with("--pfw=");
    };
    if (std::ranges::any_of(door_.words, names)) return true;
    const auto config = std::ranges::find(door_.words, "--config");
    if (config == door_.words.end() || config + 1 == door_.words.end()) return false;
    FATHOM_ASSIGN(const std::string text, read_file(*(config + 1)));
    FATHOM_ASSIGN(const session::Settings settings,
                  session::parse_watch_settings(text, *(config + 1)));
    return settings.contains("pfw");
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  DatacrumbsDoor door_;
  std::string config_, config_folder_, trace_folder_;
};

int status_of(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return 3;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

// What the daemon says goes to stderr until it is ready; afterwards nobody listens.
bool relay_until_ready(int said) {
  constexpr std::string_view kReady = "ready\n";
  std::string text;
  char piece[512];
  for (ssize_t got = 0; (got = ::read(said, piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(got));
    if (!text.ends_with(kReady)) continue;
    text.resize(text.size() - kReady.size());
    std::fputs(text.c_str(), stderr);
    return true;
  }
  std::fputs(text.c_str(), stderr);
  return false;
}

}  // namespace

bool is_datacrumbs(std::string_view program) { return base_name(program) == "datacrumbs"; }

Result<DatacrumbsDoor> read_datacrumbs(const std::vector<std::string>& words) {
  return Words(words).read();
}

Result<int> start_in_background(const std::vector<std::string>& words,
                                Result<int> (*watch)(std::vector<std::string>)) {
  int ends[2];
  if (::pipe(ends) != 0) return Error{Code::kIo, "cannot make a pipe", ""};
  const pid_t child = ::fork();
  if (child < 0) return Error{Code::kIo, "cannot start a process", ""};
  if (child == 0) {
    ::setsid();
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(ends[1], stream);
    ::close(ends[0]);
    ::close(ends[1]);
    ::signal(SIGPIPE, SIG_IGN);
    return watch(words);
  }
  ::close(ends[1]);
  const Fd said(ends[0]);
  const bool ready = relay_until_ready(said.get());
  return ready ? 0 : status_of(child);
}

Result<int> stop_daemon() {
  constexpr std::int64_t kPatienceNs = 30'000'000'000;
  const std::string socket = session::find_watch_socket();
  FATHOM_TRY(session::ask_daemon(socket, {FATHOM_WATCH_STATUS, 0}));  // it is one, and ours
  FATHOM_ASSIGN(const pid_t pid, session::daemon_at(socket));
  if (::kill(pid, SIGTERM) != 0)
    return Error{Code::kDenied, "no permission to stop the daemon", "ask the user who runs it"};
  const std::int64_t until = now_monotonic_ns() + kPatienceNs;
  while (::kill(pid, 0) == 0) {
    if (now_monotonic_ns() > until) return Error{Code::kIo, "the daemon did not stop in time", ""};
    ::usleep(10'000);
  }
  return 0;
}

}  // namespace fathom::cli
