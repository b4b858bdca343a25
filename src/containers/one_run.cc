// SPDX-License-Identifier: MIT
// One thread and one loop: the application's output, its end, the gate, signals to us and the clock
// are waited for together. The container goes with the object, whatever happens.
#include "containers/one_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "base/own_file.h"
#include "base/private_files.h"
#include "base/text.h"
#include "containers/control_groups.h"
#include "containers/copy_outputs.h"
#include "containers/private_mount.h"
#include "containers/recorder.h"
#include "containers/run_output.h"
#include "containers/safe_mount.h"
#include "containers/stop_sequence.h"
#include "session/signal_policy.h"
#include "session/watch/control_group.h"

namespace fathom::containers {
namespace {

constexpr std::int64_t kMsNs = 1'000'000;
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kStreamsNs = 10 * kSecondNs;  // for the rest of the output, after the end
constexpr int kMostAsking = 3;                       // signals to us before the last one to it

// Goes with whoever holds it.
class OwnedContainer {
 public:
  OwnedContainer(Engine& engine, std::string id) : engine_(engine), id_(std::move(id)) {}
  ~OwnedContainer() { (void)remove().has_value(); }
  OwnedContainer(const OwnedContainer&) = delete;
  OwnedContainer& operator=(const OwnedContainer&) = delete;

  [[nodiscard]] const std::string& id() const { return id_; }
  Status remove() {
    if (std::exchange(removed_, true)) return {};
    return engine_.remove(id_);
  }

 private:
  Engine& engine_;
  std::string id_;
  bool removed_ = false;
};

// One container, from its making to its end. Members are in the order in which they are needed, so
// that they go in the other one: streams before the container, the container before the folder that
// it has mounted.
class Runner {
 public:
  Runner(const RunContext& context, const OneRun& run)
      : context_(context), run_(run), stop_(context.wanted.grace_ns) {}

  Result<OneEnding> run();

 private:
  [[nodiscard]] Status check_sources() const;
  Status prepare();
  [[nodiscard]] Status check_runtime() const;
  Status start();
  void follow_while_starting(const std::stop_token& stop);
  void follow_started();
  void set_deadline();
  Status wait_for_end();
  Status wait_once();
  Status hear_gate();
  Status open_gate(const GateCaller& caller);
  void take_signals();
  void send_due_signal();
  void fit_terminal();
  Status copy_outputs();
  [[nodiscard]] std::string wanted_events() const { return join(context_.wanted.count, ","); }
  Status end();
  Error with_recording_kept(Error trouble);
  void measure(const ContainerState& state);
  [[nodiscard]] int patience_ms() const;
  void note(Status status) {
    if (!status && !ending_.trouble) ending_.trouble = std::move(status).error();
  }

