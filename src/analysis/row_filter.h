// SPDX-License-Identifier: MIT
// What is left of a recording when somebody looks at a part of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::analysis {

// Empty lists and no bounds mean all.
struct RowFilter {
  std::vector<std::string> layers;
  std::vector<std::string> names;  // of events, counters, intervals, samples; * and ? as in a shell
  std::vector<std::int64_t> pids;
  std::vector<std::int64_t> tids = {};
  std::vector<std::string> hosts = {};
  std::optional<std::int64_t> from_ns, to_ns;  // what touches [from, to)
  std::optional<std::string> host = {};        // of one process: see --split
  bool without_process = false;                // only what belongs to no process
  std::string table = "events";                // of formats of tables
  std::string condition = {};                  // of events, in SQL; judged before it is used

  [[nodiscard]] bool any() const;
  [[nodiscard]] bool ends_before_it_begins() const { return from_ns && to_ns && *to_ns < *from_ns; }
};

// A view with the columns that filters look at; "" where it has none.
struct FilteredView {
  std::string_view name;
  std::string_view layer;
  std::string_view called;  // what `names` means
  std::string_view begin;
  std::string_view end;
};
[[nodiscard]] std::span<const FilteredView> filtered_views();
// kUsage for a view that cannot be exported as a table.
Result<FilteredView> find_filtered_view(std::string_view name);
// " WHERE …"
[[nodiscard]] std::string where_sql(const FilteredView& view, const RowFilter& filter);
// kUsage for a layer that does not exist.
Status check_layers(const std::vector<std::string>& layers);

}  // namespace fathom::analysis
