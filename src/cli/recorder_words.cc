// SPDX-License-Identifier: MIT
// What a recorder says while it records. All of it goes to stderr: stdout is the program's. A live
// line only where stderr is a terminal, ten times a second at most, and gone before anything else
// is said.
#include "cli/recorder_words.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/plural.h"
#include "base/text.h"
#include "cli/run_advice.h"
#include "cli/run_summary.h"
#include "cli/tell.h"
#include "render/render.h"

namespace fathom::cli {
namespace {

std::string live_line(const session::LiveState& state, double events_per_second) {
  const session::Flow& flow = state.flow;
  std::string line = fmt::format("fathom: {}", human_ns(static_cast<double>(state.elapsed_ns)));
  if (flow.processes > 0) {
    line += "  " + counted(flow.processes, "process");
  }
  line += fmt::format("  {}  {}/s  {}", counted_roughly(static_cast<double>(flow.events), "event"),
                      human_count(events_per_second), human_bytes(static_cast<double>(flow.bytes)));
  return line + fmt::format("  {} lost", human_count(static_cast<double>(flow.lost)));
}

std::string packing_line(const session::PackingState& state) {
  return fmt::format("fathom: packing, {} of {}", human_count(static_cast<double>(state.packed)),
                     counted_roughly(static_cast<double>(state.all), "event"));
}

}  // namespace

void RecorderWords::show(const session::LiveState& state) {
  if (!live_.due()) return;
  const std::int64_t span = state.elapsed_ns - last_.elapsed_ns;
  if (span >= 1'000'000'000) {
    const auto more =
        static_cast<double>(state.flow.events) - static_cast<double>(last_.flow.events);
    rate_ = std::max(0.0, more * 1e9 / static_cast<double>(span));
    last_ = state;
  }
  live_.show(live_line(state, rate_));
}

void RecorderWords::clear() {
  live_.clear();
  packing_.clear();
}

session::RunHooks RecorderWords::hooks() {
  return {.live = [this](const session::LiveState& state) { show(state); },
          .ended =
              [this](const session::Ended& ended) {
                live_.clear();
                const std::size_t width = render::style_for(STDERR_FILENO).width;
                print_beside(run_summary(ended, first_advice(ended), width));
              },
          .packing =
              [this](const session::PackingState& state) {
                live_.clear();
                if (packing_.due()) packing_.show(packing_line(state));
              }};
}

void tell_outcome(const session::RunOutcome& outcome) {
  if (outcome.trouble) {
    Error error = *outcome.trouble;
    error.hint = "the recording so far is in " + outcome.directory;
    tell(error);
  } else if (outcome.interrupted) {
    tell({Code::kIo, "packing was interrupted; nothing was lost",
          "you can use the recording as it is, or finish packing with fathom collect"});
  }
}

}  // namespace fathom::cli
