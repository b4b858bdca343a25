// SPDX-License-Identifier: MIT
// Columns that are NULL throughout take no memory, and sorting expects nearly sorted rows: events
// are recorded when they end, so each only has to move before what lies inside it.
#include "trace/rows/batch.h"

#include <algorithm>
#include <tuple>

namespace fathom::trace {
namespace {

// A column that may be left out while every row is NULL.
template <class T>
void push_sparse(Column<T>& column, std::size_t rows_before, T value, T null) {
  if (value == null && column.empty()) return;
  column.resize(rows_before, null);
  column.push_back(value);
}

template <class T>
T sparse_at(const Column<T>& column, std::size_t at, T null) {
  return at < column.size() ? column[at] : null;
}

// Puts columns into another order, one after the other through the same spare memory: fresh pages
// cost more than the copy.
class Permuter {
 public:
  explicit Permuter(const Column<std::uint32_t>& order) : order_(order) {}

  template <class T>
  void apply(Column<T>& column) {
    auto& sorted = std::get<Column<T>>(spare_);
    sorted.resize(order_.size());
    for (std::size_t i = 0; i < order_.size(); i++) sorted[i] = column[order_[i]];
    column.swap(sorted);
  }
  template <class T>
  void apply_sparse(Column<T>& column, T null) {
    if (column.empty()) return;
    column.resize(order_.size(), null);
    apply(column);
  }

