// SPDX-License-Identifier: MIT
// The order: check whom and where, make the directory, start the sources, let the processes join,
// wait, sum up, pack. Where somebody cannot be joined, all of it is taken back.
#include "session/attach/attach.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/private_files.h"
#include "base/text.h"
#include "session/attach/running_process.h"
#include "session/event_options.h"
#include "session/host_sources.h"
#include "session/kernel_options.h"
#include "session/layer_plan.h"
#include "session/place.h"
#include "session/signal_queue.h"
#include "session/watch/control_group.h"
#include "session/watch/watch_recording.h"
#include "sources/expect.h"
#include "trace/recording/newest.h"
#include "trace/recording/processes.h"
#include "trace/rows/layers.h"

namespace fathom::session {
namespace {

constexpr std::int64_t kTickMs = 100;
constexpr std::int64_t kMsNs = 1'000'000;

Result<std::vector<RunningProcess>> open_processes(const std::vector<pid_t>& pids) {
  std::vector<RunningProcess> processes;
  for (const pid_t pid : pids) {
    FATHOM_ASSIGN(RunningProcess process, RunningProcess::open(pid));
    processes.push_back(std::move(process));
  }
  return processes;
}

// What `default` and a leading `+` mean here.
std::string layers_of(const std::string& asked) {
  const std::string_view words = trim(asked);
  if (words.empty() || words == "default") return kAttachLayers;
  if (words.starts_with('+'))
    return std::string(kAttachLayers) + "," + std::string(words.substr(1));
  return std::string(words);
}

// What `fathom attach` was pointed at: some processes, or one container.
struct AttachTarget {
  std::vector<RunningProcess> processes;
  std::optional<ControlGroup> group;  // of a container: then the process is its first

  [[nodiscard]] std::vector<sources::Choice> choices() const {
    std::vector<sources::Choice> all;
    if (group)
      return {{.by = sources::Choice::By::kGroup,
               .hierarchy = group->hierarchy,
               .group = group->inode,
               .group_path = group->path}};
    for (const RunningProcess& process : processes)
      all.push_back({.by = sources::Choice::By::kProcess, .process = process.pid()});
    return all;
  }
  [[nodiscard]] bool have_all_ended() const {
    if (!group) return std::ranges::all_of(processes, [](auto& one) { return one.has_ended(); });
    const Result<std::string> members = read_file(join_path(group->path, "cgroup.procs"));
    return !members || members->empty();
  }
};

// Of a container its first process stands for all: its command line is the application's.
Result<AttachTarget> find_target(const AttachOptions& options) {
  AttachTarget target;
  if (options.container.empty()) {
    FATHOM_ASSIGN(target.processes, open_processes(options.processes));
    return target;
  }
  FATHOM_ASSIGN(const std::string path, find_container_group(options.container));
  FATHOM_ASSIGN(target.group, find_control_group(path));
  FATHOM_ASSIGN(const std::string members, read_file(join_path(path, "cgroup.procs")));
  const Result<std::int64_t> first = parse_int(split(members, '\n').front());
  if (!first)
    return Error{Code::kNotFound, "no process of container " + options.container + " is left", ""};
  FATHOM_ASSIGN(target.processes, open_processes({static_cast<pid_t>(*first)}));
  return target;
}

Result<LayerPlan> plan_attach(const AttachOptions& options) {
  static const std::vector<std::string> kNoFunctions;
  FATHOM_TRY(check_counted(options.count));
  const std::string layers = layers_of(options.layers);
  sources::expect_layers(named_layers(layers));
  FATHOM_ASSIGN(LayerPlan plan, plan_layers(layers, probe_for_running(probe_for(kNoFunctions),
                                                                      options.container.empty())));
  if (plan.layers.empty())
    return Error{Code::kUnsupported, "none of these layers can be recorded on this machine",
                 "'fathom doctor' shows what can be recorded, and why not"};
  FATHOM_TRY(check_sources({kNoFunctions, kNoFunctions, kNoFunctions}, plan));
  if (!options.count.empty() && !plan.has(trace::kSampledLayer))
    return usage_error("--count is an option of layer cpu, which is not recorded",
                       "add --layers +cpu");
  return plan;
}

Result<std::unique_ptr<WatchRecording>> begin_recording(const AttachOptions& options,
                                                        const LayerPlan& plan,
                                                        const AttachTarget& target) {
  FATHOM_ASSIGN(const Fd gate, hold_place(options.output));
  WatchRecordingSpec spec;
  FATHOM_ASSIGN(spec.directory, make_place(options.output, options.force, "attach"));
  spec.origin = "attach";
  if (target.group) spec.facts[trace::kContainerFact] = options.container;
  spec.command = target.processes.front().command();
  if (options.no_command) {
    spec.command.resize(1);
  } else {
    spec.environment = target.processes.front().environment();
  }
  spec.layers = plan.states;
  Result<std::unique_ptr<WatchRecording>> begun = [&] {
    const Status shared = options.share ? share_with(spec.directory, *options.share) : Status();
    return shared ? WatchRecording::begin(spec)
                  : Result<std::unique_ptr<WatchRecording>>(shared.error());
  }();
  if (!begun) (void)remove_tree(spec.directory).has_value();
  return begun;
}

class Attached {
 public:
  Attached(const AttachOptions& options, const RunHooks& hooks, AttachTarget target,
           std::unique_ptr<WatchRecording> recording, SignalQueue& signals)
      : options_(options),
        hooks_(hooks),
        target_(std::move(target)),
        recording_(std::move(recording)),
        signals_(signals) {}

