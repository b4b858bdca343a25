// SPDX-License-Identifier: MIT
// Curves by SQL, bars by a walk over the events. A bar has a thousand places: what lies closer
// together could not be told apart on paper.
#include "analysis/application/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <tuple>

#include "analysis/application/loop_name.h"
#include "analysis/compare/sums.h"
#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"
#include "analysis/walk/thread_walk.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kPlaces = 1000;
constexpr std::size_t kMostFunctions = 14;
constexpr std::size_t kMostLoops = 6;

// A loop of Python's bears its line; one of Waggle's is named after its kind.
bool is_loop(const WalkKind& kind) {
  if (kind.layer != "python" || !kind.name) return false;
  return kind.category == "loop" || is_loop_name(*kind.name);
}

class BarWalk final : public WalkVisitor {
 public:
  explicit BarWalk(std::int64_t wall_ns) : wall_(std::max<std::int64_t>(wall_ns, 1)) {}

  void add_thread(const WalkThread&) override {}
  void add_kind(const WalkKind& kind) override {
    kinds_.push_back({kind.name.value_or(""), is_loop(kind), 0, 0, {}});
  }
  std::uint32_t enter(const WalkEvent& event, const WalkFrame*) override {
    Kind& kind = kinds_[event.kind];
    kind.total += event.dur;
    kind.self += event.self;
    const auto place = [&](std::int64_t ts) {
      const double share = static_cast<double>(ts) / static_cast<double>(wall_);
      return static_cast<std::size_t>(std::clamp(share, 0.0, 0.9999) * kPlaces);
    };
    for (std::size_t i = place(event.ts); i <= place(event.end()); ++i) kind.places.set(i);
    return 0;
  }

  void give(Picture& picture) const {
    std::vector<const Kind*> functions, loops;
    for (const Kind& kind : kinds_)
      if (kind.total > 0) (kind.loop ? loops : functions).push_back(&kind);
    const std::size_t all = functions.size() + loops.size();
    functions = chosen(functions, kMostFunctions);
    loops = chosen(loops, kMostLoops);
    picture.bars_left_out = all - functions.size() - loops.size();
    for (const auto* group : {&functions, &loops})
      for (const Kind* kind : *group) picture.bars.push_back(bar_of(*kind));
  }

 private:
  struct Kind {
    std::string name;
    bool loop = false;
    std::int64_t total = 0, self = 0;
    std::bitset<kPlaces> places;
  };

  // Half of them by the time in them, half by their own time: a function that only calls another
  // tells where, one that works tells what.
  static std::vector<const Kind*> chosen(std::vector<const Kind*> kinds, std::size_t most) {
    std::vector<const Kind*> picked;
    const auto pick = [&](std::int64_t Kind::*by) {
      std::ranges::sort(kinds, {},
                        [&](const Kind* kind) { return std::pair(-(kind->*by), kind->name); });
      for (std::size_t i = 0; i < std::min(most / 2, kinds.size()); ++i)
        if (std::ranges::find(picked, kinds[i]) == picked.end()) picked.push_back(kinds[i]);
    };
    pick(&Kind::self);
    pick(&Kind::total);
    std::ranges::sort(picked, {},
                      [](const Kind* kind) { return std::pair(-kind->total, kind->name); });
    return picked;
  }

  static PictureBar bar_of(const Kind& kind) {
    PictureBar bar{kind.name, kind.loop, static_cast<double>(kind.total) / 1e9, {}};
    for (std::size_t from = 0; from < kPlaces; ++from) {
      if (!kind.places[from]) continue;
      std::size_t to = from;
      while (to < kPlaces && kind.places[to]) ++to;
      bar.spans.emplace_back(static_cast<double>(from) / kPlaces,
                             static_cast<double>(to) / kPlaces);
      from = to;
    }
    return bar;
  }

  std::int64_t wall_;
  std::vector<Kind> kinds_;
};

// A share in percent of each CPU, at each look.
Status add_cores(Store& store, bool of_group, Picture& picture) {
  const char* const machine =
      "SELECT CAST(regexp_extract(name, '^cpu([0-9]+)_busy$', 1) AS INTEGER) AS core, ts, value "
      "FROM counters WHERE layer = 'resource' AND regexp_matches(name, '^cpu[0-9]+_busy$') "
      "ORDER BY 1, 2";
  const char* const group =
      "SELECT core, ts, value FROM (SELECT CAST(regexp_extract(name, '([0-9]+)_time$', 1) AS "
      "INTEGER) AS core, ts, 100 * (value - lag(value) OVER w) / nullif(ts - lag(ts) OVER w, 0) AS "
      "value FROM counters WHERE layer = 'resource' AND regexp_matches(name, "
      "'^cgroup_cpu[0-9]+_time$') WINDOW w AS (PARTITION BY name ORDER BY ts)) WHERE value IS NOT "
      "NULL ORDER BY 1, 2";
  std::map<std::int64_t, std::vector<Point>> cores;
  FATHOM_TRY(store.stream(of_group ? group : machine, [&](const Table& part) -> Status {
    for (const auto& row : part.rows)
      cores[int_of(row[0])].push_back({int_of(row[1]), number_or_zero(row[2])});
    return {};
  }));
  for (auto& [core, points] : cores)
    picture.curves.push_back({"CPU " + std::to_string(core), std::move(points), true});
  return {};
}

// The first of these that was recorded.
Status add_memory(Store& store, Picture& picture) {
  struct Kind {
    const char* name;
    const char* where;
    bool is_percent;
  };
  constexpr Kind kKinds[] = {{"Memory, working set", "name = 'cgroup_working_set'", false},
                             {"Memory%", "name = 'memory_share'", true},
                             {"Memory, resident", "name = 'rss' AND pid IS NOT NULL", false},
                             {"Memory, of the machine", "name = 'memory_used'", false}};
  for (const Kind& kind : kKinds) {
    PictureCurve curve{kind.name, {}, kind.is_percent};
    FATHOM_TRY(store.stream(
        fmt::format("SELECT ts, sum(value) FROM counters WHERE layer = 'resource' AND {} GROUP BY "
                    "ts ORDER BY ts",
                    kind.where),
        [&](const Table& part) -> Status {
          for (const auto& row : part.rows)
            curve.points.push_back({int_of(row[0]), number_or_zero(row[1])});
          return {};
        }));
    if (curve.points.empty()) continue;
    picture.curves.push_back(std::move(curve));
    break;
  }
  return {};
}

}  // namespace

Result<Picture> picture_of(Store& store) {
  Picture picture;
  FATHOM_ASSIGN(picture.wall_ns, store.wall_ns());
  FATHOM_ASSIGN(const Table command, store.query("SELECT value FROM run WHERE key = 'command'"));
  if (!command.rows.empty()) picture.title = text_of(command.rows[0][0]);
  FATHOM_ASSIGN(const Table group,
                store.query("SELECT count(*) FROM counters WHERE layer = 'resource' AND "
                            "regexp_matches(name, '^cgroup_cpu[0-9]+_time$')"));
  FATHOM_TRY(add_cores(store, int_of(group.rows[0][0]) > 0, picture));
  FATHOM_TRY(add_memory(store, picture));
  BarWalk bars(picture.wall_ns);
  static const std::string kOfCode = layer_sql("layer IN @code");
  FATHOM_TRY(walk_threads(store, bars, {.where = kOfCode.c_str()}));
  bars.give(picture);
  return picture;
}

}  // namespace fathom::analysis
