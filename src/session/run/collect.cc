// SPDX-License-Identifier: MIT
// The loop of `fathom collect`: drain and pack until nobody writes any more. Host sources are
// started only where the programs can be seen from here.
#include "session/run/collect.h"

#include "base/files.h"
#include "base/private_files.h"
#include "session/host_sources.h"
#include "session/layer_plan.h"
#include "session/signal_queue.h"
#include "sources/function_names.h"
#include "sources/library.h"
#include "trace/recording/recording.h"
#include "trace/rows/layers.h"
#include "trace/spool/spool.h"

namespace fathom::session {
namespace {

constexpr int kTickMs = 100;

std::string spool_of(const std::string& directory) {
  return join_path(directory, trace::kSpoolDirectory);
}

// Also one whose header somebody removed: that is told, or mended.
bool has_spool(const std::string& directory) {
  if (path_exists(join_path(spool_of(directory), FATHOM_RUN_FILE))) return true;
  const Result<Directory> spool = Directory::open_beneath(spool_of(directory));
  return spool && trace::files_without_header(*spool) > 0;
}

trace::RecoverOptions recover_options(const CollectOptions& options) {
  const Result<std::string> library = sources::find_library();
  return {.resolver = sources::function_names(),
          .library = library ? *library : "",
          .ended = options.ended};
}

// Looks at the programs from beside, where that can be: processes of another machine, or that have
// ended, cannot be seen.
Status start_sources(const CollectOptions& options, const trace::Spool& spool,
                     trace::Packer& packer, HostSources& hosts) {
  FATHOM_ASSIGN(LayerPlan plan, plan_layers("default"));
  plan.leave_out(trace::kSampledLayer, "only 'fathom run' and 'fathom attach' sample programs");
  trace::Manifest& manifest = packer.manifest();
  for (const trace::LayerState& layer : plan.states) {
    const sources::SourceDef* source = sources::source_of(layer.layer);
    const bool wanted = layer.state == "unavailable";  // "off": nobody asked here
    if (source == nullptr || source->in_process || !wanted) continue;
    mark_unavailable({source}, layer.reason, manifest);
  }
  if (!spool.same_boot()) {
    mark_unavailable(plan.hosts, "the programs run on another machine", manifest);
    return {};
  }
  FATHOM_ASSIGN(const trace::DrainResult drained, packer.drain());
  if (!drained.owners_alive && !options.follow) {
    mark_unavailable(plan.hosts, "the programs had ended when they were collected", manifest);
    return {};
  }
  const sources::SourceContext context{
      .directory = options.directory,
      .root_pid = 0,
      .start_monotonic_ns = static_cast<std::int64_t>(spool.header().start_monotonic_ns),
      .hz = options.hz,
      .layers = plan.layers};
  FATHOM_TRY(hosts.prepare(plan.hosts, context));
  hosts.start(context, manifest);
  return {};
}

// One recording from its spool to its end; `interrupted` when a signal came first.
Result<CollectOutcome> collect_once(const CollectOptions& options, SignalQueue& signals,
                                    const std::function<void(const Flow&)>& live) {
  if (options.share) FATHOM_TRY(share_with(options.directory, *options.share));
  // Before the spool is opened here: a header that is gone is made again first.
  FATHOM_ASSIGN(trace::Packer packer, trace::open_own(options.directory, recover_options(options)));
  FATHOM_ASSIGN(const trace::Spool spool, trace::Spool::open(spool_of(options.directory)));
  HostSources hosts;
  FATHOM_TRY(start_sources(options, spool, packer, hosts));
  Pump pump(std::move(packer), options.directory);
  pump.start(hosts.pointers());
  CollectOutcome outcome;
  for (;;) {
    const Flow flow = pump.flow();
    live(flow);
    // Programs may stand between two processes for a moment: with --follow only a signal tells that
    // they are done.
    if (!options.follow && flow.passes > 0 && !flow.writers_alive) break;
    if (pump.trouble() && flow.passes == 0) break;
    outcome.interrupted = signals.told_to_end(kTickMs);
    if (outcome.interrupted) break;
  }
  hosts.stop();
  pump.stop();
  hosts.tell(pump.packer().manifest());
  FATHOM_ASSIGN(const trace::FinishResult finished,
                pump.packer().finish(pump.packer().why_partial()));
  outcome.writers_alive = finished.owners_alive;
  if (finished.owners_unknown) {
    outcome.unknown_on =
        spool.same_boot() ? "another container" : pump.packer().manifest().host.hostname;
  }
  outcome.state = finished.state;
  outcome.trouble = pump.trouble();
  return outcome;
}

// Recordings of the processes of one job, say: what is left in each is packed.
Result<CollectOutcome> collect_below(const CollectOptions& options) {
  FATHOM_TRY(trace::recover(options.directory, recover_options(options)));
  return CollectOutcome{};
}

}  // namespace

Result<CollectOutcome> collect(const CollectOptions& options,
                               const std::function<void(const Flow&)>& live) {
  FATHOM_ASSIGN(SignalQueue signals, SignalQueue::open());
  while (!has_spool(options.directory)) {
    if (!options.follow) {
      if (path_exists(join_path(options.directory, trace::kManifestFile))) {
        if (options.share) FATHOM_TRY(share_with(options.directory, *options.share));
        return CollectOutcome{};
      }
      if (!trace::find_recordings(options.directory).empty()) return collect_below(options);
      return Error{Code::kNotFound, "nothing records into " + options.directory,
                   "start programs with LD_PRELOAD=libfathom.so FATHOM_OUT=" + options.directory +
                       ", or use --follow to wait"};
    }
    if (signals.told_to_end(kTickMs)) {
      CollectOutcome outcome;
      outcome.interrupted = true;
      return outcome;
    }
  }
  return collect_once(options, signals, live);
}

}  // namespace fathom::session
