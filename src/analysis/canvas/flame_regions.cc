// SPDX-License-Identifier: MIT
// Flame graphs by what regions counted (--region-events). A count is an argument of its event,
// which the canvas does not have: the rows are read thread by thread, in the order of time.
#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "analysis/canvas/flame.h"
#include "analysis/canvas/flame_stacks.h"
#include "analysis/canvas/flame_stretches.h"
#include "analysis/canvas/flame_sums.h"
#include "analysis/sample_events.h"
#include "sql/chunk.h"
#include "sql/quote.h"

namespace fathom::analysis {
namespace {

constexpr std::string_view kPrefix = "region:";

enum Column : std::uint8_t { kThread, kTs, kDur, kDepth, kCount, kPid, kTid, kLayer, kName };

std::string rows_sql(std::string_view event) {
  return fmt::format(
      R"(SELECT hash(host, pid, tid) AS thread, ts, dur, CAST(depth AS BIGINT) AS depth, count,
                CAST(pid AS BIGINT), CAST(tid AS BIGINT), layer, name
         FROM (SELECT *, TRY_CAST(args[{}] AS BIGINT) AS count FROM events
               WHERE depth IS NOT NULL AND tid IS NOT NULL)
         WHERE count >= 0 ORDER BY thread, ts, depth, dur DESC)",
      sql::quote_literal(std::string(event)));
}

// `root_of` gives the node that the regions of a thread stand below.
template <class Tree, class RootOf>
Status add_regions(Store& store, const std::string& sql, FlameFrames& frames, Tree& tree,
                   RootOf root_of) {
  CallStacks<Tree> stacks(tree, CallWeight::kBytes, {-kWholeTime, kWholeTime});
  std::optional<std::int64_t> last;
  return store.stream_chunks(sql, [&](const sql::Chunk& chunk) -> Status {
    for (std::size_t row = 0; row < chunk.rows(); ++row) {
      if (last != chunk.int64s(kThread)[row]) {
        last = chunk.int64s(kThread)[row];
        stacks.begin(root_of(chunk, row));
      }
      const CanvasEvent region{.ts = chunk.int64s(kTs)[row],
                               .dur = chunk.int64s(kDur)[row],
                               .bytes = chunk.int64s(kCount)[row],
                               .depth = chunk.int64s(kDepth)[row]};
      const std::uint32_t frame = frames.number(chunk.text(kName, row).value_or("unknown"),
                                                chunk.text(kLayer, row).value_or("unknown"));
      stacks.add(region, frame, /*wanted=*/true, /*tells=*/true);
    }
    return {};
  });
}

std::string thread_words(const sql::Chunk& chunk, std::size_t row) {
  return fmt::format("pid {}, thread {}", chunk.int64(kPid, row).value_or(-1),
                     chunk.int64(kTid, row).value_or(-1));
}

}  // namespace

bool is_flame_of_regions(const std::string& weight) { return weight.starts_with(kPrefix); }

Result<Flame> flame_of_regions(Store& store, const FlameOptions& options) {
  FATHOM_TRY(check_order(options));
  const std::string event = options.weight.substr(kPrefix.size());
  const std::string unit = is_time_event(event) ? "ns" : event;
  const std::string sql = rows_sql(event);
  FlameFrames frames;
  FlameSums sums(frames);
  FATHOM_TRY(add_regions(store, sql, frames, sums,
                         [](const sql::Chunk&, std::size_t) { return FlameSums::kRoot; }));
  if (sums.is_empty())
    return Error{Code::kNotFound,
                 "no region in this part of the recording has a count of '" + event + "'",
                 "record with --region-events " + event + ", or choose the weight time"};
  if (!options.in_time) return finished_flame(shown_tree(sums, options), options, unit);
  FlameStretches stretches(frames, least_stretch(sums.total(), options));
  FATHOM_TRY(
      add_regions(store, sql, frames, stretches, [&](const sql::Chunk& chunk, std::size_t row) {
        return stretches.child(FlameStretches::kRoot, frames.number(thread_words(chunk, row), ""));
      }));
  return finished_flame(stretches.shown(), options, unit);
}

}  // namespace fathom::analysis
