// SPDX-License-Identifier: MIT
// Resamples the timeline's cells, whose width differs between recordings, into equal bins by
// overlap.
#include "analysis/views/stretches.h"

#include <fmt/format.h>

namespace fathom::analysis {

// The last cell ends with the run.
std::string stretches_sql(const std::string& keys, std::int64_t most_bins) {
  return fmt::format(
      R"(SELECT {keys} layer, b, calls * (b = first)::BIGINT AS calls, bytes * (b = first)::BIGINT AS bytes,
                CASE WHEN first = last THEN busy ELSE busy * greatest(
                  least(stop, (b + 1) * wall / bins) - greatest(start, b * wall / bins), 0)
                  / (stop - start) END AS busy, "begin", wall, bins
         FROM (
           SELECT *, unnest(range(first, last + 1)) AS b FROM (
             SELECT *, greatest(least(start * bins // wall, bins - 1), 0) AS first,
                    greatest(least((stop - 1) * bins // wall, bins - 1), first) AS last FROM (
               SELECT {keys} layer, busy, calls, bytes, s.*, ts - s."begin" AS start,
                      greatest(least(ts + width - s."begin", s.wall), ts - s."begin" + 1) AS stop
               FROM timeline, (
                 SELECT "begin", greatest(wall, 1) AS wall, greatest(least(wall // greatest(
                          (SELECT max(width) FROM timeline), 1), {bins}), 1) AS bins
                 FROM totals) s))))",
      fmt::arg("keys", keys), fmt::arg("bins", most_bins));
}

}  // namespace fathom::analysis
