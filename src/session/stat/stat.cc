// SPDX-License-Identifier: MIT
// The order of a series. A failed run ends it, since its time says nothing of those that work.
#include "session/stat/stat.h"

#include <numeric>
#include <utility>

#include "base/clock.h"
#include "base/dice.h"
#include "session/run/program.h"

namespace fathom::session {
namespace {

class Turns {
 public:
  Turns(const StatOptions& options, SignalQueue& signals, StatOutcome& outcome)
      : options_(options), signals_(signals), outcome_(outcome), dice_(options.seed) {
    outcome.runs.resize(options.commands.size());
  }

  // Runs all there is to run. An Error: the first program could not be measured at all.
  Status take() {
    for (std::int64_t turn = 0; turn < options_.warmup; ++turn) {
      FATHOM_ASSIGN(const bool go_on, round(false));
      if (!go_on) return {};
    }
    begin_ns_ = now_monotonic_ns();
    for (std::int64_t turn = 1; !is_late(); ++turn) {
      FATHOM_ASSIGN(const bool go_on, round(true));
      if (!go_on) return {};
      const bool is_least = turn >= options_.runs;
      if (is_least && (!options_.enough || options_.enough(outcome_.runs))) return {};
    }
    return {};
  }

 private:
  // At least one run of each, whatever the budget.
  [[nodiscard]] bool is_late() const {
    return options_.budget_ns > 0 && !outcome_.runs.back().empty() &&
           now_monotonic_ns() - begin_ns_ >= options_.budget_ns;
  }

  // A run of each; false: the series is over.
  Result<bool> round(bool counts) {
    std::vector<std::size_t> order(options_.commands.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    dice_.shuffle(std::span(order));
    for (const std::size_t command : order) {
      FATHOM_ASSIGN(const bool go_on, run(command, counts));
      if (!go_on) return false;
    }
    return true;
  }

  Result<bool> run(std::size_t command, bool counts) {
    Result<Measured> measured = measure({.words = options_.commands[command],
                                         .events = options_.events,
                                         .cpus = options_.cpus,
                                         .needs_events = options_.needs_events},
                                        signals_);
    if (!measured) {
      const Code code = measured.error().code;
      if (code != Code::kNotFound && code != Code::kDenied) return std::move(measured).error();
      outcome_.exit_status = shell_status(measured.error());
      outcome_.not_started = std::move(measured).error();
      return false;
    }
    const int exit = measured->exit.value_or(0);
    if (exit != 0 && outcome_.exit_status == 0) outcome_.exit_status = exit;
    // The program got it, too; whoever sent it means the whole series.
    outcome_.interrupted = signals_.told_to_end() || signals_.was_told_to_end();
    if (counts) outcome_.runs[command].push_back(std::move(measured).value());
    return !outcome_.interrupted && (exit == 0 || options_.ignore_failure);
  }

  const StatOptions& options_;
  SignalQueue& signals_;
  StatOutcome& outcome_;
  Dice dice_;
  std::int64_t begin_ns_ = 0;
};

}  // namespace

Result<StatOutcome> stat(const StatOptions& options) {
  FATHOM_ASSIGN(SignalQueue signals, SignalQueue::open());
  StatOutcome outcome;
  const NoiseMeter meter;
  const Status taken = Turns(options, signals, outcome).take();
  signals.release();
  if (!taken) return taken.error();
  outcome.noise = meter.read();
  return outcome;
}

Result<StatOutcome> stat_process(pid_t process, const std::vector<perf::EventGroup>& events) {
  FATHOM_ASSIGN(SignalQueue signals, SignalQueue::open());
  StatOutcome outcome;
  const NoiseMeter meter;
  Result<Measured> measured = measure_running(process, events, signals);
  signals.release();
  if (!measured) return std::move(measured).error();
  outcome.runs = {{std::move(measured).value()}};
  outcome.noise = meter.read();
  return outcome;
}

}  // namespace fathom::session
