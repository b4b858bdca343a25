// SPDX-License-Identifier: MIT
// The order: decide everything that can be wrong, make the folder, run warm-ups and repetitions,
// the kinds in turn, and write the pages.
#include "containers/profile_run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/files.h"
#include "base/ids.h"
#include "base/os_error.h"
#include "base/private_files.h"
#include "base/text.h"
#include "containers/container_plan.h"
#include "containers/data_hash.h"
#include "containers/dftracer_log.h"
#include "containers/live_metrics.h"
#include "containers/local_run.h"
#include "containers/one_run.h"
#include "containers/owner.h"
#include "containers/recorder.h"
#include "containers/success.h"
#include "render/profile_pages.h"
#include "sources/expect.h"
#include "sources/library.h"
#include "trace/rows/layers.h"

namespace fathom::containers {
namespace {

constexpr char kPlainLayers[] = "resource";
constexpr char kWarmup[] = ".warm-up";
constexpr char kFirstRecording[] = "run-1.fathom";

const char* name_of(RunKind kind) {
  return kind == RunKind::kProbed ? analysis::kProbed : analysis::kPlain;
}

// Something of ours, that nobody needs any more.
bool may_replace(const std::string& folder) {
  const Result<std::vector<std::string>> names = list_dir(folder);
  return names && (names->empty() || path_exists(join_path(folder, "profile.json")) ||
                   path_exists(join_path(folder, kFirstRecording)));
}

Status check_folder(const std::string& folder, bool force) {
  if (!path_exists(folder)) return {};
  if (!force)
    return Error{Code::kInvalid, folder + " exists already",
                 "name another folder with -o, or give --force to replace results"};
  if (may_replace(folder)) return {};
  return Error{Code::kInvalid, folder + " contains something other than results",
               "name another folder"};
}

// Removed as late as here: whatever else was wrong has been said by now, and nothing is lost for
// it.
Status make_folder(const std::string& folder) {
  if (path_exists(folder)) FATHOM_TRY(remove_tree(folder));
  FATHOM_TRY(make_dirs(std::string(dir_name(folder))));
  return make_private_dir(folder);
}

// Whoever the application runs as may write there; others do not get that far.
Status make_results(const std::string& path) {
  constexpr mode_t kForAnyUser = 0777;
  FATHOM_TRY(make_private_dir(path));
  if (::chmod(path.c_str(), kForAnyUser) != 0) return os_error(errno, "set the mode of " + path);
  return {};
}

// Events are counted by layer cpu.
std::string layers_of(const Instructions& wanted) {
  std::string layers = wanted.layers.empty() ? kUsualLayers : wanted.layers;
  if (wanted.count.empty() || layers == "all") return layers;
  if (layers == "default") return "+" + std::string(trace::kSampledLayer);
  const std::vector<std::string_view> named = session::named_layers(layers);
  if (std::ranges::find(named, trace::kSampledLayer) == named.end())
    layers += "," + std::string(trace::kSampledLayer);
  return layers;
}

// One application, from check to pages. What is decided once (layers, image, hash of the data) is
// kept here, so that all runs are runs of the same thing.
class Profiler {
 public:
  Profiler(Engine* engine, const ProfileOptions& options, session::SignalQueue& signals,
           const ProfileHooks& hooks)
      : engine_(engine), options_(options), signals_(signals), hooks_(hooks) {}

  Result<ProfileOutcome> run();

 private:
  Status prepare();
  Status plan_layers();
  Status plan_local_layers();
  Status run_all();
  Status warm_up(RunKind kind);
  Status run_counted(RunKind kind);
  Status judge(const std::string& number);
  void write_log(const std::string& number);
  Result<OneEnding> run_one_of(RunKind kind, const std::string& folder, const std::string& number,
                               bool shown);
  Result<ProfileOutcome> finish();
  void describe(analysis::Profile& profile) const;
  void tell_outputs(analysis::Profile& profile) const;
  [[nodiscard]] const session::LayerPlan& plan_of(RunKind kind) const {
    return kind == RunKind::kProbed ? probed_ : plain_;
  }
  [[nodiscard]] bool has(RunKind kind) const {
    return std::ranges::find(options_.wanted.runs, kind) != options_.wanted.runs.end();
  }

