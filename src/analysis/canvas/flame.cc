// SPDX-License-Identifier: MIT
// Calls come from the canvas, track by track, in the order of time: what is open tells who called.
// Samples have their stacks with them.
#include "analysis/canvas/flame.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/canvas/byte_tellers.h"
#include "analysis/canvas/flame_stacks.h"
#include "analysis/canvas/flame_stretches.h"
#include "analysis/canvas/flame_sums.h"
#include "analysis/canvas/track_choice.h"
#include "analysis/sample_events.h"
#include "analysis/stack_shapes.h"
#include "analysis/views/sampled_event.h"
#include "base/cell.h"
#include "base/sum.h"
#include "sql/chunk.h"
#include "sql/quote.h"

namespace fathom::analysis {
namespace {

constexpr std::int64_t kEventsOfTurn = 1 << 18;

CallWeight weight_of(const std::string& weight) {
  if (weight == "bytes") return CallWeight::kBytes;
  return weight == "calls" ? CallWeight::kCalls : CallWeight::kTime;
}

// The condition on rows of `samples`, and the unit of their weights.
std::pair<std::string, std::string> samples_of(const std::string& weight) {
  if (weight == "offcpu") return {"event = 'off-cpu'", "ns"};
  if (weight == "cpu") return {kOfOneEvent, ""};
  return {"event = " + sql::quote_literal(weight), is_time_event(weight) ? "ns" : weight};
}

// The calls of a canvas that a filter leaves.
class CallPass {
 public:
  CallPass(const Canvas& canvas, const RowFilter& filter, CallWeight weight, FlameFrames& frames,
           const CanvasProgress& progress)
      : canvas_(canvas),
        window_{filter.from_ns.value_or(-kWholeTime), filter.to_ns.value_or(kWholeTime)},
        weight_(weight),
        progress_(progress) {
    for (std::uint32_t kind = 0; kind < canvas.kinds(); ++kind) {
      const CanvasKind named = canvas.kind(kind);
      const bool wanted = filter.layers.empty() ||
                          std::ranges::find(filter.layers, named.layer) != filter.layers.end();
      kinds_.push_back({frames.number(named.name, named.layer), wanted, named.layer,
                        ByteTellers::is_shared(named.layer)});
    }
    for (const Track& track : canvas.tracks().tracks) {
      const bool has_calls = track.kind == TrackKind::kThread || track.kind == TrackKind::kStream ||
                             (track.kind == TrackKind::kLayer && !track.is_of_sums());
      if (has_calls && track.events > 0 && is_chosen(track, filter)) tracks_.push_back(&track);
    }
  }

  // Whose bytes count; before the first tree, and only for a tree of bytes.
  Status find_tellers() {
    if (weight_ != CallWeight::kBytes) return {};
    for (const Track* track : tracks_) {
      FATHOM_TRY(canvas_.each_event(track->id, window_, [&](const CanvasEvent& event) -> Status {
        const Kind& kind = kinds_[event.kind];
        if (kind.wanted && kind.shared) tellers_.add(*track, kind.layer, event.bytes);
        return go_on();
      }));
    }
    return {};
  }

  // `root_of` gives the node that a track's calls stand below.
  template <class Tree, class RootOf>
  Status add_to_tree(Tree& tree, RootOf root_of) {
    CallStacks<Tree> stacks(tree, weight_, window_);
    for (const Track* track : tracks_) {
      const std::uint32_t root = root_of(*track);
      stacks.begin(root);
      const bool nests = track->kind == TrackKind::kThread;  // others lie side by side
      FATHOM_TRY(canvas_.each_event(track->id, window_, [&](const CanvasEvent& event) -> Status {
        if (!nests) stacks.begin(root);
        const Kind& kind = kinds_[event.kind];
        const bool tells = event.bytes <= 0 || !kind.shared || tellers_.tells(*track, kind.layer);
        stacks.add(event, kind.frame, kind.wanted, tells);
        return go_on();
      }));
    }
    return {};
  }

 private:
  struct Kind {
    std::uint32_t frame;
    bool wanted;
    std::string layer;
    bool shared;  // another layer may tell of its bytes, too
  };
  Status go_on() {
    if (++turn_ % kEventsOfTurn == 0 && progress_ && !progress_(0)) return canvas_ended();
    return {};
  }

