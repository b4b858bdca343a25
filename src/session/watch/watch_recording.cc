// SPDX-License-Identifier: MIT
// A daemon's recording has no program: its manifest is that of an unsupervised run, and its end is
// the next one's start.
#include "session/watch/watch_recording.h"

#include "base/files.h"
#include "base/utf8.h"
#include "session/environment.h"
#include "session/run_header.h"
#include "sources/function_names.h"
#include "trace/recording/recording.h"
#include "trace/spool/spool.h"

namespace fathom::session {

Result<std::unique_ptr<WatchRecording>> WatchRecording::begin(const WatchRecordingSpec& spec) {
  HeaderOptions options;
  options.start_monotonic_ns = spec.start_monotonic_ns;
  FATHOM_ASSIGN(const fathom_run_header header, make_spool(spec.directory, options));
  FATHOM_ASSIGN(const trace::Spool spool,
                trace::Spool::open(join_path(spec.directory, trace::kSpoolDirectory)));
  trace::Manifest manifest = trace::unsupervised_manifest(spool);
  manifest.origin = spec.origin;
  manifest.layers = spec.layers;
  manifest.facts = spec.facts;
  for (const std::string& word : spec.command)
    manifest.command.push_back(escape_invalid_utf8(word));
  manifest.environment = telling_environment(spec.environment);
  FATHOM_TRY(trace::write_manifest(spec.directory, manifest));
  FATHOM_ASSIGN(
      trace::Packer packer,
      trace::Packer::open(spec.directory, std::move(manifest),
                          {.resolver = spec.resolver ? *spec.resolver : sources::function_names(),
                           .library = spec.library}));
  return std::unique_ptr<WatchRecording>(new WatchRecording(
      spec.directory, static_cast<std::int64_t>(header.start_monotonic_ns), std::move(packer)));
}

Status WatchRecording::append(const trace::HostRows& rows, const trace::Strings& strings) {
  return rows.empty() ? Status() : pump_.packer().append(rows, strings);
}

Result<trace::Totals> WatchRecording::sum_up(std::int64_t end_monotonic_ns) {
  trace::Packer& packer = pump_.packer();
  packer.manifest().duration_ns = end_monotonic_ns - start_ns_;
  FATHOM_ASSIGN(trace::Totals totals, packer.sum_up());
  for (const trace::LayerState& layer : totals.manifest.layers) {
    const bool is_silent = layer.state == "on" && layer.events == 0 && layer.reason.empty();
    if (is_silent) packer.manifest().layer(layer.layer).reason = "nothing happened in this layer";
  }
  return totals;
}

Status WatchRecording::finish(std::int64_t end_monotonic_ns) {
  FATHOM_TRY(sum_up(end_monotonic_ns));
  FATHOM_ASSIGN(const trace::FinishResult finished, pump_.packer().finish());
  (void)finished;
  return {};
}

}  // namespace fathom::session
