// SPDX-License-Identifier: MIT
// Sums of calls, made while decoding, for each record: no allocation but for new rows, and nothing
// that a damaged record can upset. Sums saturate instead of overflowing, and the number of rows is
// bounded: files beyond the limit share one row, which says so.
#include "trace/rows/summary.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "base/sum.h"

namespace fathom::trace {
namespace {

std::size_t log2_bucket(std::int64_t value) {
  return value <= 1
             ? 0
             : static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(value)) - 1);
}

void count(std::vector<std::int64_t>& histogram, std::int64_t value) {
  const std::size_t bucket = log2_bucket(value);
  if (bucket >= histogram.size()) histogram.resize(bucket + 1, 0);
  histogram[bucket]++;
}

void sum(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
  if (to.size() < from.size()) to.resize(from.size(), 0);
  for (std::size_t i = 0; i < from.size(); i++) to[i] = plus(to[i], from[i]);
}

// Keys differ in name and file most, so these come first. The program is left out: it goes with the
// process.
std::size_t hash(const SummaryKey& key) {
  std::uint64_t value =
      (std::uint64_t{key.name} << 32) ^ key.file ^ (std::uint64_t{key.peer} << 13);
  value = (value ^ (value >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
  value ^= (std::uint64_t{key.layer} << 40) ^ (std::uint64_t{key.category} << 20) ^
           static_cast<std::uint32_t>(key.pid) ^ key.process;
  value = (value ^ (value >> 32)) * UINT64_C(0x94d049bb133111eb);
  return static_cast<std::size_t>(value ^ (value >> 31));
}

void add_cell(Timeline::Cell& to, const Timeline::Cell& from) {
  to.busy = plus(to.busy, from.busy);
  to.calls = plus(to.calls, from.calls);
  to.bytes = plus(to.bytes, from.bytes);
}

}  // namespace

void SummaryRow::add(std::int64_t ts, std::int64_t duration, std::int64_t self_time,
                     std::int64_t moved, bool failed) {
  if (calls == 0) {
    dur_min = dur_max = duration;
    first = ts;
    last = plus(ts, duration);
  } else {
    dur_min = std::min(dur_min, duration);
    dur_max = std::max(dur_max, duration);
    first = std::min(first, ts);
    last = std::max(last, plus(ts, duration));
  }
  calls++;
  errors += failed ? 1 : 0;
  dur = plus(dur, duration);
  self = plus(self, self_time);
  count(hist, duration);
  if (moved == kNull) return;
  bytes = bytes == kNull ? moved : plus(bytes, moved);
  if (!failed) count(sizes, moved);
}

void SummaryRow::add_written(std::int64_t ts, std::int64_t duration, std::int64_t moved) {
  const bool fresh = empty();
  first = fresh ? ts : std::min(first, ts);
  last = fresh ? plus(ts, duration) : std::max(last, plus(ts, duration));
  bytes = bytes == kNull ? moved : plus(bytes, moved);
}

void SummaryRow::merge(const SummaryRow& other) {
  if (other.empty()) return;
  const bool fresh = empty();
  dur_min = fresh ? other.dur_min : std::min(dur_min, other.dur_min);
  dur_max = fresh ? other.dur_max : std::max(dur_max, other.dur_max);
  first = fresh ? other.first : std::min(first, other.first);
  last = fresh ? other.last : std::max(last, other.last);
  calls = plus(calls, other.calls);
  errors = plus(errors, other.errors);
  dur = plus(dur, other.dur);
  self = plus(self, other.self);
  if (other.bytes != kNull) bytes = bytes == kNull ? other.bytes : plus(bytes, other.bytes);
  sum(hist, other.hist);
  sum(sizes, other.sizes);
  access.merge(other.access);
}

void SummaryTable::bound(Strings& strings) {
  other_file_ = strings.code(kOtherFiles);
  other_name_ = strings.code(kOtherNames);
}

std::size_t SummaryTable::slot_of(const SummaryKey& key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash(key) & mask;
  // Ends, since a quarter of the slots is free.
  while (slots_[slot] != kNoString && !(rows_[slots_[slot]].key == key)) slot = (slot + 1) & mask;
  return slot;
}

// A key that has no row yet, or the one that stands for it.
SummaryKey SummaryTable::bounded(const SummaryKey& key) const {
  if (!files_are_full()) return key;
  SummaryKey other = key;
  if (key.file != kNoString) other.file = other_file_;
  other.peer = kNoString;
  if (!is_full() || slots_[slot_of(other)] != kNoString) return other;
  return {.layer = key.layer,
          .name = other_name_,
          .category = kNoString,
          .file = key.file != kNoString ? other_file_ : kNoString,
          .pid = kNull32,
          .program = kNoString,
          .process = 0,
          .peer = kNoString};
}

std::size_t SummaryTable::find(const SummaryKey& key) {
  if (rows_.size() * 4 >= slots_.size() * 3) grow();
  std::size_t slot = slot_of(key);
  if (slots_[slot] != kNoString) return slots_[slot];
  // Asked for second: nearly every key has its row.
  const SummaryKey own = bounded(key);
  slot = slot_of(own);
  if (slots_[slot] != kNoString) return slots_[slot];
  slots_[slot] = static_cast<std::uint32_t>(rows_.size());
  rows_.emplace_back().key = own;
  return rows_.size() - 1;
}

void SummaryTable::grow() {
  const std::size_t size = std::max<std::size_t>(64, slots_.size() * 2);
  slots_.assign(size, kNoString);
  for (std::uint32_t row = 0; row < rows_.size(); row++) {
    std::size_t slot = hash(rows_[row].key) & (size - 1);
    while (slots_[slot] != kNoString) slot = (slot + 1) & (size - 1);
    slots_[slot] = row;
  }
}

void SummaryTable::add(const SummaryTable& other, const Strings& from, Strings& to) {
  const auto moved = [&](std::uint32_t code) {
    return code == kNoString ? kNoString : to.code(from.view(code));
  };
  // A text that gets no row is not kept either.
  const auto moved_if = [&](bool room, std::uint32_t code, std::uint32_t other_code) {
    if (room || code == kNoString) return moved(code);
    const std::uint32_t known = to.find(from.view(code));
    return known == kNoString ? other_code : known;
  };
  for (const SummaryRow& row : other.rows()) {
    const SummaryKey key{moved(row.key.layer),
                         moved_if(!is_full(), row.key.name, other_name_),
                         moved_if(!is_full(), row.key.category, kNoString),
                         moved_if(!files_are_full(), row.key.file, other_file_),
                         row.key.pid,
                         moved_if(!is_full(), row.key.program, kNoString),
                         row.key.process,
                         moved_if(!files_are_full(), row.key.peer, kNoString)};
    rows_[find(key)].merge(row);
  }
}

void SummaryTable::clear() {
  rows_.clear();
  slots_.clear();
}

std::vector<Timeline::Cell>& Timeline::cells(std::uint32_t layer) {
  for (auto& [known, row] : layers_) {
    if (known == layer) return row;
  }
  return layers_.emplace_back(layer, std::vector<Cell>()).second;
}

// Twice as wide buckets, half as many. In place: a pair goes to where its first one was, or before.
void Timeline::widen() {
  shift_++;
  for (auto& [layer, row] : layers_) {
    for (std::size_t i = 0; i < row.size(); i++) {
      const Cell cell = row[i];
      if (i % 2 == 0) row[i / 2] = {};
      add_cell(row[i / 2], cell);
    }
    row.resize((row.size() + 1) / 2);
  }
}

std::size_t Timeline::reach(std::int64_t ts) {
  // What was before the run counts in its first bucket.
  if (ts < 0) return 0;
  while (ts >> shift_ >= static_cast<std::int64_t>(kBuckets)) widen();
  return static_cast<std::size_t>(ts >> shift_);
}

std::vector<Timeline::Cell>& Timeline::cells_until(std::uint32_t layer, std::size_t last) {
  std::vector<Cell>& row = cells(layer);
  if (row.size() <= last) row.resize(last + 1);
  return row;
}

void Timeline::spread(std::uint32_t layer, std::int64_t ts, std::int64_t dur, std::int64_t time) {
  const std::size_t last = reach(ts + dur);  // first, since it may widen
  const std::size_t first = reach(ts);
  std::vector<Cell>& row = cells_until(layer, last);
  const double share =
      dur > 0 ? static_cast<double>(time) / static_cast<double>(dur) : 0;  // 1 or -1 is exact
  std::int64_t left = time;
  for (std::size_t bucket = first; bucket < last; bucket++) {
    const std::int64_t from = std::max(ts, static_cast<std::int64_t>(bucket) << shift_);
    const std::int64_t to = static_cast<std::int64_t>(bucket + 1) << shift_;
    const auto part = static_cast<std::int64_t>(share * static_cast<double>(to - from));
    row[bucket].busy = plus(row[bucket].busy, part);
    left -= part;
  }
  // The rest, not another share: rounding must not change the sum.
  row[last].busy = plus(row[last].busy, left);
}

void Timeline::add(std::uint32_t layer, std::int64_t ts, std::int64_t dur,
                   const Inside::Inner& inner, std::int64_t bytes, std::int64_t calls) {
  const std::size_t last = reach(ts + dur);
  const std::size_t first = reach(ts);
  Cell& begin = cells_until(layer, last)[first];
  begin.calls = plus(begin.calls, calls);
  if (bytes != kNull) begin.bytes = plus(begin.bytes, bytes);
  std::int64_t inside = std::min(inner.time, dur);
  if (first == last) {
    begin.busy = plus(begin.busy, dur - inside);
    return;
  }
  // Over several buckets: all of it first, then the inner time is taken away where it was, and what
  // has no place evenly.
  spread(layer, ts, dur, dur);
  for (const Place& place : inner.places) {
    const std::int64_t time = std::min(place.time, inside);
    take(layer, place.ts, 0, time);
    inside -= time;
  }
  take(layer, ts, dur, inside);
}

void Timeline::add(const Row& row) {
  while (width() < row.width && shift_ < 62) widen();
  const std::size_t bucket = reach(row.ts);
  std::vector<Cell>& all = cells(row.layer);
  if (all.size() <= bucket) all.resize(bucket + 1);
  add_cell(all[bucket], row.cell);
}

void Timeline::add(const Timeline& other, const Strings& from, Strings& to) {
  for (const auto& [layer, cells] : other.layers_) {
    const std::uint32_t code = layer == kNoString ? kNoString : to.code(from.view(layer));
    for (std::size_t i = 0; i < cells.size(); i++) {
      if (cells[i].calls == 0 && cells[i].busy == 0) continue;
      add({static_cast<std::int64_t>(i) << other.shift_, other.width(), code, cells[i]});
    }
  }
}

namespace {

// Something inside an event may take more time than the event had in its bucket: the rest is of the
// buckets beside it, so that a layer's sum stays what it is.
void settle(std::vector<Timeline::Cell>& cells) {
  std::int64_t debt = 0;
  const auto pay = [&debt](Timeline::Cell& cell) {
    const std::int64_t busy = minus(cell.busy, debt);
    debt = busy < 0 ? -busy : 0;
    cell.busy = std::max<std::int64_t>(busy, 0);
  };
  for (Timeline::Cell& cell : cells) pay(cell);
  for (std::size_t i = cells.size(); i > 0 && debt > 0; i--) pay(cells[i - 1]);
}

}  // namespace

std::vector<Timeline::Row> Timeline::rows() const {
  std::vector<Row> rows;
  for (const auto& [layer, all] : layers_) {
    std::vector<Cell> cells = all;
    settle(cells);
    for (std::size_t i = 0; i < cells.size(); i++) {
      if (cells[i].calls == 0 && cells[i].busy == 0) continue;
      rows.push_back({static_cast<std::int64_t>(i) << shift_, width(), layer, cells[i]});
    }
  }
  return rows;
}

void Timeline::clear() {
  shift_ = kFirstShift;
  layers_.clear();
}

}  // namespace fathom::trace
