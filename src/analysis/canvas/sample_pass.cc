// SPDX-License-Identifier: MIT
// Samples of a thread that follow each other closely, with the same functions from the outermost
// on, become one box of each of these functions. A stretch off the CPU is a box by itself.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/canvas/event_pass.h"
#include "analysis/sample_events.h"
#include "analysis/stack_shapes.h"
#include "analysis/views/sampled_event.h"
#include "analysis/walk/codes.h"
#include "base/sum.h"
#include "sql/chunk.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {
namespace {

enum ColumnOf : std::uint8_t { kTs, kThread, kWeight, kStack, kHost, kPid, kTid, kEvent };

constexpr char kOffCpu[] = "event = 'off-cpu'";
constexpr char kWaitLayer[] = "wait";
// A sample that stands for a number of events has no length: it lasts until the next one, if that
// comes soon.
constexpr std::int64_t kLongestGap = 20'000'000;

std::string samples_sql(const char* where) {
  return fmt::format(
      "SELECT ts, hash(host, pid, tid) AS thread, weight, stack, host, CAST(pid AS BIGINT), "
      "CAST(tid AS BIGINT), event FROM samples WHERE {} ORDER BY thread, ts",
      where);
}

// Tracks of threads that have samples of one kind.
class SampledThreads {
 public:
  SampledThreads(CanvasRows& rows, std::string_view layer) : rows_(rows), layer_(layer) {}
  std::uint32_t find(const sql::Chunk& chunk, std::size_t row) {
    std::uint32_t code = 0;
    if (codes_.find(chunk.int64s(kThread)[row], code))
      tracks_.push_back(rows_.book.add_track({.kind = TrackKind::kSamples,
                                              .host = chunk.kept_text(kHost, row).value_or(""),
                                              .pid = chunk.int64(kPid, row),
                                              .tid = chunk.int64(kTid, row),
                                              .layer = std::string(layer_)}));
    return tracks_[code];
  }

 private:
  CanvasRows& rows_;
  std::string_view layer_;
  Codes codes_;
  std::vector<std::uint32_t> tracks_;
};

class Strips {
 public:
  Strips(CanvasRows& rows, const StackShapes& shapes)
      : rows_(rows), shapes_(shapes), threads_(rows, trace::kSampledLayer) {}

  void add(const sql::Chunk& chunk, std::size_t row) {
    const std::int64_t ts = chunk.int64s(kTs)[row];
    const std::uint32_t track = threads_.find(chunk, row);
    const std::int64_t lasts =
        is_time_event(chunk.text(kEvent, row).value_or(""))
            ? std::clamp<std::int64_t>(chunk.int64s(kWeight)[row], 1, kLongestGap * 100)
            : kLongestGap;
    // Taken a little late, it still follows the last one.
    const bool follows = track == track_ && ts <= plus(last_, lasts_ + lasts_ / 2);
    if (!follows) close(0, end());
    const auto stack = chunk.int64(kStack, row);
    path_ = stack ? shapes_.path(*stack) : std::vector<std::uint32_t>();
    if (follows) {
      std::size_t same = 0;
      while (same < open_.size() && same < path_.size() && open_[same].function == path_[same])
        ++same;
      close(same, ts);
    }
    track_ = track;
    last_ = ts;
    lasts_ = lasts;
    for (std::size_t i = open_.size(); i < path_.size(); ++i) open_.push_back({path_[i], ts});
  }
  void finish() { close(0, end()); }

 private:
  struct Open {
    std::uint32_t function;
    std::int64_t since;
  };
  [[nodiscard]] std::int64_t end() const { return plus(last_, lasts_); }

  void close(std::size_t from, std::int64_t end) {
    for (std::size_t depth = from; depth < open_.size(); ++depth) {
      const Open& open = open_[depth];
      rows_.book.add(track_, static_cast<std::int64_t>(depth),
                     {open.since, minus(end, open.since), kind_of(open.function), 0});
    }
    open_.resize(from);
  }

  std::uint32_t kind_of(std::uint32_t function) {
    if (function >= kinds_.size()) kinds_.resize(function + 1);
    if (!kinds_[function])
      kinds_[function] = rows_.kinds.find(trace::kSampledLayer, shapes_.function(function).name);
    return *kinds_[function];
  }

  CanvasRows& rows_;
  const StackShapes& shapes_;
  SampledThreads threads_;
  std::uint32_t track_ = LaneBook::kNoTrack;
  std::int64_t last_ = 0, lasts_ = 0;
  std::vector<Open> open_;
  std::vector<std::uint32_t> path_;
  std::vector<std::optional<std::uint32_t>> kinds_;  // by function
};

// The innermost function outside of the kernel: what the program called and waited in.
std::string wait_name(const StackShapes& shapes, const std::optional<std::int64_t>& stack) {
  if (!stack) return "unknown";
  const std::vector<std::uint32_t> path = shapes.path(*stack);
  for (std::size_t i = path.size(); i-- > 0;) {
    const StackFunction& function = shapes.function(path[i]);
    if (!function.module.starts_with("[kernel")) return function.name;
  }
  return path.empty() ? "unknown" : shapes.function(path.back()).name;
}

template <class Use>
Status each_sample(Store& store, const char* where, const CanvasProgress& progress, Use use) {
  return store.stream_chunks(samples_sql(where), [&](const sql::Chunk& chunk) -> Status {
    for (std::size_t row = 0; row < chunk.rows(); ++row) use(chunk, row);
    if (progress && !progress(1)) return canvas_ended();
    return {};
  });
}

}  // namespace

Status read_samples(Store& store, CanvasRows& rows, const CanvasProgress& progress) {
  StackShapes running;
  FATHOM_TRY(running.load(store, kOfOneEvent));
  Strips strips(rows, running);
  FATHOM_TRY(
      each_sample(store, kOfOneEvent, progress,
                  [&](const sql::Chunk& chunk, std::size_t row) { strips.add(chunk, row); }));
  strips.finish();
  StackShapes waiting;
  FATHOM_TRY(waiting.load(store, kOffCpu));
  SampledThreads threads(rows, kWaitLayer);
  return each_sample(store, kOffCpu, progress, [&](const sql::Chunk& chunk, std::size_t row) {
    const std::uint32_t kind =
        rows.kinds.find(kWaitLayer, wait_name(waiting, chunk.int64(kStack, row)));
    rows.book.add(threads.find(chunk, row),
                  {chunk.int64s(kTs)[row], chunk.int64s(kWeight)[row], kind, 0});
  });
}

}  // namespace fathom::analysis
