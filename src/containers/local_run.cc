// SPDX-License-Identifier: MIT
// One thread and one loop: the command's output, its end, signals to us and the clock are waited
// for together. What it leaves running is ended with it, as a container's end would.
#include "containers/local_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "analysis/store.h"
#include "base/clock.h"
#include "base/plural.h"
#include "base/text.h"
#include "containers/copy_outputs.h"
#include "containers/held_child.h"
#include "containers/leftovers.h"
#include "containers/own_group.h"
#include "containers/python_choice.h"
#include "containers/recorder.h"
#include "containers/run_output.h"
#include "containers/stop_sequence.h"
#include "fleet/executors/work_place.h"
#include "session/run/program.h"
#include "session/signal_policy.h"

extern char** environ;  // NOLINT(*-avoid-non-const-global-variables): libc's

namespace fathom::containers {
namespace {

constexpr std::int64_t kMsNs = 1'000'000;
constexpr std::int64_t kStreamsNs = 10'000'000'000;  // for the rest of the output, after the end
constexpr int kMostAsking = 3;                       // signals to us before the last one to it
constexpr double kNs = 1e9;

std::vector<std::string> environment_for(const Instructions& wanted) {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) all.emplace_back(*one);
  return environment_of(wanted, {.environment = std::move(all)});
}

std::string path_in(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "PATH=";
  for (const std::string& one : environment) {
    if (one.starts_with(kName)) return one.substr(kName.size());
  }
  return "/bin:/usr/bin";
}

// Two ways of one run. A probed one is a `fathom run` of our own program, which records and hands
// signals on. A plain one is the program itself, held until it is in a control group of ours and
// the recorder follows that; where there can be no such group, it is a `fathom run` too, with the
// few layers of a plain run.
class LocalRunner {
 public:
  LocalRunner(const LocalContext& context, const OneRun& run)
      : context_(context), run_(run), stop_(context.wanted.grace_ns) {}
  ~LocalRunner() {
    if (child_.pid > 0) kill_all();
  }
  LocalRunner(const LocalRunner&) = delete;
  LocalRunner& operator=(const LocalRunner&) = delete;

  Result<OneEnding> run();

 private:
  Status make_group();
  Status name_program(ChildSpec& spec) const;
  Status name_recorder(ChildSpec& spec) const;
  [[nodiscard]] bool records_python() const;
  Status start();
  void set_deadline();
  void wait_once();
  void read_from(Fd& line, Stream stream);
  void take_signals();
  void send_due_signal();
  void send(int signal) const;
  void kill_all();
  void reap();
  void end_leftovers();
  Status end();
  Status end_recording();
  Status copy_outputs();
  [[nodiscard]] Error not_started() const;
  [[nodiscard]] int patience_ms() const;
  void note(Status status) {
    if (!status && !ending_.trouble) ending_.trouble = std::move(status).error();
  }

