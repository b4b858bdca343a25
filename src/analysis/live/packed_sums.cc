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

constexpr char kCalls[] =
    "SELECT pid::BIGINT, layer, name, category, sum(calls)::BIGINT, "
    "coalesce(sum(bytes), 0)::BIGINT, sum(self)::BIGINT, coalesce(sum(self) FILTER (file IS NULL "
    "AND category IN ('read', 'write')), 0)::BIGINT, max(\"last\")::BIGINT FROM ";
constexpr char kFrames[] = "SELECT stack::BIGINT, \"function\", module FROM ";
constexpr char kCounters[] =
    "SELECT layer = 'app', name, unit, max(ts)::BIGINT, arg_max(\"value\", ts)::DOUBLE, "
    "count(*)::BIGINT FROM ";
constexpr char kOfNobody[] = " WHERE layer = 'app' OR pid IS NULL GROUP BY ALL";
constexpr char kSamples[] =
    "SELECT pid::BIGINT, event, stack::BIGINT, sum(weight)::BIGINT, "
    "sum(greatest(coalesce(ready, 0), 0))::BIGINT, max(ts)::BIGINT FROM ";

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

std::int32_t pid_of(const sql::Chunk& chunk, std::size_t row) {
  const std::optional<std::int64_t> pid = chunk.int64(0, row);
  return pid ? static_cast<std::int32_t>(*pid) : trace::kNull32;
}

// Sums that the recorder makes itself; the others come from the programs.
bool is_of_host(std::string_view layer) { return trace::is_kernel(layer) || layer == "user"; }

Status add_counters(sql::Connection& connection, const Files& files, LatestCounters& program,
                    LatestCounters& host) {
  if (files.empty()) return {};
  return connection.stream(kCounters + files.sql() + kOfNobody, [&](const Table& rows) -> Status {
    for (const std::vector<Value>& row : rows.rows) {
      const bool* const is_told = std::get_if<bool>(&row[0].data);
      const double* const value = std::get_if<double>(&row[4].data);
      LatestCounters& to = is_told != nullptr && *is_told ? program : host;
      to.add(
          text_of(row[1]),
          {.unit = text_of(row[2]), .ts = int_of(row[3]), .value = value != nullptr ? *value : 0},
          static_cast<std::uint64_t>(int_of(row[5])));
    }
    return {};
  });
}

}  // namespace

Status LiveSums::add_packed(const Directory& recording, std::span<const std::uint64_t> parts) {
  const Files summary(recording, trace::kSummaryTable, parts);
  const Files frames(recording, trace::kFramesTable, parts);
  const Files samples(recording, trace::kSamplesTable, parts);
  const Files counters(recording, trace::kCountersTable, parts);
  FATHOM_ASSIGN(const sql::Database database, sql::Database::open_memory({.threads = 1}));
  FATHOM_ASSIGN(sql::Connection connection, sql::Connection::open(database));
  const auto add_calls = [&](const sql::Chunk& chunk) -> Status {
    for (std::size_t row = 0; row < chunk.rows(); row++) {
      const std::string_view layer = text_of(chunk, 1, row);
      Tally& tally = is_of_host(layer) ? host_ : program_;
      tally.add(CallKey{pid_of(chunk, row), names_.code_or_null(layer),
                        names_.code_or_null(text_of(chunk, 2, row)),
                        names_.code_or_null(text_of(chunk, 3, row))},
                {number_of(chunk, 4, row), number_of(chunk, 5, row), number_of(chunk, 6, row),
                 number_of(chunk, 7, row)},
                names_);
    }
    return {};
  };
  FATHOM_TRY(analysis::add_counters(connection, counters, program_counters_, host_counters_));
  std::int64_t open_stack = 0;
  std::vector<std::pair<std::string, std::string>> open;
  const auto close_stack = [&] {
    std::vector<StackFrame> stack;
    for (const auto& [function, module] : open) stack.push_back({function, module});
    if (!stack.empty()) learn(open_stack, stack);
    open.clear();
  };
  const auto add_frames = [&](const sql::Chunk& chunk) -> Status {
    for (std::size_t row = 0; row < chunk.rows(); row++) {
      if (number_of(chunk, 0, row) != open_stack) close_stack();
      open_stack = number_of(chunk, 0, row);
      open.emplace_back(text_of(chunk, 1, row), text_of(chunk, 2, row));
    }
    return {};
  };
  const auto add_samples = [&](const sql::Chunk& chunk) -> Status {
    for (std::size_t row = 0; row < chunk.rows(); row++) {
      const std::int64_t weight = number_of(chunk, 3, row), ready = number_of(chunk, 4, row);
      add_sample({pid_of(chunk, row),
                  text_of(chunk, 1, row),
                  number_of(chunk, 2, row),
                  {weight, weight},
                  {ready, ready}});
      host_.reach(number_of(chunk, 5, row));
    }
    return {};
  };
  if (!summary.empty())
    FATHOM_TRY(connection.stream_chunks(kCalls + summary.sql() + " GROUP BY ALL", add_calls));
  if (!frames.empty())
    FATHOM_TRY(
        connection.stream_chunks(kFrames + frames.sql() + " ORDER BY stack, depth", add_frames));
  close_stack();
  if (samples.empty()) return {};
  return connection.stream_chunks(kSamples + samples.sql() + " GROUP BY ALL", add_samples);
}

}  // namespace fathom::analysis
