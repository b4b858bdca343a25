// SPDX-License-Identifier: MIT
// The order of a recording: check everything, make the directory, start the program behind a pipe,
// record, sum up, pack. Once the program runs, errors are collected and its status is what we
// return.
#include "session/run/run.h"

#include <algorithm>
#include <ctime>
#include <exception>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/private_files.h"
#include "session/environment.h"
#include "session/host_sources.h"
#include "session/place.h"
#include "session/run/keeper.h"
#include "session/run/kernel_io.h"
#include "session/run/prepared.h"
#include "session/run/program.h"
#include "session/run/run_sums.h"
#include "session/run_header.h"
#include "sources/function_names.h"
#include "trace/recording/newest.h"
#include "trace/rows/layers.h"
#include "trace/spool/spool.h"
#include "wire/exec.h"

namespace fathom::session {
namespace {

// What is known when the program has ended.
struct End {
  pid_t program = 0;
  std::int64_t duration_ns = 0;
  std::string io{};       // what the kernel counted of the program
  bool outlived = false;  // processes go on, and somebody records them
};

// Sums up and tells of it; the number of events that wait to be packed.
Result<std::uint64_t> tell_end(const Prepared& prepared, const End& end, trace::Packer& packer,
                               const RunHooks& hooks, const RunOutcome& outcome) {
  FATHOM_ASSIGN(trace::Totals totals, sum_up(prepared, end.program, packer));
  if (end.outlived) totals.manifest.state = trace::RunState::kRunning;
  if (hooks.ended && !outcome.trouble)
    hooks.ended({.directory = prepared.directory, .totals = totals, .strings = packer.strings()});
  return totals.waiting;
}

Status finish(std::uint64_t waiting, SignalQueue& signals, trace::Packer& packer,
              const RunHooks& hooks, RunOutcome& outcome) {
  const std::uint64_t before = packer.progress().events;
  const auto go_on = [&](std::uint64_t) {
    if (hooks.packing) hooks.packing({.packed = packer.progress().events - before, .all = waiting});
    return !signals.told_to_end();
  };
  FATHOM_ASSIGN(const trace::FinishResult finished, packer.finish("", go_on));
  outcome.interrupted = finished.interrupted;
  return {};
}

RunOutcome not_started(const Error& error) {
  RunOutcome outcome;
  outcome.exit_status = shell_status(error);
  outcome.not_started = error;
  return outcome;
}

Result<trace::Packer> open_recording(Prepared& prepared, const RunOptions& options) {
  FATHOM_ASSIGN(prepared.header,
                make_spool(prepared.directory, {.spool_max = options.spool_max,
                                                .block_when_full = options.block_when_full,
                                                .interval_ns = options.interval_ns}));
  trace::Manifest manifest = first_manifest(prepared, options);
  FATHOM_TRY(trace::write_manifest(prepared.directory, manifest));
  return trace::Packer::open(
      prepared.directory, std::move(manifest),
      {.resolver = sources::function_names(prepared.files), .library = prepared.library});
}

// For programs that become another user, or change their root. A recording goes on without.
void open_broker(Prepared& prepared) {
  if (prepared.library.empty()) return;
  if (std::string filters = filters_variable(); !filters.empty())
    prepared.further.push_back(std::move(filters));
  Result<std::unique_ptr<Broker>> broker = Broker::open(prepared.directory);
  if (!broker) return;
  prepared.broker = std::move(broker).value();
  prepared.further.push_back(prepared.broker->variable());
}

// Whether somebody goes on after the program, not just for the moment that its end takes.
bool is_outlived(HostSources& hosts) {
  constexpr int kLooks = 10;
  const timespec moment{0, 10'000'000};
  for (int look = 0; look < kLooks && hosts.outlived(); ++look) ::nanosleep(&moment, nullptr);
  return hosts.outlived();
}

// The rest of the recording is somebody else's.
Status hand_over(const Prepared& prepared, const sources::SourceContext& context,
                 SignalQueue& signals, HostSources& hosts, Pump& pump) {
  pump.packer().manifest().state = trace::RunState::kRunning;
  FATHOM_TRY(trace::write_manifest(prepared.directory, pump.packer().manifest()));
  return leave_keeper(context, signals, hosts, pump);
}

// Whoever takes rows, if somebody does.
std::unique_ptr<RowConsumer> hand_on_rows(const Prepared& prepared, const RunHooks& hooks,
                                          Pump& pump, RunOutcome& outcome) {
  if (!hooks.rows || !prepared.plan.has(hooks.rows_layer)) return nullptr;
  std::unique_ptr<RowConsumer> consumer =
      hooks.rows(prepared.directory, static_cast<std::int64_t>(prepared.header.start_realtime_ns));
  if (const Status begun = pump.hand_rows_to(*consumer); !begun)
    outcome.rows_trouble = begun.error();
  return consumer;
}

// Whatever goes wrong with the recording, memory that is not to be had included, is told, and the
// program goes on.
template <class Step>
void attempt(RunOutcome& outcome, const Step& step) {
  try {
    step();
  } catch (const std::exception& error) {
    if (!outcome.trouble)
      outcome.trouble = Error{Code::kIo, std::string("recording stopped: ") + error.what(), ""};
  }
}

// Else what the kernel counted cannot be held against what was recorded.
bool records_every_call(const Prepared& prepared) {
  const auto records = [&](const trace::LayerDef& layer) {
    return std::ranges::find(prepared.plan.layers, layer.name) != prepared.plan.layers.end();
  };
  return prepared.choice.empty() &&
         std::ranges::all_of(trace::kLayers, [&](const trace::LayerDef& layer) {
           return !layer.io || records(layer);
         });
}

// Who takes part in it.
struct Recorder {
  SignalQueue& signals;
  HostSources& hosts;
  Pump& pump;
  const RunHooks& hooks;
};

// The rest of the recording, when the program has ended.
void complete(const Prepared& prepared, const sources::SourceContext& context, const End& end,
              const Recorder& recorder, RunOutcome& outcome) {
  const auto& [signals, hosts, pump, hooks] = recorder;
  pump.stop();
  if (!outcome.rows_trouble) outcome.rows_trouble = pump.rows_trouble();
  trace::Manifest& manifest = pump.packer().manifest();
  hosts.tell(manifest);
  manifest.duration_ns = end.duration_ns;
  manifest.pid = end.program;
  manifest.exit_status = outcome.exit_status;
  if (!end.io.empty()) manifest.facts[FATHOM_META_KERNEL_IO] = end.io;
  if (!outcome.trouble) outcome.trouble = pump.trouble();
  const Result<std::uint64_t> waiting = tell_end(prepared, end, pump.packer(), hooks, outcome);
  const Status finished = !waiting       ? Status(waiting.error())
                          : end.outlived ? hand_over(prepared, context, signals, hosts, pump)
                                         : finish(*waiting, signals, pump.packer(), hooks, outcome);
  if (!finished && !outcome.trouble) outcome.trouble = finished.error();
}

// From the program's first instruction to the end of the recording.
RunOutcome record(const Prepared& prepared, const sources::SourceContext& context,
                  SignalQueue& signals, HostSources& hosts, Pump& pump, const RunHooks& hooks) {
  const std::int64_t start = context.start_monotonic_ns;
  End end{.program = context.root_pid};
  RunOutcome outcome;
  std::unique_ptr<RowConsumer> consumer;
  attempt(outcome, [&] {
    outcome.directory = prepared.directory;
    if (prepared.broker) (void)prepared.broker->start();
    consumer = hand_on_rows(prepared, hooks, pump, outcome);
    hosts.start(context, pump.packer().manifest());
    pump.start(hosts.pointers());
  });
  supervise(end.program, signals, [&] {
    if (!hooks.live) return;
    attempt(outcome,
            [&] { hooks.live({.elapsed_ns = now_monotonic_ns() - start, .flow = pump.flow()}); });
  });
  end.duration_ns = now_monotonic_ns() - start;
  // Before reap: an ended process still tells what it used.
  attempt(outcome, [&] {
    if (records_every_call(prepared))
      end.io = kernel_io_of(end.program, join_path(prepared.directory, trace::kSpoolDirectory));
    end.outlived = is_outlived(hosts);
    end.outlived ? hosts.pause() : hosts.stop();
  });
  const Ending ending = reap(end.program);
  outcome.exit_status = ending.status;
  outcome.signal = ending.signal;
  if (prepared.broker) prepared.broker->stop();
  signals.drop_waiting();  // they came before the program ended, and were meant for it
  const Recorder recorder{signals, hosts, pump, hooks};
  attempt(outcome, [&] { complete(prepared, context, end, recorder, outcome); });
  signals.release();
  return outcome;
}

// What sources are told. The program is not there yet: its pid comes when it waits at its gate.
sources::SourceContext context_of(const Prepared& prepared, const RunOptions& options) {
  return {.directory = prepared.directory,
          .root_pid = 0,
          .start_monotonic_ns = static_cast<std::int64_t>(prepared.header.start_monotonic_ns),
          .hz = options.hz,
          .layers = prepared.plan.layers,
          .sample_hz = options.sample_hz,
          .sample_event = options.sample_event,
          .count = options.count,
          .count_interval_ns = options.count_interval_ns,
          .interval_ns = options.interval_ns,
          .detail = options.detail,
          .functions = options.functions,
          .returns = options.returns,
          .program = prepared.program,
          .categories = options.categories,
          .filters = options.filters,
          .ring_bytes = options.ring_bytes,
          .rows = options.rows,
          .no_command = options.no_command,
          .files = prepared.files};
}

// A directory that holds no recording before its program has started. Until keep() is called, it
// is removed with whatever lies in it when this goes away.
class UnstartedRecording {
 public:
  explicit UnstartedRecording(const std::string& directory) : directory_(&directory) {}
  UnstartedRecording(const UnstartedRecording&) = delete;
  UnstartedRecording& operator=(const UnstartedRecording&) = delete;
  ~UnstartedRecording() {
    if (directory_ != nullptr) (void)remove_tree(*directory_).has_value();
  }
  void keep() { directory_ = nullptr; }

