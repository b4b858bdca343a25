// SPDX-License-Identifier: MIT
// The daemon's loop: one thread that polls signals and the socket, turns recordings over and writes
// its state each second. Recording itself is the pump's work, and packing the recording before is
// another thread's: programs that ask are answered meanwhile. What is not recorded in between (a
// restart, new settings) is a loss with a reason in the recording that follows.
#include "session/watch/watch.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/plural.h"
#include "base/private_files.h"
#include "base/text.h"
#include "session/environment.h"
#include "session/host_sources.h"
#include "session/place.h"
#include "session/signal_policy.h"
#include "session/signal_queue.h"
#include "session/watch/retention.h"
#include "session/watch/watch_plan.h"
#include "session/watch/watch_recording.h"
#include "session/watch/watch_server.h"
#include "session/watch/watch_state.h"
#include "session/watch/watch_status.h"

namespace fathom::session {
namespace {

constexpr int kTickMs = 100;  // while somebody has not said yet what he wants
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kMsNs = 1'000'000;

// What signals and the socket asked for.
struct Orders {
  bool end = false;
  bool reload = false;
};

// (More than there is room for is all of it.)
std::uint32_t room_of(std::int64_t number) {
  constexpr std::int64_t kMost = 1 << 24;
  return static_cast<std::uint32_t>(std::min(number, kMost));
}

// In a folder of recordings, a name that nobody has.
std::string free_name(const std::string& folder) {
  const std::string name = default_name("watch", std::time(nullptr));
  const std::string stem = join_path(folder, name.substr(0, name.rfind('.')));
  std::string path = stem + ".fathom";
  for (int number = 2; path_exists(path); ++number)
    path = stem + "-" + std::to_string(number) + ".fathom";
  return path;
}

// The folder of recordings. One that exists has the mode that somebody gave it.
Status make_folder(const WatchOptions& options) {
  if (is_directory(options.output)) return {};
  FATHOM_ASSIGN(const std::string path, absolute_path(options.output));
  FATHOM_TRY(make_dirs(std::string(dir_name(path))));
  FATHOM_TRY(make_private_dir(path));
  return options.share ? share_with(path, *options.share) : Status();
}

// One thread calls everything. The pump's thread shows rows (run_pump), for which seen_ has a lock.
class Daemon {
 public:
  Daemon(WatchOptions options, const WatchHooks& hooks, WatchServer server, SignalQueue signals)
      : options_(std::move(options)),
        hooks_(hooks),
        server_(std::move(server)),
        signals_(std::move(signals)),
        since_realtime_ns_(now_realtime_ns()) {}

  Status begin(LayerPlan plan);
  WatchOutcome serve();

 private:
  Status begin_stretch(std::int64_t start_ns);
  Result<HostSources> load(const LayerPlan& plan, const WatchOptions& options) const;
  void run_pump();
  Status follow(const WatchState& state);
  void tell_gap(const std::string& reason);
  void tell_loss(const std::string& reason, std::int64_t count);
  void tell_unserved();
  Status take_over();
  Status turn();
  void turn_when_due();
  void wait_for_finished();
  void drop_old();
  [[nodiscard]] std::vector<sources::Followed> handed_on() const;
  void forget_ended_callers();
  void each_second();
  void show_plan();
  Status reload();
  [[nodiscard]] int patience_ms(std::size_t callers) const;
  Orders wait();
  WatchOutcome end();
  Result<std::string> answer(const WatchRequest& request, const ucred& who);
  Status do_as_told(const WatchRequest& request, pid_t caller);
  [[nodiscard]] std::string status() const;
  void note(const Status& status);
  [[nodiscard]] sources::SourceContext context(const LayerPlan& plan,
                                               const WatchOptions& options) const;

