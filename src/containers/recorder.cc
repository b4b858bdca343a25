// SPDX-License-Identifier: MIT
// Puts together the same parts as session/run does, for processes that Fathom has not started: it
// has no child to wait for, and the gate tells which program it is.
#include "containers/recorder.h"

#include <fcntl.h>

#include <algorithm>

#include "base/clock.h"
#include "base/private_files.h"
#include "base/text.h"
#include "base/utf8.h"
#include "containers/python_choice.h"
#include "session/environment.h"
#include "session/kernel_options.h"
#include "session/watch/control_group.h"
#include "sources/expect.h"
#include "sources/function_names.h"
#include "symbols/kept_files.h"
#include "trace/recording/obstacle.h"
#include "trace/recording/processes.h"

namespace fathom::containers {
namespace {

std::string path_of(const Fd& file) { return "/proc/self/fd/" + std::to_string(file.get()); }

// Inside a container the library is the one of its mount, and from outside processes are joined.
session::Probe probe_for_container(bool inside) {
  return [inside](std::string_view layer) -> sources::Availability {
    const sources::SourceDef* const source = sources::source_of(layer);
    const bool from_outside = source != nullptr && !source->in_process;
    if (source == nullptr || (from_outside && (source->joins || source->attaches)) ||
        (source->in_process && inside))
      return sources::probe_layer(layer);
    return {.available = false, .reason = "not recorded from outside", .fix = ""};
  };
}

// AddressSanitizer's run-time library wants to be first; a program that has none is told nothing.
bool has_address_sanitizer(const Fd& file) {
  constexpr std::size_t kMost = std::size_t{64} << 20;
  if (!file.valid()) return false;
  const Result<File> program = File::open(path_of(file), O_RDONLY);
  const Result<std::string> bytes =
      program ? program->read_range(0, kMost) : Result<std::string>(program.error());
  return bytes && (bytes->find("libasan.so") != std::string::npos ||
                   bytes->find("libclang_rt.asan") != std::string::npos);
}

bool is_of(std::string_view variable, std::string_view name) {
  return variable.starts_with(name) && variable.substr(name.size()).starts_with('=');
}

// Functions of the application itself are named by its file, which the gate handed over.
trace::NameResolver names_in(const std::shared_ptr<GateCaller>& program,
                             const std::shared_ptr<symbols::KeptFiles>& files) {
  trace::NameResolver resolver = sources::function_names(files);
  resolver.function = [program, by_path = resolver.function](const std::string& module,
                                                             std::uint64_t offset) {
    const bool is_program =
        program->file.valid() && base_name(module) == base_name(program->program);
    return is_program ? by_path(path_of(program->file), offset) : std::string();
  };
  return resolver;
}

}  // namespace

Result<session::LayerPlan> plan_container(const std::string& layers, bool inside) {
  sources::expect_layers(session::named_layers(layers));
  FATHOM_ASSIGN(session::LayerPlan plan, session::plan_layers(layers, probe_for_container(inside)));
  if (plan.layers.empty())
    return Error{Code::kUnsupported, "none of these layers can be recorded on this machine",
                 "'fathom doctor' shows what can be recorded, and why not"};
  static const std::vector<std::string> kNone;
  FATHOM_TRY(session::check_sources({kNone, kNone, kNone}, plan));
  return plan;
}

// Without finish() there is no recording: what was begun is removed.
Recorder::~Recorder() {
  if (!finished_ && recording_) {
    hosts_.stop();
    recording_->pump().stop();
    recording_.reset();
    (void)remove_tree(options_.directory).has_value();
  }
}

Result<std::unique_ptr<Recorder>> Recorder::begin(RecorderOptions options) {
  const std::string directory = options.directory;
  std::unique_ptr<Recorder> recorder(new Recorder(std::move(options)));
  FATHOM_TRY(make_private_dir(directory));
  if (Status opened = recorder->open(); !opened) {
    recorder.reset();
    (void)remove_tree(directory).has_value();
    return std::move(opened).error();
  }
  return recorder;
}

// Sources begin before the container does: what they need (programs of the kernel, rings) takes
// longer to load than a short application runs.
Status Recorder::open() {
  files_ = std::make_shared<symbols::KeptFiles>();
  program_ = std::make_shared<GateCaller>();
  session::WatchRecordingSpec spec;
  spec.directory = options_.directory;
  spec.origin = options_.container.empty() ? "run" : "container";
  spec.command = options_.command;
  spec.layers = options_.plan.states;
  if (!options_.container.empty()) {
    spec.facts["image"] = options_.image;
    spec.facts[trace::kContainerFact] = options_.container;
  }
  spec.library = options_.mount != nullptr ? options_.library : "";
  spec.resolver = names_in(program_, files_);
  FATHOM_ASSIGN(recording_, session::WatchRecording::begin(spec));
  if (options_.mount != nullptr) {
    const std::string& mounted = options_.mount->folder();
    files_->look_below(Fd(::open(mounted.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
                       std::string(kPrivateTarget) + "/");
    FATHOM_ASSIGN(broker_, session::Broker::open(
                               options_.directory,
                               session::Broker::Door{.path = options_.mount->broker_path(),
                                                     .told = PrivateMount::told_broker_path()}));
    FATHOM_TRY(broker_->start());
  }
  FATHOM_TRY(hosts_.prepare(options_.plan.hosts, context()));
  hosts_.start(context(), recording_->pump().packer().manifest());
  recording_->pump().start(hosts_.pointers());
  return {};
}

sources::SourceContext Recorder::context() const {
  return {.directory = options_.directory,
          .root_pid = 0,
          .start_monotonic_ns = recording_->start_ns(),
          .hz = options_.hz,
          .layers = options_.plan.layers,
          .count = options_.count,
          .joins = true,
          .files = files_};
}

Status Recorder::follow(pid_t pid, const std::string& group) {
  FATHOM_ASSIGN(const session::ControlGroup found, session::find_control_group(group));
  follows_ = true;
  if (pid > 0) program_->pid = pid;
  return hosts_.join({.by = sources::Choice::By::kGroup,
                      .hierarchy = found.hierarchy,
                      .group = found.inode,
                      .group_path = found.path});
}

std::vector<std::string> Recorder::variables(const std::vector<std::string>& own,
                                             const GateCaller& caller) {
  const std::string root = "/proc/" + std::to_string(caller.pid) + "/root";
  files_->look_below(Fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  program_->pid = caller.pid;
  program_->program = caller.program;
  program_->file = Fd(::fcntl(caller.file.get(), F_DUPFD_CLOEXEC, 0));
  const std::string file = program_->file.valid() ? path_of(program_->file) : "";
  if (!file.empty()) obstacle_ = trace::obstacle_of(file, options_.library);
  const bool preloads = file.empty() || !trace::turns_library_away(file, options_.library);
  std::vector<std::string> further;
  if (options_.plan.has("python")) {
    const Result<std::vector<std::string>> python = session::python_variables(python_choice());
    if (python) further = *python;
  }
  further.push_back(broker_->variable());
  const std::vector<std::string> all =
      session::guest_environment(own, {.library = options_.mount->library(),
                                       .directory = join_path(kPrivateTarget, "out"),
                                       .layers = options_.plan.in_process,
                                       .calls = {},
                                       .further = std::move(further),
                                       .preloads = preloads});
  const bool sanitized = has_address_sanitizer(program_->file);
  std::vector<std::string> added;
  for (const std::string& variable : all) {
    const bool is_new = std::ranges::find(own, variable) == own.end();
    const bool is_needless = (is_of(variable, "ASAN_OPTIONS") && !sanitized) ||
                             (is_of(variable, "NVTX_INJECTION64_PATH") &&
                              !options_.plan.has("cuda") && !options_.plan.has("gpu"));
    if (is_new && !is_needless) added.push_back(variable);
  }
  return added;
}

// A program that the library cannot enter ran all the same; the recording says why it holds nothing
// of it.
void Recorder::note_uncovered(const trace::Totals& totals, trace::Manifest& manifest) const {
  if (options_.mount == nullptr || program_->program.empty()) return;
  const bool told = std::ranges::any_of(
      totals.processes, [&](const trace::ProcessRow& row) { return row.process != 0; });
  if (told) return;
  const std::string reason = obstacle_.empty() ? "the library did not attach" : obstacle_;
  manifest.add_not_covered({.pid = program_->pid,
                            .program = escape_invalid_utf8(program_->program),
                            .reason = reason,
                            .what = ""});
  for (const std::string& name : options_.plan.in_process) {
    trace::LayerState& layer = manifest.layer(name);
    layer.reason = "nothing was seen; the library could not enter " +
                   escape_invalid_utf8(program_->program) + " (" + reason + ")";
  }
}

Status Recorder::finish(const Ending& ending) {
  finished_ = true;
  if (broker_) broker_->stop();
  hosts_.stop();
  recording_->pump().stop();
  trace::Packer& packer = recording_->pump().packer();
  trace::Manifest& manifest = packer.manifest();
  hosts_.tell(manifest);
  if (program_->pid > 0) manifest.pid = program_->pid;
  manifest.exit_status = ending.exit;
  FATHOM_ASSIGN(const trace::Totals totals, recording_->sum_up(ending.end_monotonic_ns));
  note_uncovered(totals, manifest);
  FATHOM_TRY(trace::write_manifest(options_.directory, manifest));
  FATHOM_TRY(packer.finish());
  const std::optional<Error> trouble = recording_->pump().trouble();
  recording_.reset();
  return trouble ? Status(*trouble) : Status();
}

}  // namespace fathom::containers
