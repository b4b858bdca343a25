// SPDX-License-Identifier: MIT
// Several may have seen the same life, at times that differ by microseconds: the kernel's layers
// and the sampler. Lives of one number that overlap are one life; where a process became another
// program there are two, and the larger overlap tells them apart.
#include "trace/recording/seen_from_outside.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "trace/recording/processes.h"

namespace fathom::trace {
namespace {

bool is_sampled(const ProcessRow& row) { return !row.rung.empty(); }
bool is_sampled(const ThreadRow& row) { return row.ready != kNull; }

std::tuple<std::int64_t, std::int64_t> numbers(const ProcessRow& row) { return {row.pid, 0}; }
std::tuple<std::int64_t, std::int64_t> numbers(const ThreadRow& row) { return {row.pid, row.tid}; }

template <class Row>
std::int64_t overlap(const Row& a, const Row& b) {
  constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();
  const std::int64_t end = std::min(a.end == kNull ? kOpen : a.end, b.end == kNull ? kOpen : b.end);
  return end - std::max(a.start, b.start);
}

// The last word about each life, in order of numbers and start.
template <class Row>
auto last_words(const std::vector<Row>& seen, bool sampled) {
  std::map<std::pair<std::tuple<std::int64_t, std::int64_t>, std::int64_t>, Row> rows;
  for (const Row& row : seen) {
    if (is_sampled(row) == sampled) rows[{numbers(row), row.start}] = row;
  }
  return rows;
}

// By numbers: those among so many threads are found at once.
template <class Row>
std::multimap<std::tuple<std::int64_t, std::int64_t>, Row*> by_numbers(std::vector<Row>& rows) {
  std::multimap<std::tuple<std::int64_t, std::int64_t>, Row*> index;
  for (Row& row : rows) index.emplace(numbers(row), &row);
  return index;
}

void take_over(const ProcessRow& from, ProcessRow& to) { to.rung = from.rung; }
void take_over(const ThreadRow& from, ThreadRow& to) {
  to.start = from.start;
  if (from.end != kNull) to.end = from.end;
  to.ready = from.ready;
  if (to.name.empty()) to.name = from.name;
}

template <class Row>
void add_sampled(const std::vector<Row>& seen, const std::string& host, std::vector<Row>& rows) {
  const auto index = by_numbers(rows);
  std::vector<Row> unknown;
  for (const auto& [key, row] : last_words(seen, true)) {
    Row* same = nullptr;
    const auto [begin, end] = index.equal_range(numbers(row));
    for (auto at = begin; at != end; ++at) {
      if (overlap(*at->second, row) < 0) continue;
      if (same == nullptr || overlap(*same, row) < overlap(*at->second, row)) same = at->second;
    }
    if (same != nullptr) {
      take_over(row, *same);
    } else {
      unknown.push_back(row);
      unknown.back().host = host;
    }
  }
  rows.insert(rows.end(), unknown.begin(), unknown.end());
}

template <class Row>
void add_unsampled(const std::vector<Row>& seen, const std::string& host, std::vector<Row>& rows) {
  std::set<std::tuple<std::int64_t, std::int64_t>> known;
  for (const Row& row : rows) known.insert(numbers(row));
  for (auto& [key, row] : last_words(seen, false)) {
    if (known.contains(numbers(row))) continue;
    rows.push_back(row);
    rows.back().host = host;
  }
}

// An image that begins in the moment at which the one before it ended is what that one became.
void number_images(std::span<ProcessRow> rows) {
  std::vector<ProcessRow*> order;
  for (ProcessRow& row : rows) order.push_back(&row);
  std::ranges::sort(order, {},
                    [](const ProcessRow* row) { return std::tie(row->pid, row->start); });
  ProcessRow* before = nullptr;
  for (ProcessRow* row : order) {
    if (before != nullptr && before->pid == row->pid && before->end == row->start) {
      row->image = before->image + 1;
      if (before->start < before->end) before->end--;
    }
    before = row;
  }
}

}  // namespace

void add_seen_from_outside(const std::vector<ProcessRow>& seen, const std::string& host,
                           std::vector<ProcessRow>& rows) {
  const std::size_t told = rows.size();  // of themselves
  add_unsampled(seen, host, rows);
  add_sampled(seen, host, rows);
  number_images(std::span(rows).subspan(told));
}

void add_seen_from_outside(const std::vector<ThreadRow>& seen, const std::string& host,
                           std::vector<ThreadRow>& rows) {
  if (seen.empty()) return;
  add_unsampled(seen, host, rows);
  add_sampled(seen, host, rows);
  sort_threads(rows);
}

}  // namespace fathom::trace