  WatchOptions options_;
  const WatchHooks& hooks_;
  WatchServer server_;
  SignalQueue signals_;
  LayerPlan plan_;
  HostSources hosts_;
  std::unique_ptr<WatchRecording> recording_;
  Roll roll_;
  std::set<pid_t> callers_;  // processes that turned to us, or were handed over
  std::int64_t since_realtime_ns_;
  std::int64_t first_start_ns_ = 0;  // by the monotonic clock
  std::int64_t next_second_ns_ = 0;
  std::int64_t recordings_ = 0;
  std::int64_t dropped_ = 0;
  std::future<Status> finishing_;  // the recording before
  std::map<std::string, std::string> facts_;
  std::optional<Error> trouble_;
  mutable std::mutex mutex_;
  Seen seen_;  // guarded by mutex_
};

void Daemon::note(const Status& status) {
  if (status) return;
  if (!trouble_) trouble_ = status.error();
  if (hooks_.trouble) hooks_.trouble(status.error());
}

sources::SourceContext Daemon::context(const LayerPlan& plan, const WatchOptions& options) const {
  return {.directory = recording_->directory(),
          .root_pid = 0,
          .start_monotonic_ns = recording_->start_ns(),
          .layers = plan.layers,
          .sample_hz = options.sample_hz,
          .sample_event = options.sample_event,
          .interval_ns = options.interval_ns,
          .detail = detail_of(options, plan),
          .functions = options.functions,
          .returns = options.returns,
          .categories = options.categories,
          .filters = options.filters,
          .joins = true,
          .no_command = options.no_command,
          .user_files = room_of(options.user_files),
          .user_rows = room_of(options.user_rows)};
}

Status Daemon::begin_stretch(std::int64_t start_ns) {
  const std::string asked = options_.rolls ? free_name(options_.output) : options_.output;
  WatchRecordingSpec spec;
  FATHOM_ASSIGN(spec.directory, make_place(asked, false, "watch"));
  if (options_.share) FATHOM_TRY(share_with(spec.directory, *options_.share));
  spec.command = hooks_.command;
  spec.environment = own_environment();
  spec.start_monotonic_ns = start_ns;
  spec.layers = plan_.states;
  spec.facts = facts_;
  spec.facts.merge(hosts_.facts());
  spec.facts["watch.whom"] = options_.whom;
  if (options_.rolls) spec.facts["watch.stretch"] = std::to_string(recordings_ + 1);
  Result<std::unique_ptr<WatchRecording>> recording = WatchRecording::begin(spec);
  if (!recording) {
    (void)remove_tree(spec.directory).has_value();
    return recording.error();
  }
  recording_ = std::move(*recording);
  hosts_.tell(recording_->pump().packer().manifest());
  ++recordings_;
  return {};
}

void Daemon::run_pump() {
  const std::int64_t shift = recording_->start_ns() - first_start_ns_;
  recording_->pump().show_rows_to(
      [this, shift](const trace::HostRows& rows, const trace::Strings& strings) {
        {
          const std::scoped_lock lock(mutex_);
          seen_.add(rows);
        }
        if (hooks_.rows) hooks_.rows(rows, strings, shift);
      });
  recording_->pump().start(hosts_.pointers());
}

Result<HostSources> Daemon::load(const LayerPlan& plan, const WatchOptions& options) const {
  HostSources hosts;
  FATHOM_TRY(hosts.prepare(plan.hosts, context(plan, options)));
  return hosts;
}

// Those of the state that live. Again, for what they made while they were found.
Status Daemon::follow(const WatchState& state) {
  constexpr int kRounds = 2;
  for (int round = 0; round < kRounds; ++round) {
    for (const pid_t process : survivors(state))
      FATHOM_TRY(hosts_.join({.by = sources::Choice::By::kProcess, .process = process}));
  }
  return {};
}

void Daemon::tell_loss(const std::string& reason, std::int64_t count) {
  trace::HostRows rows;
  rows.losses.push_back({plan_.layers.front(), reason, count});
  {
    const std::scoped_lock lock(mutex_);
    seen_.add(rows);
  }
  note(recording_->append(rows, trace::Strings()));
}

// They may be programs that now run unrecorded.
void Daemon::tell_unserved() {
  if (const std::int64_t unserved = server_.take_unserved(); unserved > 0)
    tell_loss("callers that did not say in time what they want", unserved);
}

// A time in which nothing was recorded.
void Daemon::tell_gap(const std::string& reason) { tell_loss(reason, 1); }

// Goes on with whom the daemon before us recorded, and tells of the time between.
Status Daemon::take_over() {
  const std::optional<WatchState> left = load_watch_state(server_.path());
  const std::vector<pid_t> processes = left ? survivors(*left) : std::vector<pid_t>();
  if (processes.empty()) return {};
  callers_.insert(processes.begin(), processes.end());
  FATHOM_TRY(follow(*left));
  const std::string reason = gap_in_words(left->alive_ns, now_realtime_ns());
  recording_->pump().packer().manifest().facts["watch.gap"] = reason;
  tell_gap(reason);
  return {};
}

Status Daemon::begin(LayerPlan plan) {
  plan_ = std::move(plan);
  FATHOM_TRY(options_.rolls ? make_folder(options_) : check_place(options_.output, false));
  FATHOM_TRY(begin_stretch(0));
  // Times of live rows count from the first recording, whichever they are in.
  first_start_ns_ = recording_->start_ns();
  const Status begun = [&]() -> Status {
    FATHOM_ASSIGN(hosts_, load(plan_, options_));
    hosts_.start(context(plan_, options_), recording_->pump().packer().manifest());
    FATHOM_TRY(hosts_.join(options_.choice));
    return take_over();
  }();
  if (!begun) {
    const std::string directory = recording_->directory();
    recording_.reset();
    (void)remove_tree(directory).has_value();
    return begun.error();
  }
  run_pump();
  each_second();
  return {};
}

// The next recording begins where this one ends, to the interval.
Status Daemon::turn() {
  recording_->pump().stop();
  trace::Strings strings;
  trace::HostRows last;
  const std::int64_t next = hosts_.turn(strings, last);
  if (hooks_.rows) hooks_.rows(last, strings, recording_->start_ns() - first_start_ns_);
  note(recording_->append(last, strings));
  hosts_.tell(recording_->pump().packer().manifest());  // what was found out meanwhile
  wait_for_finished();
  // Packing takes its time, and programs are to be answered meanwhile.
  finishing_ = std::async(std::launch::async,
                          [old = std::move(recording_), next] { return old->finish(next); });
  if (Status begun = begin_stretch(next); !begun) {
    hosts_.stop();
    wait_for_finished();
    return begun;
  }
  drop_old();
  run_pump();
  return {};
}

void Daemon::wait_for_finished() {
  if (finishing_.valid()) note(finishing_.get());
}

void Daemon::drop_old() {
  const Retention limits{options_.keep_bytes, options_.keep_ns, options_.keep};
  const std::string folder(dir_name(recording_->directory()));
  for (const KeptRecording& old :
       to_drop(find_kept(folder, recording_->directory()), limits, now_realtime_ns())) {
    const Status removed = remove_tree(old.path);
    note(removed);
    if (!removed) continue;
    facts_["watch.dropped"] =
        counted(++dropped_, "recording") + ", the last one until " + date_in_words(old.end_ns);
  }
  recording_->pump().packer().manifest().facts.insert(facts_.begin(), facts_.end());
}

void Daemon::turn_when_due() {
  if (!options_.rolls) return;
  const std::int64_t age = now_monotonic_ns() - recording_->start_ns();
  const bool old = options_.roll_ns != 0 && age >= options_.roll_ns;
  const bool large = options_.roll_bytes != 0 && age >= 2 * kSecondNs &&
                     bytes_below(recording_->directory()) >= options_.roll_bytes;
  if (old || large) note(turn());
}

// Whom the next daemon goes on with; not those who were chosen by what they are.
std::vector<sources::Followed> Daemon::handed_on() const {
  std::vector<sources::Followed> all = hosts_.followed();
  if (options_.choice.by != sources::Choice::By::kNobody)
    std::erase_if(all, [this](const auto& one) { return !callers_.contains(one.process); });
  return all;
}

// Callers of whom nothing is recorded any more have ended.
void Daemon::forget_ended_callers() {
  std::set<pid_t> alive;
  for (const sources::Followed& one : hosts_.followed()) alive.insert(one.process);
  std::erase_if(callers_, [&](pid_t caller) { return !alive.contains(caller); });
}

void Daemon::each_second() {
  if (now_monotonic_ns() < next_second_ns_) return;
  next_second_ns_ = now_monotonic_ns() + kSecondNs;
  using By = sources::Choice::By;
  server_.pulse();
  forget_ended_callers();
  tell_unserved();
  // A process that moves into a control group does not tell: the group is asked again.
  if (options_.choice.by == By::kGroup) note(hosts_.join(options_.choice));
  note(roll_.save(server_.path(), handed_on()));
  turn_when_due();
}

// Layers that new settings turn on.
void Daemon::show_plan() {
  trace::Manifest& manifest = recording_->pump().packer().manifest();
  for (const trace::LayerState& layer : plan_.states) {
    if (layer.state != "on" && layer.state != "partial") continue;
    manifest.layer(layer.layer).state = layer.state;
    manifest.layer(layer.layer).reason = layer.reason;
  }
}

// What is recorded by new settings begins when the old ones have ended: the time between is said.
Status Daemon::reload() {
  FATHOM_ASSIGN(const WatchOptions fresh, hooks_.reload());
  FATHOM_TRY(may_replace(options_, fresh));
  FATHOM_ASSIGN(LayerPlan plan, plan_watch(fresh));
  // All that can be refused comes first: a mistake in the file leaves the daemon as it is.
  FATHOM_ASSIGN(HostSources hosts, load(plan, fresh));
  const WatchState followed = roll_.call(handed_on());
  const std::int64_t stopped = now_monotonic_ns();
  hosts_.stop();
  recording_->pump().stop();
  for (const auto& [fact, value] : hosts_.facts())
    recording_->pump().packer().manifest().facts.erase(fact);
  hosts_ = std::move(hosts);
  plan_ = std::move(plan);
  options_ = fresh;
  show_plan();
  hosts_.start(context(plan_, options_), recording_->pump().packer().manifest());
  Status joined = hosts_.join(options_.choice);
  note(follow(followed));
  tell_gap("the settings were changed: nothing for " +
           human_ns(static_cast<double>(now_monotonic_ns() - stopped)));
  run_pump();
  return joined;
}

Status Daemon::do_as_told(const WatchRequest& request, pid_t caller) {
  const pid_t process = request.process != 0 ? request.process : caller;
  if (process == ::getpid())
    return Error{Code::kDenied, "the daemon cannot record itself", "name another process"};
  const bool leaves =
      request.verb == FATHOM_WATCH_DISCONNECT || request.verb == FATHOM_WATCH_DETACH;
  if (leaves) {
    callers_.erase(process);
    return hosts_.leave(process);
  }
  callers_.insert(process);
  return hosts_.join({.by = sources::Choice::By::kProcess, .process = process});
}

Result<std::string> Daemon::answer(const WatchRequest& request, const ucred& who) {
  FATHOM_TRY(may_ask(request, who, ::geteuid(), owner_of_process));
  if (request.verb == FATHOM_WATCH_STATUS) return status();
  FATHOM_TRY(request.verb == FATHOM_WATCH_RELOAD ? reload() : do_as_told(request, who.pid));
  return std::string();
}

std::string Daemon::status() const {
  WatchStatus status;
  status.since_realtime_ns = since_realtime_ns_;
  status.socket = server_.path();
  status.recording = recording_->directory();
  status.recordings = recordings_;
  status.dropped = dropped_;
  status.whom = options_.whom;
  status.layers = plan_.layers;
  status.interval_ns = options_.interval_ns;
  status.connected = static_cast<std::int64_t>(callers_.size());
  status.processes = static_cast<std::int64_t>(hosts_.followed().size());
  status.bytes = bytes_below(recording_->directory());
  status.trouble = trouble_ ? trouble_->message : "";
  const std::scoped_lock lock(mutex_);
  status.seen = seen_;
  return format_watch_status(status);
}

// Nobody is woken for nothing: until the next second has its work to do.
int Daemon::patience_ms(std::size_t callers) const {
  const std::int64_t left = (next_second_ns_ - now_monotonic_ns()) / kMsNs + 1;
  const std::int64_t most = callers > 0 ? kTickMs : kSecondNs / kMsNs;
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, most));
}

