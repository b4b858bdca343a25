// SPDX-License-Identifier: MIT
// The rows of an open recording as exporters read them, with the filters of `fathom export`.
// Nothing here keeps more than a slice of the events in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/row_filter.h"
#include "analysis/store.h"
#include "render/export/event_stream.h"

namespace fathom::convert {

using analysis::RowFilter;

// One thread, which has the store for itself meanwhile. Views in the structs that `use` gets are
// valid during that call. An Error from `use` ends the call and is returned, as one of the store
// is.
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
  std::string why_not_sampled() override;
  Status table(const std::function<Status(const Table&)>& use) override;
  Status write_parquet(const std::string& path) override;

 private:
  using Categories = std::map<std::pair<std::string, std::string>, std::string>;  // by layer, name
  Result<Categories> categories();
  [[nodiscard]] std::string where(std::string_view view) const;
  [[nodiscard]] Result<std::string> table_sql() const;

  analysis::Store* store_;
  RowFilter filter_;
};

// Host and pid.
using Processes = std::vector<std::pair<std::string, std::int64_t>>;
// Every process that the filter leaves something of, or an event.
Result<Processes> processes_of(analysis::Store& store, const RowFilter& filter);
Result<Processes> processes_with_events(analysis::Store& store, const RowFilter& filter);
// Whether something belongs to no process: counters of the machine.
Result<bool> has_rows_without_process(analysis::Store& store, const RowFilter& filter);

}  // namespace fathom::convert
