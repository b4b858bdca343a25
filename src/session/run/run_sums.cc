// SPDX-License-Identifier: MIT
// Whoever reads the sums must know what is not in them: an empty layer, or a program that was not
// entered, gets its reason here, while the program's file and the options are still known.
#include "session/run/run_sums.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/sum.h"
#include "base/text.h"
#include "base/utf8.h"
#include "trace/recording/obstacle.h"
#include "trace/rows/layers.h"

namespace fathom::session {
namespace {

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
  if (reason.empty()) reason = limit_in_the_way();
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

}  // namespace

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

}  // namespace fathom::session
