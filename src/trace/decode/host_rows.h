// SPDX-License-Identifier: MIT
// What sources beside the programs give: rows of every kind, on their way into the recording. Each
// hands over batches with texts of their own; the log keeps them until they are packed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/decode/decoder.h"
#include "trace/rows/batch.h"
#include "trace/rows/lives.h"
#include "trace/rows/samples.h"
#include "trace/rows/strings.h"
#include "trace/rows/summary.h"

namespace fathom::trace {

// A batch of one source. Codes are of strings that go with it; whoever takes it translates them.
struct HostRows {
  CounterBatch counters;
  IntervalBatch intervals;
  IntervalBatch targets;  // bytes that calls of `intervals` wrote to a second file: for sums alone
  EventBatch events;      // their sums are those of `intervals`: a layer in detail has both
  SampleBatch samples;
  FrameBatch frames;  // of stacks that no row before these had
  Lives lives;
  std::vector<Loss> losses;

  // Those of tables, without sums and what they refer to.
  [[nodiscard]] std::size_t rows() const {
    return events.rows() + counters.rows.size() + intervals.rows.size() + samples.rows.size();
  }
  [[nodiscard]] bool empty() const {
    return rows() == 0 && targets.rows.empty() && frames.rows.empty() && lives.empty() &&
           losses.empty();
  }
};

// All but lives as the bytes of entries of the log, none of them long.
std::vector<std::string> encode_rows(const HostRows& rows, const Strings& strings);
// Back; false where damaged, with what was read before.
bool decode_rows(std::span<const std::uint8_t> bytes, HostRows& rows, Strings& strings);

std::string encode_lives(const Lives& lives);
bool decode_lives(std::span<const std::uint8_t> bytes, Lives& lives);
// What recorders wrote before they sampled: neither `rung` nor `ready`.
bool decode_unsampled_lives(std::span<const std::uint8_t> bytes, Lives& lives);
// What recorders wrote before they saw threads: processes without the number in their namespace.
bool decode_processes(std::span<const std::uint8_t> bytes, std::vector<ProcessRow>& processes);

// What the rows add to sums. (Of a layer in detail that is what the intervals say, and the events
// add nothing.)
void add_sums(const HostRows& rows, const Strings& strings, Decoder::Sums& sums);

}  // namespace fathom::trace
