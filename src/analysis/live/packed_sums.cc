// SPDX-License-Identifier: MIT
// The part of LiveSums that reads what was packed: when the first look comes late, and where logs
// came and went between two looks. Only here a database is needed.
#include <algorithm>
#include <optional>

#include "analysis/live/live_sums.h"
#include "base/cell.h"
#include "sql/connection.h"
#include "sql/database.h"
#include "sql/quote.h"
#include "trace/recording/parquet_file.h"
#include "trace/recording/parquet_tables.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {
namespace {

// Each statement is followed by the columns that it selects, in its order.
constexpr char kCalls[] =
    "SELECT pid::BIGINT, layer, name, category, sum(calls)::BIGINT, "
    "coalesce(sum(bytes), 0)::BIGINT, sum(self)::BIGINT, coalesce(sum(self) FILTER (file IS NULL "
    "AND category IN ('read', 'write')), 0)::BIGINT, max(\"last\")::BIGINT FROM ";
struct CallColumn {
  enum : std::size_t { kPid, kLayer, kName, kCategory, kCount, kBytes, kSelf, kBeyond };
};

// A stack is a row for each of its frames: in order of stacks, from the outermost frame.
constexpr char kFrames[] = "SELECT stack::BIGINT, \"function\", module FROM ";
struct FrameColumn {
  enum : std::size_t { kStack, kFunction, kModule };
};

constexpr char kCounters[] =
    "SELECT layer = 'app', name, unit, max(ts)::BIGINT, arg_max(\"value\", ts)::DOUBLE, "
    "count(*)::BIGINT FROM ";
constexpr char kOfNobody[] = " WHERE layer = 'app' OR pid IS NULL GROUP BY ALL";
struct CounterColumn {
  enum : std::size_t { kByProgram, kName, kUnit, kTime, kValue, kCount };
};

constexpr char kSamples[] =
    "SELECT pid::BIGINT, event, stack::BIGINT, sum(weight)::BIGINT, "
    "sum(greatest(coalesce(ready, 0), 0))::BIGINT, max(ts)::BIGINT FROM ";
struct SampleColumn {
  enum : std::size_t { kPid, kEvent, kStack, kWeight, kReady, kLast };
};

// Files of a table that are sound; they stay open while they are asked.
class Files {
 public:
  Files(const Directory& recording, const char* table, std::span<const std::uint64_t> parts) {
    for (const std::uint64_t part : parts) {
      const std::string name = trace::parquet_name(table, part);
      Result<File> file = recording.read(name);
      if (!file || !trace::parquet_damage(*file).empty()) continue;
      Result<trace::DataFile> held = trace::hold(std::move(file).value(), recording, name);
      if (!held) continue;
      held_.push_back(std::move(held).value());
      sources_.push_back(held_.back().source);
    }
  }
  [[nodiscard]] bool empty() const { return sources_.empty(); }
  [[nodiscard]] std::string sql() const {
    return "read_parquet(" + sql::quote_list(sources_) + ", union_by_name = true)";
  }

 private:
  std::vector<trace::DataFile> held_;
  std::vector<std::string> sources_;
};

std::string_view text_of(const sql::Chunk& chunk, std::size_t column, std::size_t row) {
  return chunk.text(column, row).value_or(std::string_view());
}

std::int64_t number_of(const sql::Chunk& chunk, std::size_t column, std::size_t row) {
  return chunk.int64(column, row).value_or(0);
}

std::int32_t pid_of(const sql::Chunk& chunk, std::size_t column, std::size_t row) {
  const std::optional<std::int64_t> pid = chunk.int64(column, row);
  return pid ? static_cast<std::int32_t>(*pid) : trace::kNull32;
}

// Sums that the recorder makes itself; the others come from the programs.
bool is_of_host(std::string_view layer) { return trace::is_kernel(layer) || layer == "user"; }

Status add_counters(sql::Connection& connection, const Files& files, LatestCounters& program,
                    LatestCounters& host) {
  if (files.empty()) return {};
  return connection.stream(kCounters + files.sql() + kOfNobody, [&](const Table& rows) -> Status {
    for (const std::vector<Value>& row : rows.rows) {
      const bool* const by_program = std::get_if<bool>(&row[CounterColumn::kByProgram].data);
      const double* const value = std::get_if<double>(&row[CounterColumn::kValue].data);
      LatestCounters& to = by_program != nullptr && *by_program ? program : host;
      to.add(text_of(row[CounterColumn::kName]),
             {.unit = text_of(row[CounterColumn::kUnit]),
              .ts = int_of(row[CounterColumn::kTime]),
              .value = value != nullptr ? *value : 0},
             static_cast<std::uint64_t>(int_of(row[CounterColumn::kCount])));
    }
    return {};
  });
}

}  // namespace

