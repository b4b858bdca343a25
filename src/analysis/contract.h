// SPDX-License-Identifier: MIT
// The SQL contract (schema 3) as data: the views over recorded tables, with their columns in order.
// A view is made of what files and memory hold under these names; where there is nothing, it is
// empty and has its types all the same.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fathom::analysis {

enum class ColumnRole : std::uint8_t {
  kPlain,
  kTime,    // since the run's start: moved where several recordings are shown on one time line
  kAbsent,  // of the contract, but it does not apply here: NULL
  kSelf,    // NULL in the files where it is dur: most events hold no other
  kTimed,   // NULL where no call has a time: files hold 0 there
};

// A column that every recording shows, whatever its files have.
struct ColumnSpec {
  std::string_view name;
  std::string_view type;  // as DuckDB writes it
  ColumnRole role = ColumnRole::kPlain;
  int since = 1;  // the schema that it came with: NULL in recordings of an earlier one
};

struct ViewSpec {
  std::string_view name;  // of the view and of the recorded table
  std::span<const ColumnSpec> columns;
};

[[nodiscard]] std::span<const ViewSpec> recorded_views();

// The layers that exist, top down.
[[nodiscard]] std::span<const std::string_view> layer_names();

// SELECT of the view's columns from a table expression that holds those of `schema`, times moved by
// `shift` ns.
[[nodiscard]] std::string select_from(const ViewSpec& view, std::string_view from,
                                      std::int64_t shift, int schema);

// SELECT that gives no row of the right types.
[[nodiscard]] std::string select_nothing(const ViewSpec& view);

}  // namespace fathom::analysis
