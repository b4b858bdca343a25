// SPDX-License-Identifier: MIT
// Calls come from the canvas, track by track, in the order of time: what is open tells who called.
// Samples have their stacks with them.
#include "analysis/canvas/flame.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/canvas/flame_sums.h"
#include "analysis/sample_events.h"
#include "analysis/stack_shapes.h"
#include "analysis/views/sampled_event.h"
#include "base/cell.h"
#include "base/sum.h"
#include "sql/quote.h"

namespace fathom::analysis {
namespace {

constexpr std::int64_t kEventsOfTurn = 1 << 18;

enum class CallWeight : std::uint8_t { kTime, kBytes, kCalls };

// What an event has for itself: all of it, less what the events inside it have.
class CallStacks {
 public:
  CallStacks(FlameSums& sums, CallWeight weight, const Window& window)
      : sums_(sums), weight_(weight), window_(window) {}

  void begin_track() { open_.clear(); }
  void add(const CanvasEvent& event, std::uint32_t frame, bool wanted) {
    const std::int64_t begin = std::max(event.ts, window_.from);
    const std::int64_t end = std::min(event.ts + event.dur, window_.to);
    while (!open_.empty() && (open_.back().depth >= event.depth || open_.back().end < end))
      open_.pop_back();
    const std::int64_t amount = amount_of(event, end - begin);
    const std::uint32_t parent = open_.empty() ? StackTree::kRoot : open_.back().node;
    if (!open_.empty() && open_.back().wanted && weight_ != CallWeight::kCalls)
      take(open_.back(), amount);
    if (!wanted) {
      open_.push_back({event.depth, end, parent, 0, false});
      return;
    }
    const std::uint32_t node = sums_.child(parent, frame);
    FlameSums::Sum& sum = sums_.at(node);
    add_to(sum.self, amount);
    sum.calls++;
    sum.start = std::min(sum.start, event.ts);
    open_.push_back({event.depth, end, node, amount, true});
  }

 private:
  struct Open {
    std::int64_t depth, end;
    std::uint32_t node;
    std::int64_t left;  // of its own amount
    bool wanted;
  };
  [[nodiscard]] std::int64_t amount_of(const CanvasEvent& event, std::int64_t time) const {
    if (weight_ == CallWeight::kTime) return time;
    return weight_ == CallWeight::kBytes ? event.bytes : 1;
  }
  // A call cannot have less than nothing: a read() inside may move more than was asked for.
  void take(Open& open, std::int64_t amount) {
    amount = std::min(amount, open.left);
    open.left -= amount;
    sums_.at(open.node).self -= amount;
  }

