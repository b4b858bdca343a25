// SPDX-License-Identifier: MIT
// Several may have seen the same life, at times that differ by microseconds: the kernel's layers
// and the sampler. Lives of one number that overlap are one life; where a process became another
// program there are two, and the larger overlap tells them apart.
#include "trace/recording/seen_from_outside.h"

#include <algorithm>
#include <functional>
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

// Of a process that was sampled as two programs and told of one, there is one row. The lives of a
// thread all count: its stretches on and off the CPU add up to them.
constexpr bool shares_a_row(const ProcessRow& /*row*/) { return true; }
constexpr bool shares_a_row(const ThreadRow& /*row*/) { return false; }

// How far apart both may be and still be one: on a busy machine a program tells of itself long
// after it was made. No number is given away again that soon.
constexpr std::int64_t slack(const ProcessRow& /*row*/) { return 100'000'000; }
constexpr std::int64_t slack(const ThreadRow& /*row*/) { return 0; }

// A life that was sampled, and one that was told of and may be the same.
template <class Row>
struct Match {
  std::int64_t overlap;
  std::size_t sampled;
  Row* told;
};

template <class Row>
std::vector<Match<Row>> matches_of(const std::vector<Row>& sampled, std::vector<Row>& rows) {
  const auto index = by_numbers(rows);
  std::vector<Match<Row>> matches;
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    const auto [begin, end] = index.equal_range(numbers(sampled[i]));
    for (auto at = begin; at != end; ++at) {
      const std::int64_t common = overlap(*at->second, sampled[i]);
      if (common >= -slack(sampled[i])) matches.push_back({common, i, at->second});
    }
  }
  std::ranges::stable_sort(matches, std::greater{}, &Match<Row>::overlap);
  return matches;
}

// The longest overlaps find each other first, and then have no other partner: a program tells that
// it becomes another one when it asks for that, the sampler when it is done, which may be long
// after. So what was sampled as the first program may overlap more with what is told of the second.
template <class Row>
void add_sampled(const std::vector<Row>& seen, const std::string& host, std::vector<Row>& rows) {
  std::vector<Row> sampled;
  for (auto& [key, row] : last_words(seen, true)) sampled.push_back(row);
  const std::vector<Match<Row>> matches = matches_of(sampled, rows);
  std::set<const Row*> taken;
  std::vector<bool> is_known(sampled.size());
  for (const bool shares : {false, true}) {
    for (const Match<Row>& match : matches) {
      const Row& row = sampled[match.sampled];
      if (is_known[match.sampled] || (shares && !shares_a_row(row))) continue;
      if (!taken.insert(match.told).second && !shares) continue;
      take_over(row, *match.told);
      is_known[match.sampled] = true;
    }
  }
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    if (is_known[i]) continue;
    rows.push_back(sampled[i]);
    rows.back().host = host;
  }
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
