// SPDX-License-Identifier: MIT
// Batches as SQL tables: the columns of the contract, in its order, for Parquet files and for
// queries in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sql/columns.h"
#include "trace/decode/inodes.h"
#include "trace/rows/batch.h"
#include "trace/rows/coverage.h"
#include "trace/rows/samples.h"
#include "trace/rows/summary.h"

namespace fathom::trace {

// Table names; files are `<table>.parquet` or `<table>-<n>.parquet`.
inline constexpr char kEventsTable[] = "events";
inline constexpr char kCountersTable[] = "counters";
inline constexpr char kIntervalsTable[] = "intervals";
inline constexpr char kProcessesTable[] = "processes";
inline constexpr char kThreadsTable[] = "threads";
inline constexpr char kSummaryTable[] = "summary";
inline constexpr char kTimelineTable[] = "timeline";
inline constexpr char kCoverageTable[] = "coverage";
inline constexpr char kSamplesTable[] = "samples";
inline constexpr char kFramesTable[] = "frames";
// Those whose parts are summed up at the end of a recording.
inline constexpr const char* kSummedTables[] = {kTimelineTable, kCoverageTable, kSummaryTable};
inline constexpr char kInodesTable[] = "inodes";

// A batch dressed for sql::write_parquet and sql::register_table. Refers to the batch and the
// strings, which must stay.
class SqlBatch {
 public:
  // `host` fills column host where a row has none.
  static SqlBatch events(const EventBatch& batch, const Strings& strings, const std::string& host);
  static SqlBatch counters(const CounterBatch& batch, const Strings& strings,
                           const std::string& host);
  static SqlBatch intervals(const IntervalBatch& batch, const Strings& strings,
                            const std::string& host);
  static SqlBatch samples(const SampleBatch& batch, const Strings& strings,
                          const std::string& host);
  static SqlBatch frames(const FrameBatch& batch, const Strings& strings);
  static SqlBatch processes(const std::vector<ProcessRow>& rows);
  static SqlBatch threads(const std::vector<ThreadRow>& rows);
  static SqlBatch summary(const SummaryTable& table, const Strings& strings,
                          const std::string& host);
  static SqlBatch timeline(const Timeline& timeline, const Strings& strings,
                           const std::string& host);
  static SqlBatch coverage(const LayerCoverage& coverage, const Strings& strings,
                           const std::string& host);
  static SqlBatch inodes(const std::vector<InodeRow>& rows, const Strings& strings);

  SqlBatch(SqlBatch&&) noexcept;
  SqlBatch& operator=(SqlBatch&&) noexcept;
  ~SqlBatch();

  [[nodiscard]] const sql::Batch& batch() const;

 private:
  class Columns;
  explicit SqlBatch(std::unique_ptr<Columns> columns);
  std::unique_ptr<Columns> columns_;
};

}  // namespace fathom::trace
