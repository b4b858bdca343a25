// SPDX-License-Identifier: MIT
// `fathom container`: runs an application in containers and tells what it needs (run), writes
// instructions to begin with (init), and makes the layer of an image that profiles itself (base).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "base/files.h"
#include "base/ids.h"
#include "base/plural.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/fleet/profile_inside.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "containers/base_layer.h"
#include "containers/init_text.h"
#include "containers/profile_run.h"
#include "render/profile_pages.h"

namespace fathom::cli {
namespace {

using containers::Engine;
using containers::Instructions;

constexpr char kHint[] = "run 'fathom container --help' for usage";

struct Arguments {
  std::string action, folder, from, tag, metrics;
  std::vector<std::string> words;
  bool quiet = false;
  bool force = false;
};

// An image may have strokes in its name, too: what exists is a file.
bool is_file_name(const std::string& word) {
  return word.ends_with(".yaml") || word.ends_with(".yml") ||
         (word.find('/') != std::string::npos && path_exists(word) && !is_directory(word));
}

std::string folder_by_time(const Instructions& wanted) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  (void)std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  std::string name = containers::application_name(wanted);
  for (char& c : name) {
    if (c == '/' || c == ':' || c == '@') c = '-';
  }
  return fmt::format("fathom-{}-{}-{}", name, text, random_id().substr(0, 4));
}

Result<Instructions> instructions_of(const Arguments& a, const std::string& engine_socket) {
  const std::string& first = a.words[0];
  if (is_file_name(first)) {
    FATHOM_ASSIGN(const std::string text, containers::read_instruction_file(first));
    FATHOM_ASSIGN(const std::string path, absolute_path(first));
    if (a.words.size() > 1)
      return usage_error("the application's arguments must be in its instructions",
                         "write them as 'arguments' into " + first);
    return containers::parse_instructions(
        text, first, {.folder = std::string(dir_name(path)), .engine_socket = engine_socket});
  }
  if (!containers::is_image_name(first))
    return Error{Code::kInvalid, "'" + escape_control(first) + "' is not a valid image name",
                 "name an image, or a file with instructions (.yaml)"};
  Instructions wanted;
  wanted.image = first;
  wanted.arguments.assign(a.words.begin() + 1, a.words.end());
  return wanted;
}

// Errors that the engine made have a status of their own; the rest is everybody's.
Result<int> status_of(const Error& error) {
  if (error.code != Code::kDenied) return error;
  tell(error);
  return containers::refusal_status(error);
}

// The application's status; one that says success where a check says no is ours to correct.
int judged(const containers::ProfileOutcome& outcome) {
  if (outcome.failed == 0) return outcome.exit;
  for (const analysis::ContainerRun& run : outcome.profile.runs) {
    if (run.failure.empty()) continue;
    tell(Error{Code::kInvalid,
               fmt::format("{} of {} failed the success check: {}", outcome.failed,
                           counted(outcome.profile.runs.size(), "run"), run.failure),
               ""});
    break;
  }
  return outcome.exit == 0 ? 1 : outcome.exit;
}

Result<int> run_it(const Arguments& a) {
  if (a.words.empty()) return usage_error("an image or a file with instructions is needed", kHint);
  // A file that is wrong is told before an engine is looked for.
  const Result<std::string> socket = containers::find_engine_socket();
  FATHOM_ASSIGN(Instructions wanted, instructions_of(a, socket ? *socket : ""));
  if (!a.metrics.empty()) wanted.metrics = a.metrics;
  std::optional<Engine> engine;
  if (wanted.command.empty()) {
    FATHOM_ASSIGN(engine, Engine::connect());
  }
  FATHOM_ASSIGN(const std::string folder,
                absolute_path(a.folder.empty() ? folder_by_time(wanted) : a.folder));
  FATHOM_ASSIGN(session::SignalQueue signals, session::SignalQueue::open());
  containers::ProfileHooks hooks;
  hooks.announce = [](const auto& words) { remark(words); };
  if (!a.quiet && ::isatty(STDERR_FILENO) == 1)
    hooks.tell = [](const auto& words) { remark(words); };
  Result<containers::ProfileOutcome> outcome = containers::profile_application(
      engine ? &*engine : nullptr, {.wanted = wanted, .folder = folder, .force = a.force}, signals,
      hooks);
  if (!outcome && signals.was_told_to_end()) {
    constexpr int kInterrupted = 130;
    tell(outcome.error());
    return kInterrupted;
  }
  if (!outcome) return status_of(outcome.error());
  if (a.quiet) return judged(*outcome);
  FATHOM_ASSIGN(const Output output, output_of({}));
  print_beside(render::profile_text(outcome->profile, output.style));
  for (const Error& trouble : outcome->troubles) tell(trouble);
  remark("results are in " + folder);
  return judged(*outcome);
}

Result<int> init_it(const Arguments& a) {
  if (a.words.size() != 1) return usage_error("one image is needed", kHint);
  if (!containers::is_image_name(a.words[0]))
    return Error{Code::kInvalid, "'" + escape_control(a.words[0]) + "' is not a valid image name",
                 ""};
  FATHOM_ASSIGN(Engine engine, Engine::connect());
  const Result<containers::ImageFacts> image =
      containers::find_image(engine, a.words[0], [] { return true; }, {});
  if (!image) return status_of(image.error());
  const std::string text = containers::init_text(a.words[0], *image);
  if (a.folder.empty()) {
    FATHOM_TRY(print(text));
    return 0;
  }
  if (path_exists(a.folder) && !a.force)
    return Error{Code::kInvalid, a.folder + " exists already", "use --force to replace it"};
  FATHOM_TRY(write_file_atomic(a.folder, text));
  return 0;
}

Result<int> base_it(const Arguments& a) {
  if (!a.words.empty())
    return usage_error("'" + escape_control(a.words[0]) + "' is not expected here", kHint);
  if (a.tag.empty() && a.from.empty()) {
    if (a.folder.empty())
      return usage_error("no folder for the layer was given", "name one with -o DIR");
    FATHOM_TRY(containers::write_base_layer(a.folder));
    return 0;
  }
  if (a.tag.empty() || a.from.empty() || !a.folder.empty())
    return usage_error("--from and -t must be used together, without -o",
                       "write it as --from IMAGE -t NAME, or as -o DIR");
  FATHOM_ASSIGN(Engine engine, Engine::connect());
  const Status made = containers::make_base_image(engine, a.from, a.tag);
  if (!made) return status_of(made.error());
  return 0;
}

Result<int> inside_it(const Arguments& a) { return profile_inside(a.words); }

struct Action {
  std::string_view name;
  std::vector<std::string_view> options;
  Result<int> (*run)(const Arguments&);
};

const std::vector<Action>& actions() {
  static const std::vector<Action> all = {
      {"run", {"--output", "--force", "--quiet", "--metrics"}, run_it},
      {"init", {"--output", "--force"}, init_it},
      {"base", {"--output", "--from", "--tag"}, base_it},
      {"inside", {}, inside_it},  // for profiler.sh alone
  };
  return all;
}

Result<const Action*> action_of(const Arguments& a) {
  const auto found = std::ranges::find(actions(), a.action, &Action::name);
  if (found != actions().end()) return &*found;
  return usage_error("'" + escape_control(a.action) + "' is neither run, init nor base", kHint);
}

Status check_options(const Parser& parser, const Arguments& a, const Action& action) {
  for (const Action& other : actions()) {
    for (const std::string_view option : other.options) {
      if (parser.given(std::string(option)) &&
          std::ranges::find(action.options, option) == action.options.end())
        return usage_error(
            fmt::format("{} does not apply to 'fathom container {}'", option, action.name), kHint);
    }
  }
  if (a.metrics.empty() && parser.given("--metrics"))
    return usage_error("--metrics needs a port, or an address and a port", kHint);
  return {};
}

Result<int> run(Parser& parser) {
  Arguments a;
  parser.positional("ACTION", a.action,
                    "run: profile an application; init: write instructions to start from; base: "
                    "make an image that profiles itself, or its layer; inside: what such an image "
                    "starts, not meant for people");
  parser.optional_tail("SPEC|IMAGE", a.words,
                       "a file with instructions (.yaml), of an image or, with 'command:', of a "
                       "program of this machine without a container; or an image and the "
                       "application's arguments");
  parser.option("-o,--output", a.folder, "DIR",
                "folder of the results (default: fathom-<image>-<time>); init: a file; base: the "
                "layer's folder");
  parser.flag("--force", a.force, "replace existing results");
  parser.flag("-q,--quiet", a.quiet, "print only the application's output");
  parser.option(
      "--metrics", a.metrics, "[ADDRESS:]PORT",
      "run: serve live values in Prometheus' text format at http://ADDRESS:PORT/metrics; "
      "PORT or :PORT serves this machine alone, *:PORT everyone who reaches it; port 0 is "
      "a free one, which is printed, also with -q");
  parser.option("--from", a.from, "IMAGE", "base: the image to add the layer to");
  parser.option("-t,--tag", a.tag, "NAME", "base: the name of the new image");
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  FATHOM_ASSIGN(const Action* const action, action_of(a));
  FATHOM_TRY(check_options(parser, a, *action));
  return action->run(a);
}

}  // namespace

extern const CommandDef kContainerCommand;
const CommandDef kContainerCommand = {
    .name = "container",
    .summary = "Run an application in containers, and show what it needs and why",
    .usage = "run [OPTION…] SPEC|IMAGE [ARGUMENT…]",
    .example =
        "fathom container run my/app:1 --fast\n"
        "fathom container init my/app:1 > app.yaml\n"
        "fathom container run -o results app.yaml\n"
        "fathom container base --from my/app:1 -t my/app:profiled",
    .run = run,
};

}  // namespace fathom::cli
