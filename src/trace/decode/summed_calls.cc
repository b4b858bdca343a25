// SPDX-License-Identifier: MIT
// Reads records that their thread may be changing at this moment. The histogram decides how many
// calls there were, so that count and buckets always agree.
#include "trace/decode/summed_calls.h"

#include <algorithm>
#include <utility>

#include "base/sum.h"
#include "trace/decode/row_decoder.h"

namespace fathom::trace {
namespace {

constexpr std::uint64_t kLongestSum{kLongest};
constexpr unsigned kMostPadding = 7;

std::int64_t amount(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX));
}

// So many ticks, up to a moment.
std::int64_t time_of(std::uint64_t ticks, std::uint64_t end, const Clock& clock) {
  const auto ns = static_cast<std::uint64_t>(clock.ns(end)) -
                  static_cast<std::uint64_t>(clock.ns(end - std::min(ticks, end)));
  return amount(std::min(ns, kLongestSum));
}

void add_hist(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& more) {
  if (to.size() < more.size()) to.resize(more.size());
  for (std::size_t i = 0; i < more.size(); i++) add_to(to[i], more[i]);
}

}  // namespace

bool read_sums(ByteReader& fields, std::uint16_t& kind, fathom_sums& sums) {
  std::uint8_t padding = 0;
  std::uint8_t nothing = 0;
  if (!fields.raw(kind) || !fields.raw(padding) || padding > kMostPadding) return false;
  for (; padding > 0; padding--) {
    if (!fields.raw(nothing)) return false;
  }
  return fields.raw(sums) && sums.begin_ns <= kLongestSum && sums.width_ns > 0 &&
         sums.width_ns <= kLongestSum;
}

// The thread may be in the middle of adding a call. The buckets have the say how many there are.
IntervalRow row_of(const fathom_sums& sums, const Clock& clock) {
  IntervalRow row;
  row.ts = amount(sums.begin_ns);
  row.width = amount(sums.width_ns);
  for (const std::uint64_t count : sums.hist) {
    row.hist.push_back(amount(count));
    add_to(row.calls, row.hist.back());
  }
  while (!row.hist.empty() && row.hist.back() == 0) row.hist.pop_back();
  row.errors = std::min(amount(sums.errors), row.calls);
  row.bytes = amount(sums.bytes);
  row.dur = time_of(sums.ticks, sums.last_end, clock);
  row.dur_max = std::min(time_of(sums.most, sums.last_end, clock), row.dur);
  row.dur_min = std::min(time_of(sums.least, sums.last_end, clock), row.dur_max);
  return row;
}

void SummedCalls::add(const IntervalRow& row) {
  const auto [at, is_new] =
      rows_.try_emplace({row.process, row.tid, row.layer, row.name, row.ts}, row);
  if (is_new) return;
  IntervalRow& sum = at->second;
  add_to(sum.calls, row.calls);
  add_to(sum.errors, row.errors);
  add_to(sum.dur, row.dur);
  sum.dur_min = std::min(sum.dur_min, row.dur_min);
  sum.dur_max = std::max(sum.dur_max, row.dur_max);
  if (row.bytes != kNull) add_to(sum.bytes, row.bytes);
  add_hist(sum.hist, row.hist);
}

IntervalBatch SummedCalls::take() {
  IntervalBatch batch;
  for (auto& [key, row] : rows_) batch.rows.push_back(std::move(row));
  rows_.clear();
  return batch;
}

}  // namespace fathom::trace
