// SPDX-License-Identifier: MIT
// Records of a run into rows for a consumer (row_stream.h), each row once: out of logs, and before
// that out of segments that their processes still own. Who drains, and when, is the caller's.
//
//   see(drainer) → tick() → take_drained(…) of what lies in logs by then → take_living(…)
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "session/stream/row_stream.h"
#include "session/stream/stream_processes.h"
#include "trace/decode/decoder.h"
#include "trace/spool/drained_definitions.h"
#include "trace/spool/drainer.h"
#include "trace/spool/spool.h"

namespace fathom::session {

// One thread at a time. An Error is the consumer's, or the spool could not be read.
class RowFeed {
 public:
  // Whose rows are handed on: of processes that ask for files of another tool, or of all.
  enum class Whose : std::uint8_t { kAsking, kAll };

  // Goes on where one that was killed had got to, as the consumer tells. Both outlive this.
  RowFeed(trace::Spool& spool, RowConsumer& consumer, Whose whose);

  // What is there now: names, and copies of segments in use. Nobody may drain meanwhile.
  Status see(trace::Drainer& drainer);
  // What was seen was written before this moment: its times are final, or nearly so where somebody
  // wants rows often. A long run would have more readings of its clock than rows then.
  void tick();
  Status take_drained(std::span<const trace::Chunk> chunks);
  // Of these processes, or of all where all are wanted. Logs will bring the same rows again, a
  // thread's in the same order: they are counted.
  Status take_living(const std::set<std::int64_t>& pids);

  // How often somebody wants rows of living processes, and of whom; 0: nobody does.
  [[nodiscard]] std::int64_t live_every_ns() const { return live_every_ns_; }
  [[nodiscard]] const std::set<std::int64_t>& live() const { return live_; }
  // Which rows were handed on that logs will bring, for RowConsumer::settle.
  [[nodiscard]] std::string ahead() const;

  [[nodiscard]] StreamProcesses& processes() { return processes_; }
  [[nodiscard]] const trace::Clock& clock() const { return clock_; }

 private:
  // Rows of threads, by pid and tid.
  using RowCounts = std::map<std::pair<std::int32_t, std::int32_t>, std::size_t>;
  using Rows = std::vector<std::size_t>;
  static RowCounts read_ahead(std::string_view text);
  trace::EventBatch decode(trace::Decoder& decoder, std::span<const trace::Chunk> chunks);
  void learn(const trace::Definitions& definitions);
  Status hand_on(const trace::EventBatch& events, const Rows& rows);

  RowConsumer* consumer_;
  Whose whose_;
  bool same_boot_;
  trace::Strings strings_;
  trace::Clock clock_;
  trace::DrainedDefinitions definitions_;
  trace::Decoder decoder_;
  trace::DrainedDefinitions living_definitions_;
  trace::Decoder living_;  // of segments, from where the other stands
  StreamProcesses processes_;
  std::vector<trace::Drainer::LiveCopy> segments_;
  RowCounts taken_;  // of living threads
  std::int64_t live_every_ns_ = 0;
  std::set<std::int64_t> live_;  // pids
};

}  // namespace fathom::session
