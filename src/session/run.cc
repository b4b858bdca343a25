// SPDX-License-Identifier: MIT
#include "session/run.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/host.h"
#include "base/text.h"
#include "base/utf8.h"
#include "session/environment.h"
#include "session/host_sources.h"
#include "session/layer_plan.h"
#include "session/place.h"
#include "session/program.h"
#include "session/run_header.h"
#include "session/signal_policy.h"
#include "sources/function_names.h"
#include "sources/library.h"
#include "trace/obstacle.h"

namespace fathom::session {
namespace {

// All that is fixed before the program starts.
struct Prepared {
  LayerPlan plan;
  std::string program;               // path
  std::string library;               // "" where nothing is recorded in the process
  std::vector<std::string> paths;    // filter, absolute
  std::vector<std::string> further;  // variables of single layers
  std::string directory;
  fathom_run_header header{};
};

Result<std::vector<std::string>> absolute_paths(const std::vector<std::string>& paths) {
  std::vector<std::string> result;
  for (const std::string& path : paths) {
    if (path.empty())
      return usage_error("an empty path in --paths",
                         "name directories or files, separated by commas");
    FATHOM_ASSIGN(std::string absolute, absolute_path(path));
    result.push_back(std::move(absolute));
  }
  return result;
}

trace::Manifest first_manifest(const Prepared& prepared, const RunOptions& options) {
  trace::Manifest manifest;
  constexpr char kDigits[] = "0123456789abcdef";
  for (const std::uint8_t byte : prepared.header.run_id) {
    manifest.run_id += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  for (const std::string& word : options.command)
    manifest.command.push_back(escape_invalid_utf8(word));
  const Result<std::string> cwd = real_path(".");
  manifest.cwd = cwd ? escape_invalid_utf8(*cwd) : "";
  manifest.environment = telling_environment(own_environment());
  manifest.host = read_host_facts();
  manifest.origin = "run";
  manifest.start_realtime_ns = static_cast<std::int64_t>(prepared.header.start_realtime_ns);
  manifest.clock = trace::Clock::of(prepared.header);
  manifest.layers = prepared.plan.states;
  manifest.path_filter = prepared.paths;
  return manifest;
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
                                                             .further = prepared.further});
  }
  return {
      .path = prepared.program, .words = options.command, .environment = std::move(environment)};
}

// A program that the library cannot enter ran all the same; the recording says why it holds nothing
// of it.
void note_uncovered(const Prepared& prepared, pid_t program, trace::Totals& totals) {
  if (prepared.library.empty()) return;
  const Result<std::string> path = real_path(prepared.program);
  if (!path) return;
  std::string reason = trace::obstacle_of(*path, prepared.library);
  if (reason.empty() && !totals.program_attached) reason = "the library did not attach";
  if (reason.empty()) return;
  totals.manifest.not_covered.push_back(
      {.pid = program, .program = escape_invalid_utf8(*path), .reason = reason});
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

// Layers that recorded nothing say so, and what the recording cost is estimated.
void complete_manifest(const Prepared& prepared, trace::Manifest& manifest) {
  std::int64_t events = 0;
  for (const std::string& layer : prepared.plan.in_process) events += manifest.layer(layer).events;
  const double each = estimated_ns_per_event(prepared.header.tick_source);
  manifest.overhead_ns_per_event = each;
  manifest.overhead_ns = static_cast<std::int64_t>(each * static_cast<double>(events));
  for (trace::LayerState& layer : manifest.layers) {
    if (layer.state != "on" || layer.events != 0 || !layer.reason.empty()) continue;
    layer.reason = manifest.not_covered.empty() ? "nothing happened in this layer"
                                                : "nothing was seen; the library could not enter " +
                                                      manifest.not_covered[0].program + " (" +
                                                      manifest.not_covered[0].reason + ")";
  }
}

// Sums, and all that the manifest says about the run: packing may be interrupted, or be left to a
// later command.
Result<trace::Totals> sum_up(const Prepared& prepared, pid_t program, trace::Packer& packer) {
  FATHOM_ASSIGN(trace::Totals totals, packer.sum_up());
  note_uncovered(prepared, program, totals);
  complete_manifest(prepared, totals.manifest);
  trace::Manifest& manifest = packer.manifest();
  manifest.not_covered = totals.manifest.not_covered;
  manifest.overhead_ns = totals.manifest.overhead_ns;
  manifest.overhead_ns_per_event = totals.manifest.overhead_ns_per_event;
  for (const trace::LayerState& layer : totals.manifest.layers)
    manifest.layer(layer.layer).reason = layer.reason;
  FATHOM_TRY(trace::write_manifest(prepared.directory, manifest));
  return totals;
}

// Whether somebody wants us to end.
bool told_to_end(SignalQueue& signals) {
  siginfo_t info;
  bool told = false;
  while (signals.next(info)) {
    told |= std::ranges::find(kForwardedSignals, info.si_signo) != std::end(kForwardedSignals);
  }
  return told;
}

Status finish(const Prepared& prepared, pid_t program, SignalQueue& signals, trace::Packer& packer,
              const RunHooks& hooks, RunOutcome& outcome) {
  FATHOM_ASSIGN(const trace::Totals totals, sum_up(prepared, program, packer));
  if (hooks.ended && !outcome.trouble)
    hooks.ended({.directory = prepared.directory, .totals = totals, .strings = packer.strings()});
  const std::uint64_t before = packer.progress().events;
  const auto go_on = [&] {
    if (hooks.packing)
      hooks.packing({.packed = packer.progress().events - before, .all = totals.waiting});
    return !told_to_end(signals);
  };
  FATHOM_ASSIGN(const trace::FinishResult finished, packer.finish("", go_on));
  outcome.interrupted = finished.interrupted;
  return {};
}

// Everything that can be wrong with the command line, before anything is made.
Result<Prepared> prepare(const RunOptions& options) {
  Prepared prepared;
  FATHOM_ASSIGN(prepared.plan, plan_layers(options.layers));
  FATHOM_ASSIGN(prepared.paths, absolute_paths(options.paths));
  FATHOM_ASSIGN(prepared.further, python_variables(options.python));
  if (options.python.any() && !prepared.plan.has("python"))
    return usage_error("options of layer python, which is not recorded", "add --layers +python");
  FATHOM_TRY(check_place(options.output, options.force));
  if (!prepared.plan.in_process.empty()) {
    FATHOM_ASSIGN(prepared.library, sources::find_library());
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
                                                .block_when_full = options.block_when_full}));
  trace::Manifest manifest = first_manifest(prepared, options);
  FATHOM_TRY(trace::write_manifest(prepared.directory, manifest));
  return trace::Packer::open(prepared.directory, std::move(manifest),
                             {.resolver = sources::function_names(), .library = prepared.library});
}