  const LocalContext& context_;
  const OneRun& run_;
  Leftovers leftovers_;
  std::optional<OwnGroup> group_;       // of a plain run, where it can be made
  std::unique_ptr<Recorder> recorder_;  // likewise; none: the child is `fathom run`
  std::optional<RunOutput> output_;
  HeldChild child_;   // pid 0: none, or it has ended
  std::string said_;  // on stderr, its first bytes
  StopSequence stop_;
  OneEnding ending_;
  std::int64_t began_ns_ = 0, ended_ns_ = 0;
  int asked_to_end_ = 0;
};

// Where it cannot be, the run goes on without, and the profile says so.
Status LocalRunner::make_group() {
  if (run_.kind != RunKind::kPlain) return {};
  Result<OwnGroup> group = OwnGroup::make();
  if (!group) {
    ending_.remarks.push_back("was measured by its processes, as no control group could be made: " +
                              group.error().message);
    return {};
  }
  group_.emplace(std::move(*group));
  FATHOM_ASSIGN(recorder_, Recorder::begin({.directory = run_.recording,
                                            .plan = context_.plan,
                                            .command = context_.wanted.command}));
  return {};
}

// In the words of engines, which refusal_status() knows.
Status LocalRunner::name_program(ChildSpec& spec) const {
  const std::string& word = context_.wanted.command[0];
  Result<std::string> path = session::find_program(word, path_in(spec.environment), spec.folder);
  if (!path)
    return Error{
        Code::kDenied,
        fmt::format("{} cannot be run: {}", escape_control(word),
                    path.error().code == Code::kNotFound ? "executable file not found in $PATH"
                                                         : "permission denied"),
        ""};
  spec.path = std::move(*path);
  spec.words = context_.wanted.command;
  FATHOM_ASSIGN(spec.groups, group_->doors());
  return {};
}

bool LocalRunner::records_python() const {
  const Result<session::LayerPlan> plan = session::plan_layers(context_.layers);
  return plan && plan->has("python");
}

// One whose owner is gone ends its program, and packs what it has.
Status LocalRunner::name_recorder(ChildSpec& spec) const {
  FATHOM_ASSIGN(spec.path, fleet::own_program());
  spec.words = {spec.path, "run", "-q", "-o", run_.recording};
  if (!context_.layers.empty()) spec.words.insert(spec.words.end(), {"--layers", context_.layers});
  if (run_.kind == RunKind::kProbed && !context_.wanted.count.empty())
    spec.words.insert(spec.words.end(), {"--count", join(context_.wanted.count, ",")});
  if (records_python()) {
    for (std::string& word : python_words()) spec.words.push_back(std::move(word));
  }
  spec.words.emplace_back("--");
  spec.words.insert(spec.words.end(), context_.wanted.command.begin(),
                    context_.wanted.command.end());
  spec.on_our_death = SIGTERM;
  return {};
}

Status LocalRunner::start() {
  const std::string& folder = context_.wanted.workdir;
  if (!is_directory(folder))
    return Error{Code::kDenied, escape_control(folder) + " is not a folder to start in", ""};
  FATHOM_ASSIGN(output_, RunOutput::open(run_, false));
  FATHOM_TRY(make_group());
  ChildSpec spec{.environment = environment_for(context_.wanted), .folder = folder};
  FATHOM_TRY(group_ ? name_program(spec) : name_recorder(spec));
  FATHOM_ASSIGN(child_, hold_child(spec, context_.signals));
  if (group_) note(recorder_->follow(child_.pid, group_->path()));
  began_ns_ = now_monotonic_ns();
  FATHOM_TRY(let_go(child_, context_.wanted.command[0]));
  set_deadline();
  return {};
}

void LocalRunner::set_deadline() {
  std::int64_t limit = context_.wanted.duration_ns;
  if (context_.wanted.limits.time_ns > 0) limit = std::min(limit, context_.wanted.limits.time_ns);
  stop_.begin_at(began_ns_ + limit);
}

// A second at most, also where nothing is due: an end may come without any of the descriptors
// telling it.
int LocalRunner::patience_ms() const {
  constexpr std::int64_t kLongest = 1'000;
  const std::int64_t until = ended_ns_ != 0 ? ended_ns_ + kStreamsNs : stop_.next_ns();
  return static_cast<int>(
      std::clamp((until - now_monotonic_ns()) / kMsNs + 1, std::int64_t{0}, kLongest));
}

// The first bytes of stderr are kept: where nothing was recorded, they say why.
void LocalRunner::read_from(Fd& line, Stream stream) {
  constexpr std::size_t kMostSaid = 4096;
  std::array<char, std::size_t{64} << 10> piece;
  const ssize_t got = ::read(line.get(), piece.data(), piece.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return line.reset();
  const std::string_view text(piece.data(), static_cast<std::size_t>(got));
  if (stream == Stream::kErr && said_.size() < kMostSaid)
    said_ += text.substr(0, kMostSaid - said_.size());
  output_->take(stream, text);
}

// What it left running is ended now, before its streams are waited for: a daemon would hold them
// open.
void LocalRunner::reap() {
  int status = 0;
  if (child_.pid == 0 || ::waitpid(child_.pid, &status, WNOHANG) != child_.pid) return;
  constexpr int kBySignal = 128;
  ending_.exit = WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
  child_.pid = 0;
  ended_ns_ = now_monotonic_ns();
  end_leftovers();
}

void LocalRunner::end_leftovers() {
  const Leftovers::Counts counts = leftovers_.end_all();
  if (counts.ended > 0)
    ending_.remarks.push_back("left " + counted(counts.ended, "process") +
                              " running, ended by SIGKILL");
  if (counts.alive > 0)
    ending_.remarks.push_back("left " + counted(counts.alive, "process") +
                              " running that could not be ended");
}

void LocalRunner::wait_once() {
  std::array<pollfd, 4> waiting = {pollfd{child_.out.get(), POLLIN, 0},
                                   pollfd{child_.err.get(), POLLIN, 0},
                                   pollfd{child_.pid == 0 ? -1 : child_.watch.get(), POLLIN, 0},
                                   pollfd{context_.signals.fd(), POLLIN, 0}};
  ::poll(waiting.data(), waiting.size(), patience_ms());
  if (waiting[0].revents != 0) read_from(child_.out, Stream::kOut);
  if (waiting[1].revents != 0) read_from(child_.err, Stream::kErr);
  reap();
  take_signals();
  send_due_signal();
}

// `fathom run` hands signals on; what cannot be refused is for the program's whole tree.
void LocalRunner::send(int signal) const {
  if (child_.pid == 0) return;
  if (recorder_ || signal != SIGKILL) (void)::kill(child_.pid, signal);
  if (signal != SIGKILL) return;
  for (const pid_t pid : descendants_of(child_.pid)) (void)::kill(pid, SIGKILL);
}

// From the destructor, after an error of ours: nobody may go on without us.
void LocalRunner::kill_all() {
  send(SIGKILL);
  (void)::kill(child_.pid, SIGKILL);
  (void)::waitpid(child_.pid, nullptr, 0);
  child_.pid = 0;
  (void)leftovers_.end_all();
}

void LocalRunner::take_signals() {
  siginfo_t info;
  while (context_.signals.next(info)) {
    const int number = info.si_signo;
    if (session::asks_to_stop(number)) {
      session::SignalQueue::stop_by(number);
    } else if (session::is_forwarded(number) && number != SIGCONT && number != SIGPIPE &&
               number != SIGWINCH) {
      send(number);
      if (!session::asks_to_end(number)) continue;
      ending_.interrupted = true;
      stop_.begun(now_monotonic_ns());
      if (++asked_to_end_ == kMostAsking) send(SIGKILL);
    }
  }
}

void LocalRunner::send_due_signal() {
  if (child_.pid == 0) return;
  const bool by_itself = !stop_.has_begun();
  const int signal = stop_.due(now_monotonic_ns());
  if (signal == 0) return;
  ending_.timed_out = ending_.timed_out || by_itself;
  send(signal);
}

// `fathom run` has said why on stderr; there is no recording then.
Error LocalRunner::not_started() const {
  constexpr int kNotFound = 127;
  const std::string first(split(said_, '\n').at(0));
  return {Code::kDenied,
          fmt::format("{} cannot be run: {}", escape_control(context_.wanted.command.at(0)),
                      ending_.exit == kNotFound ? "executable file not found in $PATH"
                      : first.empty()           ? "permission denied"
                                                : escape_control(first)),
          ""};
}

// The recorder's own work before and after the program is not the program's time.
Result<double> wall_of(const std::string& recording) {
  FATHOM_ASSIGN(analysis::Store store, analysis::Store::open(recording));
  FATHOM_ASSIGN(const std::int64_t wall_ns, store.wall_ns());
  return static_cast<double>(wall_ns) / kNs;
}

Status LocalRunner::end_recording() {
  ending_.wall_s = static_cast<double>(ended_ns_ - began_ns_) / kNs;
  if (recorder_) {
    note(recorder_->finish({.end_monotonic_ns = ended_ns_, .exit = ending_.exit}));
    return {};
  }
  if (!path_exists(run_.recording)) return not_started();
  const Result<double> wall = wall_of(run_.recording);
  if (wall) ending_.wall_s = *wall;
  if (!wall) note(wall.error());
  return {};
}

Status LocalRunner::copy_outputs() {
  if (run_.outputs.empty()) return {};
  FATHOM_ASSIGN(KeptOutputs kept, KeptOutputs::make(run_.outputs));
  Status copied = copy_from_folder(context_.wanted.workdir, context_.wanted.outputs, kept);
  ending_.outputs = kept.counts();
  return copied;
}

Status LocalRunner::end() {
  FATHOM_TRY(end_recording());
  if (output_->trouble()) note(*output_->trouble());
  note(copy_outputs());
  return {};
}

Result<OneEnding> LocalRunner::run() {
  FATHOM_TRY(start());
  while (child_.pid != 0 || child_.out.valid() || child_.err.valid()) {
    wait_once();
    if (stop_.is_over()) return Error{Code::kDenied, "the program does not end", ""};
    if (ended_ns_ != 0 && now_monotonic_ns() > ended_ns_ + kStreamsNs) break;
  }
  FATHOM_TRY(end());
  return std::move(ending_);
}

}  // namespace

Result<OneEnding> run_local(const LocalContext& context, const OneRun& run) {
  return LocalRunner(context, run).run();
}

}  // namespace fathom::containers
