// SPDX-License-Identifier: MIT
// The rows of an open recording as exporters read them, with the filters of `fathom export`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/store.h"
#include "render/export/event_stream.h"

namespace fathom::cli {

// Of events and counters; empty lists and no bounds mean all.
struct RowFilter {
  std::vector<std::string> layers;
  std::vector<std::int64_t> pids;
  render::ExportNumber from_ns, to_ns;  // events that touch [from, to)
};

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

 private:
  [[nodiscard]] std::string where(bool with_layers, const std::string& begin,
                                  const std::string& end) const;

  analysis::Store* store_;
  RowFilter filter_;
};

}  // namespace fathom::cli