  Status begin(const LayerPlan& plan);
  RunOutcome record();

 private:
  [[nodiscard]] sources::SourceContext context(const LayerPlan& plan) const;
  [[nodiscard]] std::int64_t left_ns() const;
  void wait();
  Status complete(RunOutcome& outcome);
  void tell_trouble(const Error& trouble);

  const AttachOptions& options_;
  const RunHooks& hooks_;
  AttachTarget target_;
  std::unique_ptr<WatchRecording> recording_;
  SignalQueue& signals_;
  HostSources hosts_;
  std::int64_t begun_ns_ = 0;
};

sources::SourceContext Attached::context(const LayerPlan& plan) const {
  return {.directory = recording_->directory(),
          .root_pid = 0,
          .start_monotonic_ns = recording_->start_ns(),
          .hz = options_.hz,
          .layers = plan.layers,
          .sample_hz = options_.sample_hz,
          .sample_event = options_.sample_event,
          .count = options_.count,
          .joins = true,
          .no_command = options_.no_command};
}

Status Attached::begin(const LayerPlan& plan) {
  trace::Manifest& manifest = recording_->pump().packer().manifest();
  manifest.pid = target_.processes.front().pid();
  FATHOM_TRY(hosts_.prepare(plan.hosts, context(plan)));
  hosts_.start(context(plan), manifest);
  for (const sources::Choice& choice : target_.choices()) FATHOM_TRY(hosts_.join(choice));
  recording_->pump().start(hosts_.pointers());
  begun_ns_ = now_monotonic_ns();
  trace::remember_newest(recording_->directory());
  return {};
}

// Of the time that was given; a tick where none was.
std::int64_t Attached::left_ns() const {
  if (options_.for_ns == 0) return kTickMs * kMsNs;
  return options_.for_ns - (now_monotonic_ns() - begun_ns_);
}

void Attached::wait() {
  for (std::int64_t left = left_ns(); left > 0 && !target_.have_all_ended(); left = left_ns()) {
    if (signals_.told_to_end(static_cast<int>(std::min(kTickMs, left / kMsNs + 1)))) return;
    if (hooks_.live)
      hooks_.live({.elapsed_ns = now_monotonic_ns() - recording_->start_ns(),
                   .flow = recording_->pump().flow()});
  }
}

Status Attached::complete(RunOutcome& outcome) {
  trace::Packer& packer = recording_->pump().packer();
  hosts_.tell(packer.manifest());
  FATHOM_ASSIGN(const trace::Totals totals, recording_->sum_up(now_monotonic_ns()));
  FATHOM_TRY(trace::write_manifest(recording_->directory(), packer.manifest()));
  if (hooks_.ended && !outcome.trouble)
    hooks_.ended({.directory = outcome.directory, .totals = totals, .strings = packer.strings()});
  const std::uint64_t before = packer.progress().events;
  const auto go_on = [&](std::uint64_t) {
    if (hooks_.packing)
      hooks_.packing({.packed = packer.progress().events - before, .all = totals.waiting});
    return !signals_.told_to_end();
  };
  FATHOM_ASSIGN(const trace::FinishResult finished, packer.finish("", go_on));
  outcome.interrupted = finished.interrupted;
  return {};
}

// Where the manifest cannot be written any more, whoever packs what is left finds it in the spool.
void Attached::tell_trouble(const Error& trouble) {
  recording_->pump().packer().look(
      [&](trace::Drainer& drainer) { drainer.tell_trouble(trouble.message); });
}

RunOutcome Attached::record() {
  RunOutcome outcome;
  outcome.directory = recording_->directory();
  wait();
  hosts_.stop();
  recording_->pump().stop();
  outcome.trouble = recording_->pump().trouble();
  if (const Status completed = complete(outcome); !completed) {
    if (!outcome.trouble) outcome.trouble = completed.error();
    tell_trouble(*outcome.trouble);
  }
  signals_.release();
  return outcome;
}

}  // namespace

Result<RunOutcome> attach(const AttachOptions& options, const RunHooks& hooks) {
  FATHOM_ASSIGN(AttachTarget target, find_target(options));
  FATHOM_TRY(check_place(options.output, options.force));
  FATHOM_ASSIGN(const LayerPlan plan, plan_attach(options));
  FATHOM_ASSIGN(SignalQueue signals, SignalQueue::open());
  FATHOM_ASSIGN(std::unique_ptr<WatchRecording> recording, begin_recording(options, plan, target));
  const std::string directory = recording->directory();
  Attached attached(options, hooks, std::move(target), std::move(recording), signals);
  if (Status begun = attached.begin(plan); !begun) {
    (void)remove_tree(directory).has_value();
    return std::move(begun).error();
  }
  return attached.record();
}

}  // namespace fathom::session
