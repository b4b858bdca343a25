// SPDX-License-Identifier: MIT
// The filter options that report, export and others share, declared and checked in one place so
// that they mean the same everywhere.
#include "cli/filter_options.h"

#include <cmath>

#include "analysis/row_filter.h"
#include "base/text.h"

namespace fathom::cli {
namespace {

// Seconds since the start of the recording.
Result<render::ExportNumber> bound_of(const Parser& parser, const char* name, double seconds) {
  if (!parser.given(name)) return render::ExportNumber();
  constexpr double kMost = 9e9;
  if (!std::isfinite(seconds) || seconds < 0 || seconds > kMost) {
    return usage_error(std::string(name) + " is not a time", "give seconds since the start");
  }
  return render::ExportNumber(std::llround(seconds * 1e9));
}

}  // namespace

void declare_filters(Parser& parser, FilterOptions& options) {
  parser.option("--layers", options.layers, "LAYER,…", "only these layers");
  parser.option("--pid", options.pids, "PID,…", "only these processes");
  parser.option("--name", options.names, "NAME,…",
                "only events, counters and intervals with these names; * and ? are wildcards");
  parser.option("--from", options.from, "SECONDS",
                "only what ends at or after this time, in seconds since the start");
  parser.option("--to", options.to, "SECONDS",
                "only what begins before this time, in seconds since the start");
  parser.option(
      "--where", options.condition, "SQL",
      "only events that match this condition, e.g. \"bytes < 4096 AND file LIKE '/data/%'\"");
}

Result<analysis::RowFilter> filter_of(const Parser& parser, const FilterOptions& options) {
  analysis::RowFilter filter;
  FATHOM_TRY(analysis::check_layers(options.layers));
  filter.layers = options.layers;
  filter.names = options.names;
  filter.condition = options.condition;
  for (const std::string& text : options.pids) {
    const Result<std::int64_t> pid = parse_int(text);
    if (!pid)
      return usage_error("'" + escape_control(text) + "' is not a pid", "--pid takes numbers");
    filter.pids.push_back(*pid);
  }
  FATHOM_ASSIGN(filter.from_ns, bound_of(parser, "--from", options.from));
  FATHOM_ASSIGN(filter.to_ns, bound_of(parser, "--to", options.to));
  if (filter.ends_before_it_begins())
    return usage_error("--to is before --from", "give the earlier time as --from");
  return filter;
}

}  // namespace fathom::cli