// From the program's first instruction to the end of the recording.
RunOutcome record(const Prepared& prepared, pid_t program, SignalQueue& signals, double hz,
                  Pump& pump, const RunHooks& hooks) {
  const auto start = static_cast<std::int64_t>(prepared.header.start_monotonic_ns);
  HostSources hosts;
  hosts.start(
      prepared.plan.hosts,
      {.directory = prepared.directory, .root_pid = program, .start_monotonic_ns = start, .hz = hz},
      pump.packer().manifest());
  pump.start(hosts.pointers());
  supervise(program, signals, [&] {
    if (hooks.live) hooks.live({.elapsed_ns = now_monotonic_ns() - start, .flow = pump.flow()});
  });
  const std::int64_t end = now_monotonic_ns();
  hosts.stop();  // before reap: an ended process still tells what it used
  RunOutcome outcome;
  outcome.exit_status = reap(program);
  outcome.directory = prepared.directory;
  told_to_end(signals);  // what waits came before the program ended, and was meant for it
  pump.stop();
  trace::Manifest& manifest = pump.packer().manifest();
  manifest.duration_ns = end - start;
  manifest.pid = program;
  manifest.exit_status = outcome.exit_status;
  outcome.trouble = pump.trouble();
  const Status finished = finish(prepared, program, signals, pump.packer(), hooks, outcome);
  if (!finished && !outcome.trouble) outcome.trouble = finished.error();
  signals.release();
  return outcome;
}

}  // namespace

Result<RunOutcome> run(const RunOptions& options, const RunHooks& hooks) {
  FATHOM_ASSIGN(Prepared prepared, prepare(options));
  Result<std::string> path = find_program(options.command.at(0));
  if (!path) return not_started(path.error());
  prepared.program = std::move(path).value();
  FATHOM_ASSIGN(prepared.directory, make_place(options.output, options.force, options.command[0]));
  Result<trace::Packer> packer = open_recording(prepared, options);
  Result<SignalQueue> signals = SignalQueue::open();
  if (!packer || !signals) {
    (void)remove_tree(prepared.directory).has_value();
    return packer ? std::move(signals).error() : std::move(packer).error();
  }
  const Result<pid_t> program = start_program(program_spec(prepared, options), *signals);
  if (!program) {
    (void)remove_tree(prepared.directory).has_value();
    return not_started(program.error());
  }
  Pump pump(std::move(packer).value(), prepared.directory);
  return record(prepared, *program, *signals, options.hz, pump, hooks);
}

}  // namespace fathom::session
