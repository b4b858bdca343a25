// SPDX-License-Identifier: MIT
#include "trace/batch.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace fathom::trace {
namespace {

// A column that may be left out while every row is NULL.
template <class T>
void push_sparse(std::vector<T>& column, std::size_t rows_before, T value, T null) {
  if (value == null && column.empty()) return;
  column.resize(rows_before, null);
  column.push_back(value);
}

template <class T>
T sparse_at(const std::vector<T>& column, std::size_t at, T null) {
  return at < column.size() ? column[at] : null;
}

template <class T>
void permute(std::vector<T>& column, const std::vector<std::uint32_t>& order) {
  if (column.empty()) return;
  std::vector<T> sorted(column.size());
  for (std::size_t i = 0; i < order.size(); i++) sorted[i] = column[order[i]];
  column.swap(sorted);
}

Args permute_args(const Args& args, const std::vector<std::uint32_t>& order) {
  Args sorted;
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
  push_sparse(host, before, row.host, kNoString);
  args.end_row();
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
  row.host = sparse_at(host, at, kNoString);
  return row;
}

void EventBatch::clear() {
  const auto clear_all = [](auto&... columns) { (columns.clear(), ...); };
  clear_all(ts, dur, pid, tid, depth, fd, layer, name, category, file, error, entry, offset, size,
            bytes, ret, rank, device, stream, correlation, host, args);
}

void EventBatch::sort() {
  std::vector<std::uint32_t> order(rows());
  std::iota(order.begin(), order.end(), 0U);
  const auto before = [this](std::uint32_t a, std::uint32_t b) {
    return std::tie(pid[a], tid[a], ts[a], depth[a], a) <
           std::tie(pid[b], tid[b], ts[b], depth[b], b);
  };
  if (std::is_sorted(order.begin(), order.end(), before)) return;
  // Rows come thread by thread as a rule: runs of one thread are short of disorder and sort in cache.
  std::sort(order.begin(), order.end(), before);
  const auto permute_all = [&order](auto&... columns) { (permute(columns, order), ...); };
  permute_all(ts, dur, pid, tid, depth, fd, layer, name, category, file, error, entry, offset, size,
              bytes, ret);
  const auto permute_sparse = [this, &order](auto& column, auto null) {
    if (column.empty()) return;
    column.resize(rows(), null);
    permute(column, order);
  };
  permute_sparse(rank, kNull32);
  permute_sparse(device, kNull32);
  permute_sparse(stream, kNull);
  permute_sparse(correlation, kNull);
  permute_sparse(host, kNoString);
  if (args.entries() > 0) args = permute_args(args, order);
}

void CounterBatch::sort() {
  std::stable_sort(rows.begin(), rows.end(), [](const CounterRow& a, const CounterRow& b) {
    return std::tie(a.pid, a.name, a.ts) < std::tie(b.pid, b.name, b.ts);
  });
}

}  // namespace fathom::trace
