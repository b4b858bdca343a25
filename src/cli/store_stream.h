// SPDX-License-Identifier: MIT
// The rows of an open recording as exporters read them, with the filters of `fathom export`.
// Nothing here keeps more than a slice of the events in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/store.h"
#include "render/export/event_stream.h"

namespace fathom::cli {

// Empty lists and no bounds mean all.
struct RowFilter {
  std::vector<std::string> layers;
  std::vector<std::string> names;  // of events, counters, intervals, samples; * and ? as in a shell
  std::vector<std::int64_t> pids;
  render::ExportNumber from_ns, to_ns;   // what touches [from, to)
  std::optional<std::string> host = {};  // of one process: see --split
  bool without_process = false;          // only what belongs to no process
  std::string table = "events";          // of formats of tables
  std::string condition = {};            // of events, in SQL; judged before it is used

  [[nodiscard]] bool any() const;
};

// A view with the columns that filters look at; "" where it has none.
struct FilteredView {
  std::string_view name;
  std::string_view layer;
  std::string_view called;  // what `names` means
  std::string_view begin;
  std::string_view end;
};
// kUsage for a view that cannot be exported as a table.
Result<FilteredView> find_filtered_view(std::string_view name);
// " WHERE …"
[[nodiscard]] std::string where_sql(const FilteredView& view, const RowFilter& filter);

class StoreStream : public render::EventStream {
 public:
  // The store must outlive this.
  StoreStream(analysis::Store& store, RowFilter filter);

  [[nodiscard]] std::int64_t start_realtime_ns() const override;
  Status processes(const std::function<Status(const render::ExportProcess&)>& use) override;
  Status threads(const std::function<Status(const render::ExportThread&)>& use) override;
  Status events(render::EventOrder order,
                const std::function<Status(const render::ExportEvent&)>& use) override;
  Status counters(const std::function<Status(const render::ExportCounter&)>& use) override;
  Status intervals(render::IntervalDetail detail,
                   const std::function<Status(const render::ExportInterval&)>& use) override;
  Status samples(const std::function<Status(const render::ExportSample&)>& use) override;
  Status table(const std::function<Status(const Table&)>& use) override;
  Status write_parquet(const std::string& path) override;
  Result<render::ExportReport> report() override;

 private:
  [[nodiscard]] std::string where(std::string_view view) const;

  analysis::Store* store_;
  RowFilter filter_;
};

// Host and pid of every process that the filter leaves something of.
Result<std::vector<std::pair<std::string, std::int64_t>>> processes_of(analysis::Store& store,
                                                                       const RowFilter& filter);
// Whether something belongs to no process: counters of the machine.
Result<bool> has_rows_without_process(analysis::Store& store, const RowFilter& filter);

}  // namespace fathom::cli
