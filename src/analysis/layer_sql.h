// SPDX-License-Identifier: MIT
// Queries that name kinds of layers, not layers: which ones are meant stands in
// trace/rows/layers.h alone.
#pragma once

#include <string>
#include <string_view>

#include "trace/rows/layers.h"

namespace fathom::analysis {

// The query with these words replaced, where they stand by themselves:
//   @io, @code, @own, @kernel, @device, @beside   lists, for `layer IN @io`; @own is @code and @io
//   @undevice            a condition: the layer is no device's, or there is none
//   @in_calls            a sum over rows of `summary`: the time that threads were in calls. Of
//                        layers that lie inside each other the outermost counts
//   @outermost           the same, or the sum of layers whose time is not that of threads
//   @summary             the table `summary` with columns `once` and `once_in_file`, for sums of
//                        calls and bytes of processes and of files that have each call once
// Rules may use them too (docs/rules.md). The result depends on the text alone: callers with a
// constant text keep it in a static, so that it is made once.
[[nodiscard]] std::string layer_sql(std::string_view query);

// What is no file, a pipe, has a name in the kernel's layers alone.
inline constexpr std::string_view kNamedFile = "CASE WHEN file LIKE '/%' THEN file END";

// Whether a row of `summary` tells of calls that no layer above it has told of. Layers are compared
// by process (the columns `who`), file and category.
[[nodiscard]] std::string once_sql(std::string_view who, std::string_view file = kNamedFile);

}  // namespace fathom::analysis
