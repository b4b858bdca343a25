// SPDX-License-Identifier: MIT
// Checks options before anything is made: a recording that cannot be is refused with a sentence
// that names the option, and leaves nothing behind.
#include "session/run/prepared.h"

#include <sys/resource.h>

#include <utility>

#include "base/files.h"
#include "base/hex.h"
#include "base/host.h"
#include "base/text.h"
#include "base/utf8.h"
#include "session/environment.h"
#include "session/event_options.h"
#include "session/kernel_options.h"
#include "session/place.h"
#include "sources/expect.h"
#include "sources/library.h"
#include "trace/recording/obstacle.h"
#include "trace/rows/layers.h"
#include "wire/exec.h"

namespace fathom::session {
namespace {

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

bool takes_library(const Prepared& prepared) {
  return limit_in_the_way().empty() &&
         !trace::turns_library_away(prepared.program, prepared.library);
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

}  // namespace

// Programs inherit limits.
std::string limit_in_the_way() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < FATHOM_LEAST_STACK)
    return std::string(trace::kSmallStack);
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < FATHOM_LEAST_ADDRESSES)
    return std::string(trace::kFewAddresses);
  return "";
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

}  // namespace fathom::session