 private:
  const Column<std::uint32_t>& order_;
  std::tuple<Column<std::int64_t>, Column<std::int32_t>, Column<std::uint32_t>> spare_;
};

struct TimeKey {
  std::int64_t ts;
  std::int32_t depth;
  std::uint32_t row;
};

bool comes_before(const TimeKey& a, const TimeKey& b) {
  return std::tie(a.ts, a.depth, a.row) < std::tie(b.ts, b.depth, b.row);
}

// Events are recorded when they end, so each stands behind what happened inside it and has to go
// before that: insertion costs as many steps as events are deep on average. Whatever is in less
// order than that is left to a sort that does not mind.
void sort_keys(Column<TimeKey>& keys) {
  constexpr std::size_t kStepsPerKey = 16;
  std::size_t steps = keys.size() * kStepsPerKey;
  for (std::size_t next = 1; next < keys.size(); next++) {
    const TimeKey key = keys[next];
    std::size_t to = next;
    for (; to > 0 && comes_before(key, keys[to - 1]) && steps > 0; to--, steps--)
      keys[to] = keys[to - 1];
    keys[to] = key;
    if (steps == 0) {
      std::sort(keys.begin(), keys.end(), comes_before);
      return;
    }
  }
}

Args permute_args(const Args& args, const Column<std::uint32_t>& order) {
  Args sorted;
  sorted.reserve(order.size());
  for (const std::uint32_t row : order) {
    for (std::size_t entry = args.begin(row); entry < args.end(row); entry++) {
      sorted.add(args.key(entry), args.value(entry));
    }
    sorted.end_row();
  }
  return sorted;
}

}  // namespace

void Args::add(std::uint32_t key, std::string_view value) {
  keys_.push_back(key);
  text_.append(value);
  text_ends_.push_back(text_.size());
}

void Args::drop_open() {
  keys_.resize(row_ends_.empty() ? 0 : row_ends_.back());
  text_ends_.resize(keys_.size());
  text_.resize(text_ends_.empty() ? 0 : text_ends_.back());
}

void Args::clear() {
  row_ends_.clear();
  keys_.clear();
  text_ends_.clear();
  text_.clear();
}

void EventBatch::push(const EventRow& row) {
  const std::size_t before = rows();
  ts.push_back(row.ts);
  dur.push_back(row.dur);
  pid.push_back(row.pid);
  tid.push_back(row.tid);
  depth.push_back(row.depth);
  fd.push_back(row.fd);
  layer.push_back(row.layer);
  name.push_back(row.name);
  category.push_back(row.category);
  file.push_back(row.file);
  error.push_back(row.error);
  entry.push_back(row.entry);
  offset.push_back(row.offset);
  size.push_back(row.size);
  bytes.push_back(row.bytes);
  ret.push_back(row.ret);
  push_sparse(rank, before, row.rank, kNull32);
  push_sparse(device, before, row.device, kNull32);
  push_sparse(stream, before, row.stream, kNull);
  push_sparse(correlation, before, row.correlation, kNull);
  push_sparse(self, before, row.self, kNull);
  push_sparse(host, before, row.host, kNoString);
  push_sparse(program, before, row.program, kNoString);
  args.end_row();
}

void EventBatch::append(const EventBatch& other) {
  for (std::size_t at = 0; at < other.rows(); at++) {
    for (std::size_t arg = other.args.begin(at); arg < other.args.end(at); arg++)
      args.add(other.args.key(arg), other.args.value(arg));
    push(other.row(at));
  }
}

EventRow EventBatch::row(std::size_t at) const {
  EventRow row;
  row.ts = ts[at];
  row.dur = dur[at];
  row.pid = pid[at];
  row.tid = tid[at];
  row.depth = depth[at];
  row.fd = fd[at];
  row.layer = layer[at];
  row.name = name[at];
  row.category = category[at];
  row.file = file[at];
  row.error = error[at];
  row.entry = entry[at];
  row.offset = offset[at];
  row.size = size[at];
  row.bytes = bytes[at];
  row.ret = ret[at];
  row.rank = sparse_at(rank, at, kNull32);
  row.device = sparse_at(device, at, kNull32);
  row.stream = sparse_at(stream, at, kNull);
  row.correlation = sparse_at(correlation, at, kNull);
  row.self = sparse_at(self, at, kNull);
  row.host = sparse_at(host, at, kNoString);
  row.program = sparse_at(program, at, kNoString);
  return row;
}

void EventBatch::clear() {
  const auto clear_all = [](auto&... columns) { (columns.clear(), ...); };
  clear_all(ts, dur, pid, tid, depth, fd, layer, name, category, file, error, entry, offset, size,
            bytes, ret, rank, device, stream, correlation, self, host, program, args);
}

void EventBatch::reserve(std::size_t count) {
  const auto reserve_all = [count](auto&... columns) { (columns.reserve(count), ...); };
  reserve_all(ts, dur, pid, tid, depth, fd, layer, name, category, file, error, entry, offset, size,
              bytes, ret, args);
}

bool EventBatch::is_in_order() const {
  const auto key = [this](std::size_t row) {
    return std::tie(pid[row], tid[row], ts[row], depth[row]);
  };
  for (std::size_t row = 1; row < rows(); row++) {
    if (key(row) < key(row - 1)) return false;
  }
  return true;
}

// Rows come thread by thread as a rule, so runs of one thread are put in order first, and the
// rows of a thread then: keys of 16 bytes that sort in cache.
Column<std::uint32_t> EventBatch::time_order() const {
  struct ThreadRun {
    std::uint32_t begin, end;
  };
  std::vector<ThreadRun> runs;
  for (std::uint32_t row = 0; row < rows(); row++) {
    const bool same = row > 0 && pid[row] == pid[row - 1] && tid[row] == tid[row - 1];
    if (!same) runs.push_back({row, row});
    runs.back().end = row + 1;
  }
  const auto thread_before = [this](const ThreadRun& a, const ThreadRun& b) {
    return std::tie(pid[a.begin], tid[a.begin]) < std::tie(pid[b.begin], tid[b.begin]);
  };
  std::stable_sort(runs.begin(), runs.end(), thread_before);
  Column<std::uint32_t> order;
  order.reserve(rows());
  Column<TimeKey> keys;
  for (std::size_t at = 0; at < runs.size(); at++) {
    for (std::uint32_t row = runs[at].begin; row < runs[at].end; row++)
      keys.push_back({ts[row], depth[row], row});
    if (at + 1 < runs.size() && !thread_before(runs[at], runs[at + 1])) continue;
    sort_keys(keys);
    for (const TimeKey& key : keys) order.push_back(key.row);
    keys.clear();
  }
  return order;
}

void EventBatch::sort() {
  if (is_in_order()) return;
  const Column<std::uint32_t> order = time_order();
  Permuter permuter(order);
  const auto apply = [&permuter](auto&... columns) { (permuter.apply(columns), ...); };
  apply(ts, dur, offset, size, bytes, ret, pid, tid, depth, fd, layer, name, category, file, error,
        entry);
  permuter.apply_sparse(rank, kNull32);
  permuter.apply_sparse(device, kNull32);
  permuter.apply_sparse(stream, kNull);
  permuter.apply_sparse(correlation, kNull);
  permuter.apply_sparse(self, kNull);
  permuter.apply_sparse(host, kNoString);
  permuter.apply_sparse(program, kNoString);
  if (args.entries() > 0) args = permute_args(args, order);
}

void CounterBatch::sort() {
  std::stable_sort(rows.begin(), rows.end(), [](const CounterRow& a, const CounterRow& b) {
    return std::tie(a.pid, a.name, a.ts) < std::tie(b.pid, b.name, b.ts);
  });
}

}  // namespace fathom::trace
