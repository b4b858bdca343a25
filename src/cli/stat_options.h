// SPDX-License-Identifier: MIT
// The options of `fathom stat`, checked and made into what the session wants.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/trials.h"
#include "base/result.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "session/stat/stat.h"

namespace fathom::cli {

struct StatRequest {
  session::StatOptions options;     // without `enough`
  std::vector<std::string> labels;  // of the commands, for people
  pid_t process = 0;                // to count instead of commands; 0: none
  std::optional<double> until;      // share that the interval of wall time may be wide on each side
  bool noise = false;               // a command against itself
  bool fail_if_slower = false;
  std::string output;  // a file; "": standard streams
  OutputOptions format;
  analysis::TrialOptions trials;
};

// Declares, parses, checks. false: help was printed.
Result<bool> read_stat_request(Parser& parser, StatRequest& request);

// By perf's names; those that are counted where none is named.
Result<std::vector<perf::EventGroup>> stat_events(const std::vector<std::string>& names);

// "1%", "0.5 %", "1": a share of 100.
Result<double> parse_percent(std::string_view option, std::string_view text);
// "0,2-3": numbers of CPUs.
Result<std::vector<int>> parse_cpus(std::string_view text);

}  // namespace fathom::cli