  const RunContext& context_;
  const OneRun& run_;
  std::optional<PrivateMount> mount_;
  std::optional<RunOutput> output_;
  std::optional<OwnedContainer> container_;
  std::unique_ptr<Recorder> recorder_;
  std::optional<EngineStream> streams_, exit_;
  StopSequence stop_;
  OneEnding ending_;
  pid_t pid_ = 0;
  std::int64_t asked_realtime_ns_ = 0;  // when the engine was told to start it
  std::int64_t began_ns_ = 0;           // the application did, at most a moment later; 0: not seen
  std::int64_t ended_ns_ = 0;           // the engine said so; 0: it runs
  int asked_to_end_ = 0;                // by signals to us
  bool is_gate_open_ = false;
  bool gate_is_done_ = true;
};

// A folder on the way may have become a link since the file was read, or since the last run.
Status Runner::check_sources() const {
  const auto check = [this](const std::string& source) -> Status {
    FATHOM_ASSIGN(const std::string now, safe_source(source, context_.engine.socket()));
    if (now != source)
      return Error{Code::kInvalid, escape_control(source) + " has become a link", ""};
    return {};
  };
  for (const Mount& mount : context_.wanted.mounts) FATHOM_TRY(check(mount.source));
  return context_.wanted.data.source.empty() ? Status() : check(context_.wanted.data.source);
}

// Podman overlooks it: the run would be another one than was asked for.
Status Runner::check_runtime() const {
  const std::string& wanted = context_.wanted.runtime;
  if (wanted.empty()) return {};
  FATHOM_ASSIGN(const ContainerState state, context_.engine.inspect(container_->id()));
  if (state.runtime == wanted) return {};
  return Error{Code::kDenied,
               "this engine does not accept the name of a runtime, such as '" + wanted + "'",
               "leave 'runtime' out, or make it the engine's own"};
}

Status Runner::prepare() {
  const bool probed = run_.kind == RunKind::kProbed;
  FATHOM_TRY(check_sources());
  FATHOM_ASSIGN(output_, RunOutput::open(run_, context_.wanted.tty));
  if (probed) {
    FATHOM_ASSIGN(mount_, PrivateMount::make(run_.scratch, context_.library, context_.wanted.text));
    gate_is_done_ = false;
  }
  const ContainerPlan plan{.wanted = context_.wanted,
                           .image = context_.image,
                           .results = run_.results,
                           .gate = probed ? mount_->folder() : ""};
  FATHOM_ASSIGN(std::string id, context_.engine.create(run_.name, create_body(plan)));
  container_.emplace(context_.engine, std::move(id));
  FATHOM_TRY(check_runtime());
  FATHOM_ASSIGN(recorder_, Recorder::begin({.directory = run_.recording,
                                            .plan = context_.plan,
                                            .image = context_.wanted.image,
                                            .container = container_->id(),
                                            .command = command_of(context_.wanted, context_.image),
                                            .mount = probed ? &*mount_ : nullptr,
                                            .library = context_.library,
                                            .count = probed ? wanted_events() : ""}));
  return {};
}

// The runtime's own process is in the group first, and becomes the application: from then on its
// memory, its threads and its time are the application's.
void Runner::follow_while_starting(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kPause{2};
  std::string group, runtime;
  for (; !stop.stop_requested(); std::this_thread::sleep_for(kPause)) {
    const std::int64_t before = now_monotonic_ns();
    if (group.empty()) {
      const Result<std::string> found = session::find_container_group(container_->id());
      if (found) group = *found;
    }
    if (!group.empty() && pid_ == 0) pid_ = first_in(group);
    if (pid_ == 0) continue;
    const std::string name = name_of_process(pid_);
    if (runtime.empty()) runtime = name;
    if (name == runtime && is_runtime(name)) {
      began_ns_ = before;
      continue;
    }
    (void)recorder_->follow(pid_, group).has_value();
    return;
  }
}

// Attached and waited for before it starts: an application may have ended before the engine
// answers, and its output and status would be gone. A plain run has no gate, so a thread looks for
// its first process meanwhile.
Status Runner::start() {
  FATHOM_ASSIGN(streams_, context_.engine.attach(container_->id(), [this](std::string_view bytes) {
    output_->take(bytes);
    return true;
  }));
  FATHOM_ASSIGN(exit_,
                context_.engine.wait(container_->id(), [](std::string_view) { return true; }));
  asked_realtime_ns_ = now_realtime_ns();
  std::jthread finder;
  if (!mount_)
    finder = std::jthread([this](const std::stop_token& stop) { follow_while_starting(stop); });
  FATHOM_TRY(context_.engine.start(container_->id()));
  finder = {};
  if (!mount_ && !recorder_->follows()) follow_started();
  fit_terminal();
  if (!mount_) set_deadline();
  return {};
}

// The thread did not find it in time: the engine knows its process by now, and what it did until
// here is missing from the recording.
void Runner::follow_started() {
  const Result<ContainerState> state = context_.engine.inspect(container_->id());
  if (!state || state->pid <= 0) return;  // it was quick
  pid_ = static_cast<pid_t>(state->pid);
  const std::string group = group_of(pid_);
  if (!group.empty()) note(recorder_->follow(pid_, group));
}

void Runner::fit_terminal() {
  winsize size{};
  if (!context_.wanted.tty || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0)
    return;
  (void)context_.engine.resize(container_->id(), size.ws_row, size.ws_col).has_value();
}

// From the application's begin, not the container's: making one takes an engine seconds.
void Runner::set_deadline() {
  const Instructions& wanted = context_.wanted;
  std::int64_t limit = wanted.duration_ns;
  if (wanted.limits.time_ns > 0) limit = std::min(limit, wanted.limits.time_ns);
  if (!stop_.has_begun()) stop_.begin_at(now_monotonic_ns() + limit);
}

int Runner::patience_ms() const {
  constexpr std::int64_t kLongest = 60'000;
  const std::int64_t until = ended_ns_ != 0 ? ended_ns_ + kStreamsNs : stop_.next_ns();
  if (until == 0) return static_cast<int>(kLongest);
  return static_cast<int>(
      std::clamp((until - now_monotonic_ns()) / kMsNs + 1, std::int64_t{0}, kLongest));
}

// The engine reports the end and closes the output in any order. After the end the rest of the
// output has some seconds: a child in the background may hold it open for ever.
Status Runner::wait_for_end() {
  while (ended_ns_ == 0 || !streams_->has_ended()) {
    FATHOM_TRY(wait_once());
    if (stop_.is_over()) return Error{Code::kDenied, "the engine does not end the container", ""};
    if (ended_ns_ != 0 && now_monotonic_ns() > ended_ns_ + kStreamsNs) break;
  }
  return {};
}

Status Runner::wait_once() {
  std::array<pollfd, 4> waiting = {pollfd{streams_->has_ended() ? -1 : streams_->fd(), POLLIN, 0},
                                   pollfd{exit_->has_ended() ? -1 : exit_->fd(), POLLIN, 0},
                                   pollfd{context_.signals.fd(), POLLIN, 0},
                                   pollfd{gate_is_done_ ? -1 : mount_->door(), POLLIN, 0}};
  ::poll(waiting.data(), waiting.size(), patience_ms());
  if (waiting[0].revents != 0) FATHOM_TRY(streams_->read());
  if (waiting[3].revents != 0) FATHOM_TRY(hear_gate());
  if (waiting[1].revents != 0) {
    FATHOM_TRY(exit_->read());
    if (exit_->has_ended()) ended_ns_ = now_monotonic_ns();
  }
  take_signals();
  send_due_signal();
  return {};
}

// Signals of a terminal go to the application, as if it ran there. SIGCONT and SIGPIPE are about us
// alone.
void Runner::take_signals() {
  siginfo_t info;
  while (context_.signals.next(info)) {
    const int number = info.si_signo;
    if (session::asks_to_stop(number)) {
      session::SignalQueue::stop_by(number);
    } else if (number == SIGWINCH) {
      fit_terminal();
    } else if (session::is_forwarded(number) && number != SIGCONT && number != SIGPIPE) {
      (void)context_.engine.kill(container_->id(), number).has_value();
      if (!session::asks_to_end(number)) continue;
      ending_.interrupted = true;
      stop_.begun(now_monotonic_ns());
      // Whoever asks a third time does not want to wait any longer.
      if (++asked_to_end_ == kMostAsking)
        (void)context_.engine.kill(container_->id(), SIGKILL).has_value();
    }
  }
}

void Runner::send_due_signal() {
  if (ended_ns_ != 0) return;
  const bool by_itself = !stop_.has_begun();
  const int signal = stop_.due(now_monotonic_ns());
  if (signal == 0) return;
  ending_.timed_out = ending_.timed_out || by_itself;
  (void)context_.engine.kill(container_->id(), signal).has_value();
}

Status Runner::hear_gate() {
  FATHOM_ASSIGN(const std::optional<GateCaller> caller, mount_->hear());
  if (!caller) return {};
  // Without the gate, the runtime would have begun by now: it ends as a program that failed.
  if (caller->error != 0 && !is_gate_open_) {
    const std::vector<std::string> words = command_of(context_.wanted, context_.image);
    const bool missing = caller->error == ENOENT;
    return Error{Code::kDenied,
                 fmt::format("the container cannot run \"{}\": {}", escape_control(words.at(0)),
                             missing ? "executable file not found in $PATH"
                                     : std::strerror(caller->error)),  // NOLINT(*-mt-unsafe)
                 ""};
  }
  if (is_gate_open_ || caller->program.empty()) {
    gate_is_done_ = true;  // it has become the application, or cannot, or its container has ended
    return {};
  }
  return open_gate(*caller);
}

// In this order: the recorder follows the group, then the gate opens. No call of the application
// comes before the recorder sees it. Where it cannot be followed the application runs all the same,
// and that is noted.
Status Runner::open_gate(const GateCaller& caller) {
  pid_ = caller.pid;
  const std::string group = group_of(pid_);
  if (group.empty()) {
    note(Error{Code::kUnsupported, "the container's control group cannot be found", ""});
  } else {
    note(recorder_->follow(pid_, group));
  }
  const std::vector<std::string> own = environment_of(context_.wanted, context_.image);
  std::vector<std::string> variables = recorder_->variables(own, caller);
  if (!context_.wanted.text.empty())
    variables.push_back(fmt::format("{}={}", kInstructionsVariable, PrivateMount::instructions()));
  is_gate_open_ = true;
  began_ns_ = now_monotonic_ns();
  set_deadline();
  return mount_->open(variables);
}

// Both clocks run alike: what the engine says by the date is told by the monotonic one.
std::int64_t monotonic_of(std::int64_t realtime_ns) {
  return now_monotonic_ns() - (now_realtime_ns() - realtime_ns);
}

void Runner::measure(const ContainerState& state) {
  constexpr double kNs = 1e9;
  const std::int64_t finished =
      state.finished_ns > 0 ? std::min(monotonic_of(state.finished_ns), ended_ns_) : ended_ns_;
  if (began_ns_ == 0 && state.started_ns > 0) began_ns_ = monotonic_of(state.started_ns);
  ending_.wall_s = static_cast<double>(std::max(finished - began_ns_, kMsNs)) / kNs;
}

Status Runner::copy_outputs() {
  if (run_.outputs.empty()) return {};
  const Instructions& wanted = context_.wanted;
  FATHOM_ASSIGN(KeptOutputs kept, KeptOutputs::make(run_.outputs));
  Status copied = copy_from_container(context_.engine, container_->id(), wanted.outputs, kept);
  if (copied && has_usual_results(wanted))
    copied = copy_what_is_there(context_.engine, container_->id(), kUsualResults, kept);
  if (!wanted.outputs.empty() || kept.counts().files > 0) {
    ending_.outputs = kept.counts();
    return copied;
  }
  FATHOM_TRY(remove_tree(run_.outputs));  // nobody asked, and there is nothing
  return copied;
}

// The engine has gone, and the application may run on. What was seen of it stays a recording.
Error Runner::with_recording_kept(Error trouble) {
  if (!mount_ || is_gate_open_) note(recorder_->finish({.end_monotonic_ns = now_monotonic_ns()}));
  return trouble;
}

Status Runner::end() {
  Result<ContainerState> found = context_.engine.inspect(container_->id());
  if (!found) return with_recording_kept(std::move(found).error());
  const ContainerState& state = *found;
  const Result<bool> oom = context_.engine.ran_out_of_memory(container_->id(), asked_realtime_ns_);
  ending_.exit = state.exit;
  ending_.oom = state.oom || (oom && *oom);
  measure(state);
  note(recorder_->finish({.end_monotonic_ns = ended_ns_, .exit = state.exit}));
  if (output_->trouble()) note(*output_->trouble());
  note(copy_outputs());
  return container_->remove();
}

Result<OneEnding> Runner::run() {
  FATHOM_TRY(prepare());
  FATHOM_TRY(start());
  if (Status waited = wait_for_end(); !waited)
    return with_recording_kept(std::move(waited).error());
  FATHOM_TRY(end());
  return std::move(ending_);
}

}  // namespace

Result<OneEnding> run_one(const RunContext& context, const OneRun& run) {
  return Runner(context, run).run();
}

}  // namespace fathom::containers
