// SPDX-License-Identifier: MIT
// What an application needs, by the recordings of its runs. Times are seconds, sizes bytes.
//
//   FATHOM_ASSIGN(Profile profile, application_profile(runs));
//   profile.title = image;                     // and facts: what only the caller knows
//   write(dir / "profile.json", render::profile_json(profile));
//
// What was not measured is nothing, never 0, and has a reason.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/insights/insights.h"
#include "base/result.h"
#include "base/table.h"

namespace fathom::analysis {

inline constexpr char kProbed[] = "probed";  // with functions, loops and I/O
inline constexpr char kPlain[] = "plain";    // from outside only

// One run, as whoever started it saw it; in the order of their numbers.
struct ContainerRun {
  std::string kind;       // kProbed or kPlain
  std::string recording;  // its path; empty: there is none
  int exit = 0;
  bool oom = false;
  bool timed_out = false;
  double wall_s = 0;
  std::optional<bool> success = {};  // of the check that was asked for; none: 0 is
  std::string failure = {};          // why the check failed, in words
};

// A number that was measured, or why it was not: never a guess, and never 0 for "unknown".
struct Amount {
  std::optional<double> typical = {}, peak = {};
  std::string reason = {};  // why a number is missing, or what it includes besides
};

// One line of what an application needs: its name in files, its unit in tables.
struct Need {
  std::string name;  // "cpu_cores", as in profile.json
  Measure measure = Measure::kNone;
  std::string unit;  // for people: "cores", "bytes/s"
  Amount amount;
};

// As Kubernetes writes them: "250m", "192Mi"; empty: not measured.
struct Quantities {
  std::string cpu, memory;
};

// What to ask a scheduler for, as Kubernetes writes it.
struct Recommendation {
  Quantities requests, limits;
  double margin = 0;  // of limits above the peak: 0.2 is a fifth
  std::string reason = {};
};

// A function of the application, by the first recording from inside that has functions.
struct FunctionUse {
  std::string name, layer, module;
  std::int64_t calls = 0;
  double total_s = 0;                                       // recursion counted once
  double self_s = 0;                                        // excludes nested functions
  std::optional<double> cpu_cores = {}, memory_bytes = {};  // used by the application while it ran
  std::string reason = {};                                  // why one of these is missing
};

struct LoopUse {
  std::string file;
  std::int64_t line = 0;
  std::string kind, function;  // kind: "for", "while"
  std::int64_t runs = 0;
  std::optional<std::int64_t> turns;
  double total_s = 0;
  std::optional<double> cpu_cores = {}, memory_bytes = {};
  std::string reason = {};  // why turns, cores or memory are missing
};

// Wall time of probed runs by that of plain ones; low and high: its interval at 95 %.
struct Overhead {
  std::optional<double> ratio, low, high;
  std::string reason = {};
};

// All of it: the page, the text and the JSON show the same one.
struct Profile {
  std::string title;                                       // of the page
  std::vector<std::pair<std::string, std::string>> facts;  // shown at its end
  std::vector<std::pair<std::string, Value>> extra;        // further keys of profile.json
  std::vector<ContainerRun> runs;
  std::vector<Need> needs;
  Recommendation recommend;
  std::vector<FunctionUse> functions;  // most own time first
  std::vector<LoopUse> loops;
  Overhead overhead;
  std::vector<std::string> words;  // sentences: out of memory, throttled, stopped
  std::vector<Insight> insights;
  std::vector<Table> curves;  // for line_chart: the last column has lists over the run
  Table time;                 // where it went, by layer
  Table hot;                  // functions by samples of the CPU, whatever they were written in
  Table phases;
  double wall_s = 0;  // of the run that curves are of
};

// Needs, curves and words are those of the plain runs (of probed ones where there are none),
// functions, loops, phases and insights those of the first probed run. A recording that does not
// open costs what it would have told, and is named in `words`; without any run it is an error.
Result<Profile> application_profile(std::span<const ContainerRun> runs);

}  // namespace fathom::analysis
