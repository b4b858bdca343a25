// SPDX-License-Identifier: MIT
// Makes the views of a store out of opened recordings, as far as every question needs them. Those
// of report_views.h come behind them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sql/connection.h"
#include "trace/recording/recording.h"

namespace fathom::analysis {

struct ViewDef;

// What rules ask: the tables of the recordings, `layers`, `losses`, `run`, and the views of
// rule_views.h; without `events` where they are not needed and tails have only sums. Registers the
// tails' rows. Parquet files that cannot be opened go to their part's `damaged`.
struct ViewNeeds {
  trace::Need need = trace::Need::kEvents;
  std::function<Status()> bring_all;  // before rows are read: those of every table are here then
};
Status make_views(sql::Connection& connection, std::vector<trace::Part>& parts,
                  const std::vector<std::int64_t>& shifts, const ViewNeeds& needs);

Status create_report_view(sql::Connection& connection, const ViewDef& view);

}  // namespace fathom::analysis
