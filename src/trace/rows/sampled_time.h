// SPDX-License-Identifier: MIT
// Sums of samples while they come: what threads did in all, for who cannot wait for the tables.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/rows/lives.h"
#include "trace/rows/name_resolver.h"
#include "trace/rows/samples.h"
#include "trace/rows/strings.h"

namespace fathom::trace {

// How long these threads lived in all, ns: 100 % of every share of threads' time, here as in
// `life` of the SQL view `totals` (analysis/insights/rule_views.h). Those without an end live until
// `until`.
[[nodiscard]] std::int64_t lifetime_of(const std::vector<ThreadRow>& threads, std::int64_t until);

// As view `time` tells it; ns.
struct ThreadTime {
  std::int64_t life = 0;
  std::int64_t running = 0;
  std::int64_t waiting = 0;
  std::int64_t ready = 0;
  // Functions that ran, the longest first.
  std::vector<std::pair<std::string, std::int64_t>> functions = {};

  // Where nobody tells what threads did: records were lost, or a wait has not ended yet.
  [[nodiscard]] std::int64_t unexplained() const { return life - running - waiting - ready; }
};

// One thread at a time.
class SampledTime {
 public:
  // Rows with the frames of the stacks that are new in them.
  void add(const SampleBatch& samples, const FrameBatch& frames, const Strings& strings);
  // Gives the functions their names. `threads` tell how long each lived and was ready in all.
  [[nodiscard]] ThreadTime told(const std::vector<ThreadRow>& threads, std::int64_t until,
                                const NameResolver& resolver);

 private:
  struct Off {
    std::int64_t asleep = 0;
    std::int64_t ready = 0;
  };
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t>;

  void add_leaf(std::int64_t stack, const Frame& frame, const Strings& strings);
  void add_off(const SampleRow& row);
  void add_functions(const NameResolver& resolver, ThreadTime& time);

  Strings strings_;
  std::map<Place, std::size_t> places_;
  FrameBatch leaves_;  // innermost frames; the stack is the number of the place
  std::unordered_map<std::int64_t, std::size_t> leaf_of_;  // by stack
  std::unordered_map<std::int64_t, std::int64_t> ran_;     // ns by stack
  std::map<std::pair<std::int32_t, std::int32_t>, Off> off_;
};

}  // namespace fathom::trace