 private:
  const std::string* directory_;  // nullptr: it is kept
};

}  // namespace

Result<RunOutcome> run(const RunOptions& options, const RunHooks& hooks) {
  FATHOM_ASSIGN(Prepared prepared, prepare(options));
  Result<std::string> path = find_program(options.command.at(0));
  if (!path) return not_started(path.error());
  prepared.program = std::move(path).value();
  FATHOM_ASSIGN(Fd gate, hold_place(options.output));
  FATHOM_ASSIGN(prepared.directory, make_place(options.output, options.force, options.command[0]));
  if (options.share) FATHOM_TRY(share_with(prepared.directory, *options.share));
  Result<trace::Packer> packer = open_recording(prepared, options);
  gate.reset();
  Result<SignalQueue> signals = SignalQueue::open();
  UnstartedRecording unstarted(prepared.directory);
  if (!packer) return std::move(packer).error();
  if (!signals) return std::move(signals).error();
  open_broker(prepared);
  sources::SourceContext context = context_of(prepared, options);
  HostSources hosts;
  FATHOM_TRY(hosts.prepare(prepared.plan.hosts, context));
  const Result<pid_t> program = start_program(program_spec(prepared, options), *signals,
                                              [&](pid_t child) { return hosts.adopt(child); });
  if (!program) return not_started(program.error());
  unstarted.keep();
  context.root_pid = *program;
  trace::remember_newest(prepared.directory);
  Pump pump(std::move(packer).value(), prepared.directory);
  return record(prepared, context, *signals, hosts, pump, hooks);
}

}  // namespace fathom::session