  const Canvas& canvas_;
  Window window_;
  CallWeight weight_;
  const CanvasProgress& progress_;
  std::int64_t turn_ = 0;
  std::vector<Kind> kinds_;
  ByteTellers tellers_;
  std::vector<const Track*> tracks_;
};

// "sort (10), worker (11)"
std::string thread_words(const Track& track, const Canvas& canvas) {
  const Track* parent = canvas.find(track.parent);
  return parent == nullptr ? track.name : parent->name + ", " + track.name;
}

enum SampleColumn : std::uint8_t { kStack, kWeight, kTs, kThread, kPid, kTid };

// Samples of one thread behind those of another, each in the order of time.
Status add_samples(Store& store, const std::string& where, const StackShapes& shapes,
                   FlameFrames& frames, FlameStretches& tree) {
  const std::string sql = fmt::format(
      "SELECT stack, weight, ts, hash(host, pid, tid) AS thread, CAST(pid AS BIGINT), "
      "CAST(tid AS BIGINT) FROM samples WHERE {} ORDER BY thread, ts",
      where);
  const std::uint32_t unknown = frames.number("unknown", "");
  std::uint32_t root = FlameStretches::kRoot;
  std::optional<std::int64_t> last;
  return store.stream_chunks(sql, [&](const sql::Chunk& chunk) -> Status {
    for (std::size_t row = 0; row < chunk.rows(); ++row) {
      if (last != chunk.int64s(kThread)[row]) {
        last = chunk.int64s(kThread)[row];
        root = tree.child(
            FlameStretches::kRoot,
            frames.number(fmt::format("pid {}, thread {}", chunk.int64(kPid, row).value_or(-1),
                                      chunk.int64(kTid, row).value_or(-1)),
                          ""));
      }
      std::uint32_t node = root;
      if (const auto stack = chunk.int64(kStack, row)) {
        for (const std::uint32_t function : shapes.path(*stack)) {
          const StackFunction& one = shapes.function(function);
          node = tree.child(node, frames.number(one.name, one.module));
        }
      }
      if (node == root) node = tree.child(node, unknown);
      FlameSum& sum = tree.at(node);
      add_to(sum.self, chunk.int64s(kWeight)[row]);
      sum.calls++;
      sum.start = std::min(sum.start, chunk.int64s(kTs)[row]);
    }
    return {};
  });
}

Error nothing_of(const std::string& weight) {
  return {Code::kNotFound, "nothing in this part of the recording has the weight '" + weight + "'",
          "record with --layers +cpu, or choose the weight time"};
}

}  // namespace

bool is_flame_of_calls(const std::string& weight) {
  return weight == "time" || weight == "bytes" || weight == "calls";
}

Result<Flame> flame_of_calls(const Canvas& canvas, const FlameOptions& options,
                             const RowFilter& filter, const CanvasProgress& progress) {
  FATHOM_TRY(check_order(options));
  const CallWeight weight = weight_of(options.weight);
  const char* units[] = {"ns", "bytes", "calls"};
  const char* unit = units[static_cast<int>(weight)];
  FlameFrames frames;
  CallPass pass(canvas, filter, weight, frames, progress);
  FATHOM_TRY(pass.find_tellers());
  FlameSums sums(frames);
  FATHOM_TRY(pass.add_to_tree(sums, [](const Track&) { return FlameSums::kRoot; }));
  if (!options.in_time) return finished_flame(shown_tree(sums, options), options, unit);
  FlameStretches stretches(frames, least_stretch(sums.total(), options));
  FATHOM_TRY(pass.add_to_tree(stretches, [&](const Track& track) {
    return stretches.child(FlameStretches::kRoot, frames.number(thread_words(track, canvas), ""));
  }));
  return finished_flame(stretches.shown(), options, unit);
}

Result<Flame> flame_of_samples(Store& store, const FlameOptions& options) {
  FATHOM_TRY(check_order(options));
  auto [where, unit] = samples_of(options.weight);
  StackShapes shapes;
  FATHOM_TRY(shapes.load(store, where));
  FATHOM_ASSIGN(const Table rows,
                store.query(fmt::format(
                    "SELECT stack, CAST(sum(weight) AS BIGINT), count(*), min(ts), "
                    "any_value(event) FROM samples WHERE {} GROUP BY stack ORDER BY stack",
                    where)));
  if (rows.rows.empty()) return nothing_of(options.weight);
  if (unit.empty())
    unit = is_time_event(text_of(rows.rows[0][4])) ? "ns" : text_of(rows.rows[0][4]);
  FlameFrames frames;
  FlameSums sums(frames);
  for (const auto& row : rows.rows) {
    std::uint32_t node = FlameSums::kRoot;
    if (!row[0].is_null()) {
      for (const std::uint32_t function : shapes.path(int_of(row[0]))) {
        const StackFunction& one = shapes.function(function);
        node = sums.child(node, frames.number(one.name, one.module));
      }
    }
    if (node == FlameSums::kRoot) node = sums.child(node, frames.number("unknown", ""));
    FlameSum& sum = sums.at(node);
    add_to(sum.self, int_of(row[1]));
    add_to(sum.calls, int_of(row[2]));
    sum.start = std::min(sum.start, int_of(row[3]));
  }
  if (!options.in_time) return finished_flame(shown_tree(sums, options), options, unit);
  FlameStretches stretches(frames, least_stretch(sums.total(), options));
  FATHOM_TRY(add_samples(store, where, shapes, frames, stretches));
  return finished_flame(stretches.shown(), options, unit);
}

}  // namespace fathom::analysis
