// SPDX-License-Identifier: MIT
// What was recorded so far, added up as it comes: out of logs while they are there, out of Parquet
// files where they were packed before. In two tallies, since they reach different moments: what
// programs write into their segments can be read at once, what the recorder samples comes about
// once a second.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/live/latest_counters.h"
#include "analysis/live/stack_words.h"
#include "analysis/live/tally.h"
#include "base/directory.h"
#include "base/result.h"
#include "trace/decode/host_rows.h"
#include "trace/rows/name_resolver.h"
#include "trace/rows/samples.h"

namespace fathom::sql {
class Connection;
}

namespace fathom::analysis {

// Of a process, as layer resource told last.
struct Usage {
  double user_s = 0;
  double system_s = 0;
  std::int64_t memory_bytes = 0;
  [[nodiscard]] double cpu_s() const { return user_s + system_s; }
};

// One thread at a time.
class LiveSums {
 public:
  // Rates are of what comes from now on.
  void begin_look() { since_ = host_.until(); }
  // Of calls that programs recorded, and counters that they told.
  void add_program(const trace::SummaryTable& sums, const trace::CounterBatch& counters,
                   const trace::Strings& strings) {
    program_.add(sums, strings, names_);
    add_told(counters, strings, program_counters_);
  }
  static void add_told(const trace::CounterBatch& counters, const trace::Strings& strings,
                       LatestCounters& to);
  // Of what the recorder saw beside them; places in `rows.frames` get their names.
  void add_host(trace::HostRows& rows, trace::Strings& strings, const trace::NameResolver& names);
  // Parts of the recording's tables.
  Status add_packed(const Directory& recording, std::span<const std::uint64_t> parts);

  [[nodiscard]] const Tally& program() const { return program_; }
  [[nodiscard]] const Tally& host() const { return host_; }
  [[nodiscard]] const std::unordered_map<std::int32_t, Usage>& usage() const { return usage_; }
  [[nodiscard]] const LatestCounters& program_counters() const { return program_counters_; }
  [[nodiscard]] const LatestCounters& host_counters() const { return host_counters_; }
  [[nodiscard]] bool sampled() const { return sampled_; }
  [[nodiscard]] trace::Strings& names() { return names_; }

 private:
  struct Words {
    std::uint32_t ran = trace::kNoString;
    std::uint32_t cause = trace::kNoString;
    std::uint32_t wait = trace::kNoString;
  };
  void learn(std::int64_t stack, std::span<const StackFrame> frames);
  struct Sample {
    std::int32_t pid = trace::kNull32;
    std::string_view event;
    std::int64_t stack = 0;
    TimeSum weight;
    TimeSum ready;  // of that: it could have run
  };
  void add_sample(const Sample& sample);
  void learn_frames(const trace::FrameBatch& frames, const trace::Strings& strings);
  void add_counters(const trace::CounterBatch& counters, const trace::Strings& strings);
  // What packed files add; `from` is the SQL of a table expression over one table's files.
  Status add_packed_calls(sql::Connection& connection, const std::string& from);
  Status learn_packed_stacks(sql::Connection& connection, const std::string& from);
  Status add_packed_samples(sql::Connection& connection, const std::string& from);

  trace::Strings names_;
  Tally program_;
  Tally host_;
  std::unordered_map<std::int64_t, Words> stacks_;
  std::unordered_map<std::int32_t, Usage> usage_;
  LatestCounters program_counters_;
  LatestCounters host_counters_;  // of no process
  bool sampled_ = false;
  std::int64_t since_ = 0;
};

}  // namespace fathom::analysis
