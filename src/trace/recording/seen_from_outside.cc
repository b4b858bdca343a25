// SPDX-License-Identifier: MIT
// Several may have seen the same life, at times that differ by microseconds: the kernel's layers
// and the sampler. Lives of one number that overlap are one life; where a process became another
// program there are two, and their order tells them apart.
#include "trace/recording/seen_from_outside.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "trace/recording/ordered_pairs.h"
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

// In order of numbers and start.
template <class Row>
std::vector<Row*> in_order(std::vector<Row>& rows) {
  std::vector<Row*> order;
  for (Row& row : rows) order.push_back(&row);
  std::ranges::stable_sort(order, {},
                           [](const Row* row) { return std::tuple(numbers(*row), row->start); });
  return order;
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

// Lives that were sampled (left), and those that were told of (right) and may be the same.
template <class Row>
std::vector<Candidate> candidates_of(const std::vector<Row>& sampled,
                                     const std::vector<Row*>& told) {
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    const auto own = numbers(sampled[i]);
    auto at = std::ranges::lower_bound(told, own, {}, [](const Row* row) { return numbers(*row); });
    for (; at != told.end() && numbers(**at) == own; ++at) {
      const std::int64_t common = overlap(**at, sampled[i]);
      if (common >= -slack(sampled[i]))
        candidates.push_back({i, static_cast<std::size_t>(at - told.begin()), common});
    }
  }
  return candidates;
}

// A program tells that it becomes another one when it asks for that, the sampler when it is done,
// which may be long after. So what was sampled of the first program may overlap more with what is
// told of the second than that one's own samples do: the order of lives tells who is who.
template <class Row>
void add_sampled(const std::vector<Row>& seen, const std::string& host, std::vector<Row>& rows) {
  std::vector<Row> sampled;
  for (auto& [key, row] : last_words(seen, true)) sampled.push_back(row);
  const std::vector<Row*> told = in_order(rows);
  std::vector<Candidate> candidates = candidates_of(sampled, told);
  std::vector<bool> is_known(sampled.size());
  const auto pair_up = [&](const Candidate& pair) {
    if (is_known[pair.left]) return;
    take_over(sampled[pair.left], *told[pair.right]);
    is_known[pair.left] = true;
  };
  std::ranges::for_each(ordered_pairs(candidates), pair_up);
  if (shares_a_row(Row())) {
    std::ranges::stable_sort(candidates, std::greater{}, &Candidate::weight);
    std::ranges::for_each(candidates, pair_up);
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