  Engine* engine_;  // nullptr: a command of this machine
  const ProfileOptions& options_;
  session::SignalQueue& signals_;
  const ProfileHooks& hooks_;
  ImageFacts image_;
  session::LayerPlan probed_, plain_;
  std::unique_ptr<ServedMetrics> metrics_;  // nullptr: nobody asked
  std::string library_, data_hash_;
  std::string local_layers_;  // of a command, as --layers
  std::string id_ = random_id().substr(0, 8);
  std::vector<analysis::ContainerRun> runs_;
  std::vector<std::pair<std::size_t, OutputCounts>> outputs_;  // by the run's number
  std::vector<std::string> remarks_;                           // sentences
  std::vector<Error> troubles_;
  std::optional<int> exit_;
  bool interrupted_ = false;
};

// Layers that nobody named may be missing.
Status Profiler::plan_layers() {
  const std::string& asked = options_.wanted.layers;
  if (has(RunKind::kProbed)) {
    Result<session::LayerPlan> plan = plan_container(layers_of(options_.wanted), true);
    if (!plan && asked.empty()) plan = plan_container("", true);
    if (!plan) return std::move(plan).error();
    probed_ = std::move(*plan);
    FATHOM_ASSIGN(library_,
                  sources::find_library(probed_.has(sources::kHeapLayer) ? sources::kHeapLayer
                                                                         : std::string_view()));
  }
  if (has(RunKind::kPlain)) {
    FATHOM_ASSIGN(plain_, plan_container(kPlainLayers, false));
  }
  return {};
}

// Of a command, `fathom run` does the rest.
Status Profiler::plan_local_layers() {
  const std::string& asked = options_.wanted.layers;
  local_layers_ = layers_of(options_.wanted);
  sources::expect_layers(session::named_layers(local_layers_));
  const Result<session::LayerPlan> plan = session::plan_layers(local_layers_);
  if (!plan && !asked.empty()) return plan.error();
  if (!plan) local_layers_.clear();
  if (has(RunKind::kPlain)) {
    FATHOM_ASSIGN(plain_, plan_container(kPlainLayers, false));
  }
  return {};
}

// The folder is made last. Metrics come first: their address shall be known while an image is being
// fetched, which takes minutes.
Status Profiler::prepare() {
  const Instructions& wanted = options_.wanted;
  FATHOM_TRY(check_folder(options_.folder, options_.force));
  if (!wanted.metrics.empty()) {
    FATHOM_ASSIGN(metrics_, ServedMetrics::begin(wanted.metrics));
    const auto& say = metrics_->door().has_chosen_port() ? hooks_.announce : hooks_.tell;
    if (say) say(metrics_->door().sentence());
  }
  if (engine_ == nullptr) {
    FATHOM_TRY(plan_local_layers());
    return make_folder(options_.folder);
  }
  FATHOM_TRY(plan_layers());
  const auto go_on = [this] { return !signals_.told_to_end(); };
  FATHOM_ASSIGN(image_, find_image(*engine_, wanted.image, go_on, hooks_));
  if (command_of(wanted, image_).empty())
    return Error{Code::kDenied, "image " + wanted.image + " does not say what to run",
                 "name the program with 'entrypoint' or 'arguments'"};
  if (!wanted.data.source.empty()) {
    FATHOM_ASSIGN(data_hash_, hash_of_data(wanted.data.source, go_on));
  }
  return make_folder(options_.folder);
}

Result<OneEnding> Profiler::run_one_of(RunKind kind, const std::string& folder,
                                       const std::string& number, bool shown) {
  const Instructions& wanted = options_.wanted;
  OneRun run{.kind = kind,
             .name = (wanted.name.empty() ? "fathom" : wanted.name) + "-" + id_ + "-" + number,
             .recording = join_path(folder, "run-" + number + ".fathom"),
             .out = join_path(folder, "stdout-" + number),
             .err = join_path(folder, "stderr-" + number),
             .results = "",
             .scratch = join_path(folder, ".gate-" + number),
             .shown = shown};
  if (!wanted.results.empty()) {
    run.results = join_path(folder, "results-" + number);
    FATHOM_TRY(make_results(run.results));
  }
  const bool may_have_outputs =
      !wanted.outputs.empty() || (engine_ != nullptr && has_usual_results(wanted));
  if (may_have_outputs && folder == options_.folder)
    run.outputs = join_path(folder, "outputs-" + number);
  if (metrics_)
    metrics_->metrics().begin_run({application_name(wanted), name_of(kind), run.recording});
  if (engine_ == nullptr)
    return run_local({.wanted = wanted,
                      .signals = signals_,
                      .layers = kind == RunKind::kProbed ? local_layers_ : kPlainLayers,
                      .plan = plain_},
                     run);
  return run_one({.engine = *engine_,
                  .wanted = wanted,
                  .image = image_,
                  .signals = signals_,
                  .plan = plan_of(kind),
                  .library = library_},
                 run);
}

// In a folder that is removed: nothing of it can be taken for a result.
Status Profiler::warm_up(RunKind kind) {
  const std::string folder = join_path(options_.folder, kWarmup);
  FATHOM_TRY(make_private_dir(folder));
  const Result<OneEnding> ending = run_one_of(kind, folder, "0", false);
  FATHOM_TRY(remove_tree(folder));
  if (!ending) return ending.error();
  interrupted_ = ending->interrupted;
  if (interrupted_) exit_ = ending->exit;
  return {};
}

// The first plain run is the application as its user knows it: its output is shown and its status
// is ours. Without plain runs, the first one.
Status Profiler::run_counted(RunKind kind) {
  const std::string number = std::to_string(runs_.size() + 1);
  const bool is_first_plain = kind == RunKind::kPlain && std::ranges::none_of(runs_, [](auto& one) {
                                return one.kind == analysis::kPlain;
                              });
  const bool is_shown = is_first_plain || (!has(RunKind::kPlain) && runs_.empty());
  FATHOM_ASSIGN(const OneEnding ending, run_one_of(kind, options_.folder, number, is_shown));
  if (is_shown || ending.interrupted) exit_ = ending.exit;
  interrupted_ = ending.interrupted;
  if (ending.trouble) troubles_.push_back(*ending.trouble);
  for (const std::string& remark : ending.remarks)
    remarks_.push_back(fmt::format("Run {} {}.", number, remark));
  if (ending.outputs || !options_.wanted.outputs.empty())
    outputs_.emplace_back(runs_.size() + 1, ending.outputs.value_or(OutputCounts{}));
  if (kind == RunKind::kProbed) write_log(number);
  runs_.push_back({.kind = name_of(kind),
                   .recording = join_path(options_.folder, "run-" + number + ".fathom"),
                   .exit = ending.exit,
                   .oom = ending.oom,
                   .timed_out = ending.timed_out,
                   .wall_s = ending.wall_s});
  return judge(number);
}

Status Profiler::judge(const std::string& number) {
  analysis::ContainerRun& run = runs_.back();
  FATHOM_ASSIGN(run.failure, failure_of(options_.wanted.success, run.exit, run.timed_out,
                                        join_path(options_.folder, "stdout-" + number)));
  run.success = run.failure.empty();
  // What nobody asked for is no check: the status tells it.
  if (!options_.wanted.success.is_asked_for()) run.failure.clear();
  return {};
}

// A program that was made for DFTracer asked for its log; a failure costs the log alone.
void Profiler::write_log(const std::string& number) {
  const std::string name = dftracer_log_name(options_.wanted, image_);
  if (name.empty()) return;
  const auto place = [&](const std::string& what) {
    return join_path(options_.folder, what + number);
  };
  Status written =
      write_dftracer_log(place("run-") + ".fathom", name, place(".log-"), place("results-"));
  if (!written) troubles_.push_back(std::move(written).error().with("DFTracer's log"));
}

// The kinds in turn: whatever changes on the machine meanwhile changes for both.
Status Profiler::run_all() {
  const Instructions& wanted = options_.wanted;
  for (std::int64_t i = 0; i < wanted.warmup; ++i) {
    for (const RunKind kind : wanted.runs) {
      if (!interrupted_) FATHOM_TRY(warm_up(kind));
    }
  }
  const std::int64_t all = wanted.repetitions * static_cast<std::int64_t>(wanted.runs.size());
  for (std::int64_t i = 0; i < all && !interrupted_; ++i) {
    const RunKind kind = wanted.runs[static_cast<std::size_t>(i) % wanted.runs.size()];
    if (hooks_.tell) hooks_.tell(fmt::format("run {} of {}: {}", i + 1, all, name_of(kind)));
    FATHOM_TRY(run_counted(kind));
  }
  return {};
}

void Profiler::describe(analysis::Profile& profile) const {
  const Instructions& wanted = options_.wanted;
  const bool is_local = engine_ == nullptr;
  const std::vector<std::string> words = is_local ? wanted.command : command_of(wanted, image_);
  profile.title = application_name(wanted);
  if (!is_local) profile.facts = {{"image", wanted.image}, {"image ID", image_.id}};
  profile.facts.emplace_back("command", shell_join(words));
  List command;
  for (const std::string& word : words) command.emplace_back(word);
  if (!is_local)
    profile.extra.emplace_back("image", Object{{"name", wanted.image}, {"id", image_.id}});
  profile.extra.emplace_back("command", std::move(command));
  if (wanted.success.is_asked_for()) {
    List exits;
    for (const int status : wanted.success.exits) exits.emplace_back(std::int64_t{status});
    profile.extra.emplace_back(
        "success", Object{{"exit", std::move(exits)}, {"output", wanted.success.output}});
  }
  if (wanted.data.source.empty()) return;
  profile.facts.emplace_back("data", wanted.data.source + " (SHA-256 " + data_hash_ + ")");
  profile.extra.emplace_back("data", Object{{"source", wanted.data.source},
                                            {"target", wanted.data.target},
                                            {"sha256", data_hash_}});
}

void Profiler::tell_outputs(analysis::Profile& profile) const {
  List all;
  for (const auto& [number, counts] : outputs_) {
    Object left_out;
    for (const auto& [reason, how_many] : counts.left_out)
      left_out.emplace_back(reason, static_cast<std::int64_t>(how_many));
    all.emplace_back(Object{{"run", static_cast<std::int64_t>(number)},
                            {"files", static_cast<std::int64_t>(counts.files)},
                            {"bytes", static_cast<std::int64_t>(counts.bytes)},
                            {"left_out", std::move(left_out)}});
    if (!counts.left_out.empty())
      profile.words.push_back(fmt::format("Outputs of run {} that were not copied: {}.", number,
                                          left_out_words(counts)));
  }
  if (!all.empty()) profile.extra.emplace_back("outputs", std::move(all));
}

Result<ProfileOutcome> Profiler::finish() {
  FATHOM_ASSIGN(analysis::Profile profile, analysis::application_profile(runs_));
  describe(profile);
  tell_outputs(profile);
  profile.words.insert(profile.words.end(), remarks_.begin(), remarks_.end());
  FATHOM_TRY(write_private_atomic(join_path(options_.folder, "profile.html"),
                                  render::profile_html(profile)));
  FATHOM_TRY(write_private_atomic(join_path(options_.folder, "profile.json"),
                                  render::profile_json(profile)));
  const auto failed = std::ranges::count_if(
      runs_, [](const analysis::ContainerRun& run) { return !run.failure.empty(); });
  return ProfileOutcome{.exit = exit_.value_or(0),
                        .failed = static_cast<std::size_t>(failed),
                        .profile = std::move(profile),
                        .troubles = std::move(troubles_)};
}

// An engine that fails in the midst leaves the runs that are complete: they stay, without pages. A
// folder without any run is removed.
Result<ProfileOutcome> Profiler::run() {
  FATHOM_TRY(prepare());
  Status ran = run_all();
  if (!ran && engine_ != nullptr && path_exists(join_path(options_.folder, kFirstRecording))) {
    Error error = std::move(ran).error();
    if (error.hint.empty()) error.hint = "what was recorded until then is in " + options_.folder;
    return error;
  }
  if (runs_.empty()) {
    (void)remove_tree(options_.folder).has_value();
    if (!ran) return std::move(ran).error();
    return ProfileOutcome{.exit = exit_.value_or(1), .profile = {}, .troubles = {}};
  }
  if (!ran) return std::move(ran).error();
  return finish();
}

}  // namespace

Result<ImageFacts> find_image(Engine& engine, const std::string& name,
                              const std::function<bool()>& go_on, const ProfileHooks& hooks) {
  FATHOM_ASSIGN(std::optional<ImageFacts> found, engine.image(name));
  if (!found) {
    if (hooks.tell) hooks.tell("fetching " + name);
    FATHOM_TRY(engine.pull(name, go_on));
    FATHOM_ASSIGN(found, engine.image(name));
  }
  if (!found) return Error{Code::kDenied, "there is no image " + name, ""};
  return std::move(*found);
}

std::string application_name(const Instructions& wanted) {
  if (!wanted.name.empty()) return wanted.name;
  return wanted.command.empty() ? wanted.image : std::string(base_name(wanted.command[0]));
}

Result<ProfileOutcome> profile_application(Engine* engine, const ProfileOptions& options,
                                           session::SignalQueue& signals,
                                           const ProfileHooks& hooks) {
  if (engine != nullptr) FATHOM_TRY(remove_abandoned(*engine));
  return Profiler(engine, options, signals, hooks).run();
}

}  // namespace fathom::containers
