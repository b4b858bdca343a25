// SPDX-License-Identifier: MIT
// Stacks get a number from their content (FNV), so that recordings of several hosts can be read
// together without translating numbers.
#include "trace/recording/sample_batch.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "sql/columns.h"
#include "sql/parquet_writer.h"

namespace fathom::trace {
namespace {

constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325;
constexpr std::uint64_t kFnvPrime = 0x100000001b3;

void mix(std::uint64_t& hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  hash = (hash ^ 0xff) * kFnvPrime;  // no UTF-8 text holds this byte: "ab","c" is not "a","bc"
}

// NULL where the value is the lowest of its type.
template <class T>
struct Column {
  std::vector<T> values;
  std::vector<std::uint8_t> valid;

  void push(T value, T null) {
    values.push_back(value);
    valid.push_back(value == null ? 0 : 1);
  }
  [[nodiscard]] sql::ColumnData data() const {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      return {.int64s = values, .valid = valid};
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
      return {.int32s = values, .valid = valid};
    } else {
      return {.codes = values};
    }
  }
};

using Numbers = Column<std::int64_t>;
using SmallNumbers = Column<std::int32_t>;
using Codes = Column<std::uint32_t>;

}  // namespace

void SampleBatch::sort() {
  std::ranges::stable_sort(rows, [](const SampleRow& a, const SampleRow& b) {
    return std::tie(a.pid, a.tid, a.ts) < std::tie(b.pid, b.tid, b.ts);
  });
}

std::int64_t StackTable::stack(std::span<const Frame> frames, const Strings& strings) {
  if (frames.empty()) return kNull;
  std::uint64_t hash = kFnvBasis;
  for (const Frame& frame : frames) {
    mix(hash, strings.view(frame.function));
    mix(hash, strings.view(frame.module));
    mix(hash, strings.view(frame.file));
    mix(hash, std::to_string(frame.line));
  }
  const auto id = static_cast<std::int64_t>(hash >> 1);  // never negative: kinder to readers
  if (!known_.insert(id).second) return id;
  std::int32_t depth = 0;
  for (const Frame& frame : frames) rows_.push_back({id, depth++, frame});
  return id;
}

Status write_samples(const std::string& path, const SampleBatch& samples, const Strings& strings,
                     const std::string& host) {
  Numbers ts, weight, stack;
  SmallNumbers pid, tid, cpu;
  Codes hosts, event;
  const auto own = static_cast<std::uint32_t>(strings.size());
  std::vector<std::string_view> words(strings.views().begin(), strings.views().end());
  words.push_back(host);
  for (const SampleRow& row : samples.rows) {
    ts.push(row.ts, kNull);
    hosts.push(row.host != kNoString || host.empty() ? row.host : own, kNoString);
    pid.push(row.pid, kNull32);
    tid.push(row.tid, kNull32);
    cpu.push(row.cpu, kNull32);
    event.push(row.event, kNoString);
    weight.push(row.weight, kNull);
    stack.push(row.stack, kNull);
  }
  using enum sql::ColumnKind;
  const sql::ColumnDef columns[] = {
      {"ts", kInt64},  {"host", kDictionary, words},  {"pid", kInt32},    {"tid", kInt32},
      {"cpu", kInt32}, {"event", kDictionary, words}, {"weight", kInt64}, {"stack", kInt64}};
  const sql::ColumnData data[] = {ts.data(),  hosts.data(), pid.data(),    tid.data(),
                                  cpu.data(), event.data(), weight.data(), stack.data()};
  return sql::write_parquet(path, {.columns = columns, .data = data, .rows = samples.rows.size()});
}

Status write_frames(const std::string& path, const StackTable& stacks, const Strings& strings) {
  Numbers stack;
  SmallNumbers depth, line;
  Codes function, module, file;
  for (const StackTable::Row& row : stacks.rows_) {
    stack.push(row.stack, kNull);
    depth.push(row.depth, kNull32);
    function.push(row.frame.function, kNoString);
    module.push(row.frame.module, kNoString);
    file.push(row.frame.file, kNoString);
    line.push(row.frame.line, kNull32);
  }
  using enum sql::ColumnKind;
  const auto words = strings.views();
  const sql::ColumnDef columns[] = {{"stack", kInt64},
                                    {"depth", kInt32},
                                    {"function", kDictionary, words},
                                    {"module", kDictionary, words},
                                    {"file", kDictionary, words},
                                    {"line", kInt32}};
  const sql::ColumnData data[] = {stack.data(),  depth.data(), function.data(),
                                  module.data(), file.data(),  line.data()};
  return sql::write_parquet(path, {.columns = columns, .data = data, .rows = stacks.rows_.size()});
}

}  // namespace fathom::trace
