// SPDX-License-Identifier: MIT
// What a server tells of its jobs and agents into a page: of all jobs, or of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/top/page.h"

namespace fathom::cli::top {

// Rates are per second, over the last seconds that were told.
struct JobNow {
  std::string name;
  std::string info;
  std::int64_t benchmarks = 0;
  double batches = 0;
  double rows = 0;
  double count = 0;
  std::int64_t agents = 0;             // that sent something of late
  std::optional<std::int64_t> ago_ns;  // since something came; none: nothing came since we watch
};

struct AgentNow {
  std::string client;
  std::string job;
  double batches = 0;
  double rows = 0;
  std::int64_t total_rows = 0;  // since we watch
  std::int64_t ago_ns = 0;
};

// A sum of a profile.
struct NodeNow {
  std::string node;
  std::string exec;
  std::string event;
  double rate = 0;
  std::int64_t count = 0;
};

struct ServerNow {
  std::string url;
  std::string trouble;  // why nothing comes; "": it does
  std::vector<JobNow> jobs;
  std::vector<AgentNow> agents;
  std::string profile_job;  // whose profile follows; "": nobody's
  std::vector<NodeNow> profile;
  std::int64_t nodes_left_out = 0;  // of the profile
  std::int64_t missed = 0;          // seconds and batches that were not told
  std::int64_t left_out = 0;
};

[[nodiscard]] Page server_page(const ServerNow& server, const std::string& inside);

}  // namespace fathom::cli::top