  FlameSums& sums_;
  CallWeight weight_;
  Window window_;
  std::vector<Open> open_;
};

bool is_in(const std::vector<std::int64_t>& list, const std::optional<std::int64_t>& number) {
  return list.empty() || (number && std::ranges::find(list, *number) != list.end());
}

bool leaves(const RowFilter& filter, const Track& track) {
  if (track.kind == TrackKind::kSamples || track.kind == TrackKind::kCounter) return false;
  if (filter.without_process) return !track.pid;
  const bool of_host =
      filter.hosts.empty() || std::ranges::find(filter.hosts, track.host) != filter.hosts.end();
  return of_host && (!filter.host || *filter.host == track.host) && is_in(filter.pids, track.pid) &&
         is_in(filter.tids, track.tid);
}

CallWeight weight_of(const std::string& weight) {
  if (weight == "bytes") return CallWeight::kBytes;
  return weight == "calls" ? CallWeight::kCalls : CallWeight::kTime;
}

Flame finished(const FlameSums& sums, const FlameOptions& options, std::string unit) {
  Flame flame = options.invert ? sums.inverted().shown(options.least) : sums.shown(options.least);
  flame.weight = options.weight;
  flame.unit = std::move(unit);
  return flame;
}

// The condition on rows of `samples`, and the unit of their weights.
std::pair<std::string, std::string> samples_of(const std::string& weight) {
  if (weight == "offcpu") return {"event = 'off-cpu'", "ns"};
  if (weight == "cpu") return {kOfOneEvent, ""};
  return {"event = " + sql::quote_literal(weight), is_time_event(weight) ? "ns" : weight};
}

}  // namespace

bool is_flame_of_calls(const std::string& weight) {
  return weight == "time" || weight == "bytes" || weight == "calls";
}

Result<Flame> flame_of_calls(const Canvas& canvas, const FlameOptions& options,
                             const RowFilter& filter, const CanvasProgress& progress) {
  if (!filter.condition.empty() || !filter.names.empty())
    return usage_error("a flame graph of calls cannot be made of single names or conditions",
                       "choose a time, processes or layers instead");
  const Window window{filter.from_ns.value_or(-kWholeTime), filter.to_ns.value_or(kWholeTime)};
  FlameSums sums;
  CallStacks stacks(sums, weight_of(options.weight), window);
  std::vector<std::pair<std::uint32_t, bool>> frames;  // by kind: its frame, whether it is wanted
  for (std::uint32_t kind = 0; kind < canvas.kinds(); ++kind) {
    const CanvasKind named = canvas.kind(kind);
    const bool wanted = filter.layers.empty() ||
                        std::ranges::find(filter.layers, named.layer) != filter.layers.end();
    frames.emplace_back(sums.frame(named.name, named.layer), wanted);
  }
  std::int64_t turn = 0;
  for (const Track& track : canvas.tracks().tracks) {
    if (!leaves(filter, track)) continue;
    stacks.begin_track();
    const bool nests = track.kind == TrackKind::kThread;  // others lie side by side
    FATHOM_TRY(canvas.each_event(track.id, window, [&](const CanvasEvent& event) -> Status {
      if (!nests) stacks.begin_track();
      stacks.add(event, frames[event.kind].first, frames[event.kind].second);
      if (++turn % kEventsOfTurn == 0 && progress && !progress(0)) return canvas_ended();
      return {};
    }));
  }
  const char* units[] = {"ns", "bytes", "calls"};
  return finished(sums, options, units[static_cast<int>(weight_of(options.weight))]);
}

Result<Flame> flame_of_samples(Store& store, const FlameOptions& options) {
  auto [where, unit] = samples_of(options.weight);
  StackShapes shapes;
  FATHOM_TRY(shapes.load(store, where));
  FATHOM_ASSIGN(const Table rows,
                store.query(fmt::format(
                    "SELECT stack, CAST(sum(weight) AS BIGINT), count(*), min(ts), "
                    "any_value(event) FROM samples WHERE {} GROUP BY stack ORDER BY stack",
                    where)));
  if (rows.rows.empty())
    return Error{Code::kNotFound,
                 "nothing in this part of the recording has the weight '" + options.weight + "'",
                 "record with --layers +cpu, or choose the weight time"};
  if (unit.empty())
    unit = is_time_event(text_of(rows.rows[0][4])) ? "ns" : text_of(rows.rows[0][4]);
  FlameSums sums;
  for (const auto& row : rows.rows) {
    std::uint32_t node = StackTree::kRoot;
    if (!row[0].is_null()) {
      for (const std::uint32_t function : shapes.path(int_of(row[0]))) {
        const SampledFunction& one = shapes.function(function);
        node = sums.child(node, sums.frame(one.name, one.module));
      }
    }
    if (node == StackTree::kRoot) node = sums.child(node, sums.frame("unknown", ""));
    FlameSums::Sum& sum = sums.at(node);
    add_to(sum.self, int_of(row[1]));
    add_to(sum.calls, int_of(row[2]));
    sum.start = std::min(sum.start, int_of(row[3]));
  }
  return finished(sums, options, std::move(unit));
}

}  // namespace fathom::analysis