Status LiveSums::add_packed_calls(sql::Connection& connection, const std::string& from) {
  const auto add = [this](const sql::Chunk& chunk) -> Status {
    for (std::size_t row = 0; row < chunk.rows(); row++) {
      const std::string_view layer = text_of(chunk, CallColumn::kLayer, row);
      Tally& tally = is_of_host(layer) ? host_ : program_;
      tally.add(
          CallKey{.pid = pid_of(chunk, CallColumn::kPid, row),
                  .layer = names_.code_or_null(layer),
                  .name = names_.code_or_null(text_of(chunk, CallColumn::kName, row)),
                  .category = names_.code_or_null(text_of(chunk, CallColumn::kCategory, row))},
          CallSum{.calls = number_of(chunk, CallColumn::kCount, row),
                  .bytes = number_of(chunk, CallColumn::kBytes, row),
                  .self = number_of(chunk, CallColumn::kSelf, row),
                  .beyond = number_of(chunk, CallColumn::kBeyond, row)},
          names_);
    }
    return {};
  };
  return connection.stream_chunks(kCalls + from + " GROUP BY ALL", add);
}

// A stack is learned when the next one begins, since it may go on in the next chunk.
Status LiveSums::learn_packed_stacks(sql::Connection& connection, const std::string& from) {
  std::int64_t stack = 0;
  std::vector<std::pair<std::string, std::string>> frames;  // function, module
  const auto learn_stack = [&] {
    std::vector<StackFrame> seen;
    for (const auto& [function, module] : frames) seen.push_back({function, module});
    if (!seen.empty()) learn(stack, seen);
    frames.clear();
  };
  const auto add = [&](const sql::Chunk& chunk) -> Status {
    for (std::size_t row = 0; row < chunk.rows(); row++) {
      const std::int64_t next = number_of(chunk, FrameColumn::kStack, row);
      if (next != stack) learn_stack();
      stack = next;
      frames.emplace_back(text_of(chunk, FrameColumn::kFunction, row),
                          text_of(chunk, FrameColumn::kModule, row));
    }
    return {};
  };
  FATHOM_TRY(connection.stream_chunks(kFrames + from + " ORDER BY stack, depth", add));
  learn_stack();
  return {};
}

Status LiveSums::add_packed_samples(sql::Connection& connection, const std::string& from) {
  const auto add = [this](const sql::Chunk& chunk) -> Status {
    for (std::size_t row = 0; row < chunk.rows(); row++) {
      const std::int64_t weight = number_of(chunk, SampleColumn::kWeight, row);
      const std::int64_t ready = number_of(chunk, SampleColumn::kReady, row);
      add_sample({.pid = pid_of(chunk, SampleColumn::kPid, row),
                  .event = text_of(chunk, SampleColumn::kEvent, row),
                  .stack = number_of(chunk, SampleColumn::kStack, row),
                  .weight = {weight, weight},
                  .ready = {ready, ready}});
      host_.reach(number_of(chunk, SampleColumn::kLast, row));
    }
    return {};
  };
  return connection.stream_chunks(kSamples + from + " GROUP BY ALL", add);
}

// Stacks before samples: a sample counts under the words that its stack has by then.
Status LiveSums::add_packed(const Directory& recording, std::span<const std::uint64_t> parts) {
  const Files summary(recording, trace::kSummaryTable, parts);
  const Files frames(recording, trace::kFramesTable, parts);
  const Files samples(recording, trace::kSamplesTable, parts);
  const Files counters(recording, trace::kCountersTable, parts);
  FATHOM_ASSIGN(const sql::Database database, sql::Database::open_memory({.threads = 1}));
  FATHOM_ASSIGN(sql::Connection connection, sql::Connection::open(database));
  FATHOM_TRY(analysis::add_counters(connection, counters, program_counters_, host_counters_));
  if (!summary.empty()) FATHOM_TRY(add_packed_calls(connection, summary.sql()));
  if (!frames.empty()) FATHOM_TRY(learn_packed_stacks(connection, frames.sql()));
  return samples.empty() ? Status() : add_packed_samples(connection, samples.sql());
}

}  // namespace fathom::analysis