// Until something is to be done, or a moment.
Orders Daemon::wait() {
  constexpr std::size_t kAlways = 2;  // signals, and the socket
  std::vector<pollfd> waiting{{signals_.fd(), POLLIN, 0}};
  server_.add_to(waiting);
  ::poll(waiting.data(), waiting.size(), patience_ms(waiting.size() - kAlways));
  Orders orders;
  siginfo_t info;
  while (signals_.next(info)) {
    orders.end |= info.si_signo == SIGTERM || info.si_signo == SIGINT || info.si_signo == SIGQUIT;
    orders.reload |= info.si_signo == SIGHUP;
    if (asks_to_stop(info.si_signo)) SignalQueue::stop_by(info.si_signo);
  }
  return orders;
}

WatchOutcome Daemon::end() {
  tell_unserved();
  server_.close();
  note(roll_.save(server_.path(), handed_on()));
  hosts_.stop();
  recording_->pump().stop();
  hosts_.tell(recording_->pump().packer().manifest());
  if (const std::optional<Error> trouble = recording_->pump().trouble()) note(Status(*trouble));
  note(recording_->finish(now_monotonic_ns()));
  wait_for_finished();
  signals_.release();
  return {.directory = recording_->directory(), .trouble = trouble_};
}

WatchOutcome Daemon::serve() {
  if (hooks_.ready) hooks_.ready();
  for (;;) {
    const Orders orders = wait();
    if (orders.end) return end();
    if (orders.reload) note(reload());
    server_.serve(
        [this](const WatchRequest& request, const ucred& who) { return answer(request, who); });
    each_second();
    if (!recording_) return {.directory = "", .trouble = trouble_};  // no other one could be begun
  }
}

}  // namespace

Result<WatchOutcome> watch(const WatchOptions& options, const WatchHooks& hooks) {
  if (!options.rolls) FATHOM_TRY(check_place(options.output, false));
  FATHOM_ASSIGN(LayerPlan plan, plan_watch(options));
  FATHOM_ASSIGN(SignalQueue signals, SignalQueue::open());
  FATHOM_ASSIGN(WatchServer server, WatchServer::open(options.socket));
  Daemon daemon(options, hooks, std::move(server), std::move(signals));
  FATHOM_TRY(daemon.begin(std::move(plan)));
  return daemon.serve();
}

}  // namespace fathom::session
