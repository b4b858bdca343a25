// SPDX-License-Identifier: MIT
// The steps are commands of this program, each in a process of its own (containers/inside_steps.h).
// Variables decide, since whoever starts the container gives the arguments to the application.
#include "cli/fleet/profile_inside.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

#include "analysis/application/profile.h"
#include "base/files.h"
#include "base/scratch.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parser.h"
#include "cli/question_guard.h"
#include "cli/tell.h"
#include "containers/inside_steps.h"
#include "containers/live_metrics.h"
#include "containers/metrics_door.h"
#include "containers/python_choice.h"

namespace fathom::cli {
namespace {

using containers::InsideSteps;
using containers::StepEnd;
using containers::StepLimit;
using Words = std::vector<std::string>;

constexpr char kMetrics[] = "FATHOM_PROFILE_METRICS";
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kUsualSeconds = 60;
constexpr std::int64_t kGraceSeconds = 5;  // half of what engines wait before SIGKILL

std::string variable(const char* name, const char* usual) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr || *value == 0 ? usual : value;
}

Result<std::int64_t> seconds_of(const char* name, std::int64_t usual) {
  constexpr std::int64_t kMost = 366LL * 24 * 3600;
  const std::string text = variable(name, "");
  if (text.empty()) return usual;
  const Result<std::int64_t> value = parse_int(text);
  if (value && *value >= 0 && *value <= kMost) return *value;
  return usage_error(fmt::format("{} '{}' is not a number of seconds", name, escape_control(text)),
                     "write it as 60; 0 sets no limit");
}

int run_words(const std::string& name, Words words) {
  int status = 1;
  try {
    const CommandDef* const command = find_command(name);
    Parser parser(*command, std::move(words));
    const Result<int> ended = command->run(parser);
    if (!ended) tell(explained(ended.error()));
    status = ended ? *ended : exit_status(ended.error().code);
  } catch (const std::exception& error) {
    tell(Error{Code::kIo, std::string("unexpected: ") + error.what(), ""});
  }
  std::fflush(nullptr);
  remove_temporary_paths();
  return status;
}

Words words_of_run(const std::string& recording, Words options, const Words& command) {
  Words words = {"-q", "--force", "-o", recording};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

Words probed_options() {
  Words options = {"--layers", "+python", "--python-turns", "1000000"};
  for (std::string& word : containers::python_words()) options.push_back(std::move(word));
  return options;
}

class InsideProfile {
 public:
  InsideProfile(const Words& command, const StepLimit& limit)
      : command_(command), limit_(limit), folder_(variable("FATHOM_PROFILE_OUTPUT", kFolder)) {}

  // Everybody who asks there sees the last values of what runs.
  Status show_at(const std::string& where) {
    if (where.empty()) return {};
    FATHOM_ASSIGN(door_, containers::MetricsDoor::open(where, kMetrics));
    if (door_->has_chosen_port()) remark(door_->sentence());
    return {};
  }

  Result<int> run() {
    const std::string probed = join_path(folder_, "profile.fathom");
    const std::string plain = join_path(folder_, "plain.fathom");
    FATHOM_ASSIGN(StepEnd end, run_once(analysis::kProbed, probed, probed_options()));
    for (const char* format : {"waggle", "tau"})
      write("export", {probed, "--format", format, "-o", folder_});
    const bool again = end.timed_out && !steps_.was_told_to_end();
    if (end.timed_out) tell_time(again);
    if (again) {
      FATHOM_ASSIGN(end, run_once(analysis::kPlain, plain, {"--layers", "resource"}));
    }
    write("needs", {probed});
    if (again) write("needs", {probed, plain});  // side by side
    return end.status;
  }

 private:
  static constexpr char kFolder[] = "/app/profile_output";

  Result<StepEnd> run_once(const char* kind, const std::string& recording, const Words& options) {
    if (door_) FATHOM_TRY(show({std::string(base_name(command_[0])), kind, recording}));
    Result<StepEnd> end = steps_.run_program(
        [&] { return run_words("run", words_of_run(recording, options, command_)); }, limit_);
    steps_.end_helper();
    return end;
  }

  // By a process of its own: this one forks, and must not have threads.
  Status show(const containers::MeasuredRun& run) {
    return steps_.begin_helper([this, &run] {
      containers::LiveMetrics metrics;
      metrics.begin_run(run);
      door_->serve({}, [&metrics] { return metrics.text(); });
      return 0;
    });
  }

  // What went wrong has been told by the step itself, and the status stays the application's.
  void write(const std::string& command, const Words& words) {
    (void)steps_.run_writer([&] { return run_words(command, words); });
  }

  void tell_time(bool again) const {
    remark(fmt::format(
        "the application was stopped after {} s{}; FATHOM_PROFILE_SECONDS sets "
        "another time, 0 none",
        limit_.after_ns / kSecondNs, again ? ", and runs once more without probes" : ""));
  }

  const Words& command_;
  StepLimit limit_;
  std::string folder_;
  std::optional<containers::MetricsDoor> door_;  // none: nobody asked
  InsideSteps steps_;
};

}  // namespace

Result<int> profile_inside(const Words& command) {
  if (command.empty()) return usage_error("no command was given", "");
  FATHOM_ASSIGN(const std::int64_t seconds, seconds_of("FATHOM_PROFILE_SECONDS", kUsualSeconds));
  FATHOM_ASSIGN(const std::int64_t grace, seconds_of("FATHOM_PROFILE_GRACE", kGraceSeconds));
  InsideProfile profile(command, {.after_ns = seconds * kSecondNs, .grace_ns = grace * kSecondNs});
  FATHOM_TRY(profile.show_at(variable(kMetrics, "")));
  return profile.run();
}

}  // namespace fathom::cli
