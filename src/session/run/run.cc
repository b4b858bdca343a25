// SPDX-License-Identifier: MIT
// The order of a recording: check everything, make the directory, start the program behind a pipe,
// record, sum up, pack. Once the program runs, errors are collected and its status is what we
// return.
#include "session/run/run.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/hex.h"
#include "base/host.h"
#include "base/private_files.h"
#include "base/sum.h"
#include "base/text.h"
#include "base/utf8.h"
#include "session/environment.h"
#include "session/event_options.h"
#include "session/host_sources.h"
#include "session/kernel_options.h"
#include "session/layer_plan.h"
#include "session/place.h"
#include "session/run/broker.h"
#include "session/run/keeper.h"
#include "session/run/kernel_io.h"
#include "session/run/program.h"
#include "session/run_header.h"
#include "sources/expect.h"
#include "sources/function_names.h"
#include "sources/library.h"
#include "trace/recording/newest.h"
#include "trace/recording/obstacle.h"
#include "trace/rows/layers.h"
#include "trace/spool/spool.h"
#include "wire/exec.h"

namespace fathom::session {
namespace {

// All that is fixed before the program starts.
struct Prepared {
  LayerPlan plan;
  std::string program;                 // path
  std::string library;                 // "" where nothing is recorded in the process
  std::vector<std::string> paths;      // filter, absolute
  std::string choice;                  // options that leave calls out, as words
  std::vector<std::string> further;    // variables of single layers
  std::vector<std::string> uncounted;  // of --region-events, with reasons
  std::string directory;
  fathom_run_header header{};
  std::shared_ptr<symbols::KeptFiles> files = std::make_shared<symbols::KeptFiles>();
  std::unique_ptr<Broker> broker;  // nullptr: what processes cannot open they do without
};

Result<std::vector<std::string>> absolute_paths(const std::vector<std::string>& paths) {
  std::vector<std::string> result;
  for (const std::string& path : paths) {
    if (path.empty())
      return usage_error("there is an empty path in --paths",
                         "name directories or files, separated by commas");
    FATHOM_ASSIGN(std::string absolute, absolute_path(path));
    result.push_back(std::move(absolute));
  }
  return result;
}

// Arguments may hold secrets.
std::vector<std::string> shown_command(const RunOptions& options) {
  if (options.no_command) return {options.command.front()};
  return options.command;
}

// Events that regions should have had.
void tell_uncounted(const Prepared& prepared, trace::Manifest& manifest) {
  if (prepared.uncounted.empty()) return;
  trace::LayerState& layer = manifest.layer(prepared.plan.has("app") ? "app" : "python");
  layer.state = "partial";
  layer.reason = "--region-events " + join(prepared.uncounted, "; --region-events ");
}

trace::Manifest first_manifest(const Prepared& prepared, const RunOptions& options) {
  trace::Manifest manifest;
  manifest.run_id = to_hex(prepared.header.run_id);
  for (const std::string& word : shown_command(options))
    manifest.command.push_back(escape_invalid_utf8(word));
  const Result<std::string> cwd = real_path(".");
  manifest.cwd = cwd ? escape_invalid_utf8(*cwd) : "";
  if (!options.no_command) manifest.environment = telling_environment(own_environment());
  manifest.host = this_host();
  manifest.origin = "run";
  manifest.start_realtime_ns = static_cast<std::int64_t>(prepared.header.start_realtime_ns);
  manifest.clock = trace::Clock::of(prepared.header);
  manifest.layers = prepared.plan.states;
  tell_uncounted(prepared, manifest);
  manifest.path_filter = prepared.paths;
  return manifest;
}

// Programs inherit it.
bool stack_is_small() {
  rlimit limit{};
  return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < FATHOM_LEAST_STACK;
}

bool addresses_are_few() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < FATHOM_LEAST_ADDRESSES;
}

bool takes_library(const Prepared& prepared) {
  return !stack_is_small() && !addresses_are_few() &&
         !trace::turns_library_away(prepared.program, prepared.library);
}

ProgramSpec program_spec(const Prepared& prepared, const RunOptions& options) {
  std::vector<std::string> environment = own_environment();
  if (prepared.library.empty()) {
    environment = plain_environment(std::move(environment));
  } else {
    environment = guest_environment(std::move(environment), {.library = prepared.library,
                                                             .directory = prepared.directory,
                                                             .layers = prepared.plan.in_process,
                                                             .calls = options.calls,
                                                             .further = prepared.further,
                                                             .preloads = takes_library(prepared)});
  }
  return {
      .path = prepared.program, .words = options.command, .environment = std::move(environment)};
}

// Whether the first program of this process that told of itself is the one of that file.
bool told_of_itself(const std::string& path, pid_t program, const trace::Totals& totals) {
  const auto row = std::ranges::find_if(totals.processes, [&](const trace::ProcessRow& one) {
    return one.pid == program && one.process != 0;
  });
  return row != totals.processes.end() && row->name == base_name(path);
}

// A program that the library cannot enter ran all the same; the recording says why it holds nothing
// of it. What its file looks like tells less than that it is there: who has all rights already
// gains none by set-user-id. It may have become another one, which was entered.
void note_uncovered(const Prepared& prepared, pid_t program, trace::Totals& totals) {
  if (prepared.library.empty()) return;
  const Result<std::string> path = real_path(prepared.program);
  if (!path) return;
  std::string reason = trace::obstacle_of(*path, prepared.library);
  if (totals.program_attached && (reason.empty() || told_of_itself(*path, program, totals))) return;
  if (reason.empty() && stack_is_small()) reason = trace::kSmallStack;
  if (reason.empty() && addresses_are_few()) reason = trace::kFewAddresses;
  if (reason.empty()) reason = "the library did not attach";
  totals.manifest.not_covered.push_back(
      {.pid = program, .program = escape_invalid_utf8(*path), .reason = reason, .what = ""});
}

// Two readings of the clock and about as much again for the record.
double estimated_ns_per_event(std::uint32_t tick_source) {
  constexpr int kReadings = 2000;
  std::uint64_t sum = 0;
  const std::int64_t begin = now_monotonic_ns();
  for (int i = 0; i < kReadings; ++i) sum += trace::Clock::now_tick(tick_source);
  const std::int64_t spent = now_monotonic_ns() - begin;
  constexpr double kStoreNs = 15;
  return sum == 0 ? kStoreNs : 2 * static_cast<double>(spent) / kReadings + kStoreNs;
}

// Calls that the library recorded, each by itself or added up.
std::int64_t calls_in_process(const Prepared& prepared, const trace::SummaryTable& summary,
                              const trace::Strings& strings) {
  std::int64_t calls = 0;
  for (const trace::SummaryRow& row : summary.rows()) {
    const std::string_view layer = strings.view(row.key.layer);
    if (std::ranges::find(prepared.plan.in_process, layer) != prepared.plan.in_process.end())
      add_to(calls, row.calls);
  }
  return calls;
}

// `choice`: options that leave calls out.
std::string why_empty(std::string_view layer, const std::string& choice) {
  if (choice.empty() || !trace::is_io(layer)) return "nothing happened in this layer";
  return "nothing that " + choice + " lets through happened";
}

// Layers that recorded nothing say so, and what the recording cost is estimated.
void complete_manifest(const Prepared& prepared, std::int64_t calls, trace::Manifest& manifest) {
  const double each = estimated_ns_per_event(prepared.header.tick_source);
  manifest.overhead_ns_per_event = each;
  manifest.overhead_ns = static_cast<std::int64_t>(each * static_cast<double>(calls));
  const auto unentered = std::ranges::find(manifest.not_covered, "", &trace::NotCovered::what);
  for (trace::LayerState& layer : manifest.layers) {
    if (layer.state != "on" || layer.events != 0 || !layer.reason.empty()) continue;
    layer.reason = unentered == manifest.not_covered.end()
                       ? why_empty(layer.layer, prepared.choice)
                       : "nothing was seen; the library could not enter " + unentered->program +
                             " (" + unentered->reason + ")";
  }
}

// Sums, and all that the manifest says about the run: packing may be interrupted, or be left to a
// later command.
Result<trace::Totals> sum_up(const Prepared& prepared, pid_t program, trace::Packer& packer) {
  FATHOM_ASSIGN(trace::Totals totals, packer.sum_up());
  note_uncovered(prepared, program, totals);
  complete_manifest(prepared, calls_in_process(prepared, totals.summary, packer.strings()),
                    totals.manifest);
  trace::Manifest& manifest = packer.manifest();
  manifest.not_covered = totals.manifest.not_covered;
  manifest.overhead_ns = totals.manifest.overhead_ns;
  manifest.overhead_ns_per_event = totals.manifest.overhead_ns_per_event;
  for (const trace::LayerState& layer : totals.manifest.layers)
    manifest.layer(layer.layer).reason = layer.reason;
  FATHOM_TRY(trace::write_manifest(prepared.directory, manifest));
  return totals;
}

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

// Alnair's logs are there without the library that has all of their rows, too.
Result<std::string> library_for(const LayerPlan& plan) {
  const bool heap = plan.has(sources::kHeapLayer);
  if (plan.has("cuda") && !alnair_folder().empty()) {
    Result<std::string> library =
        sources::find_library(heap ? sources::kHeapAndAlnairLogs : sources::kAlnairLogs);
    if (library) return library;
  }
  return sources::find_library(heap ? sources::kHeapLayer : std::string_view());
}

Status check_options(bool any, const std::string& layer, const LayerPlan& plan) {
  if (!any || plan.has(layer)) return {};
  return usage_error("there are options for layer " + layer + ", which is not recorded",
                     "add --layers +" + layer);
}

Status prepare_events(const RunOptions& options, Prepared& prepared) {
  FATHOM_TRY(check_counted(options.count));
  FATHOM_TRY(
      check_options(!options.count.empty(), std::string(trace::kSampledLayer), prepared.plan));
  FATHOM_ASSIGN(RegionEvents regions, region_events(options.region_events));
  if (!options.region_events.empty() && !prepared.plan.has("python"))
    FATHOM_TRY(check_options(true, "app", prepared.plan));
  if (!regions.variable.empty()) prepared.further.push_back(std::move(regions.variable));
  prepared.uncounted = std::move(regions.refused);
  return {};
}

// Everything that can be wrong with the command line, before anything is made.
Result<Prepared> prepare(const RunOptions& options) {
  Prepared prepared;
  sources::expect_layers(named_layers(options.layers));
  FATHOM_ASSIGN(prepared.plan, plan_layers(options.layers, probe_for(options.functions)));
  if (options.sample_hz <= 0)
    prepared.plan.leave_out(trace::kSampledLayer, "turned off (--sample 0)");
  if (prepared.plan.layers.empty())
    return usage_error("nothing would be recorded", "name a layer beside --sample 0");
  FATHOM_TRY(check_sources(
      {options.functions, options.categories, options.filters, options.returns}, prepared.plan));
  FATHOM_ASSIGN(prepared.paths, absolute_paths(options.paths));
  if (!options.paths.empty()) prepared.choice = "--paths";
  if (!options.calls.empty())
    prepared.choice += prepared.choice.empty() ? "--calls" : " with --calls";
  FATHOM_ASSIGN(prepared.further, python_variables(options.python));
  FATHOM_TRY(check_options(options.python.any(), "python", prepared.plan));
  FATHOM_ASSIGN(const std::vector<std::string> gpu, gpu_variables(options.gpu));
  FATHOM_TRY(check_options(options.gpu.any(), "gpu", prepared.plan));
  prepared.further.insert(prepared.further.end(), gpu.begin(), gpu.end());
  FATHOM_TRY(prepare_events(options, prepared));
  if (options.no_command) prepared.further.emplace_back(kNoCommand);
  for (const std::string& layer : options.detail) FATHOM_TRY(check_detail(layer, prepared.plan));
  FATHOM_TRY(check_place(options.output, options.force));
  if (!prepared.plan.in_process.empty()) {
    FATHOM_ASSIGN(prepared.library, library_for(prepared.plan));
  }
  return prepared;
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
