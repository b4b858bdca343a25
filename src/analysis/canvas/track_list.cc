// SPDX-License-Identifier: MIT
// Parents are made as their children come; names, ranks and lives are looked up afterwards in what
// the recording knows of processes and threads.
#include "analysis/canvas/track_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/canvas/sum_boxes.h"
#include "base/cell.h"
#include "base/sum.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostCounters = 10'000;
constexpr std::size_t kMostOfSums = 10'000;

std::optional<std::int64_t> number_of(const Value& cell) {
  if (cell.is_null()) return std::nullopt;
  return int_of(cell);
}

struct Life {
  std::string name;
  std::optional<std::int64_t> rank, start, end;
};

// Of processes by (host, pid), of threads by (host, pid, tid).
using Key = std::tuple<std::string, std::int64_t, std::int64_t>;
using Lives = std::map<Key, Life>;

// A process under the last program that it was, and a thread under its last name.
constexpr char kProcesses[] = R"(
  SELECT coalesce(host, ''), pid, arg_max(name, image), max("rank"), min(start), max("end")
  FROM processes GROUP BY ALL)";
constexpr char kThreads[] = R"(
  SELECT coalesce(host, ''), pid, coalesce(arg_max(name, start), any_value(name)), max("rank"), min(start), max("end"), tid
  FROM threads GROUP BY coalesce(host, ''), pid, tid)";
constexpr char kCounters[] = R"(
  SELECT coalesce(host, ''), pid, tid, layer, name, any_value(unit), min(ts), max(ts), count(*)
  FROM counters GROUP BY ALL ORDER BY ALL)";
// A track's names from the one with most time on.
constexpr char kSums[] = R"(
  SELECT coalesce(host, '') AS host, pid, tid, layer, name, min(ts), max(ts + width), CAST(sum(calls) AS BIGINT)
  FROM intervals WHERE calls > 0 GROUP BY coalesce(host, ''), pid, tid, layer, name
  ORDER BY host, pid, tid, layer, sum(dur) DESC, sum(calls) DESC, name)";

Result<Lives> lives_of(Store& store, const char* sql) {
  FATHOM_ASSIGN(const Table rows, store.query(sql));
  Lives lives;
  for (const auto& row : rows.rows) {
    const std::int64_t tid = row.size() > 6 ? int_of(row[6]) : -1;
    lives[{text_of(row[0]), int_of(row[1]), tid}] = {text_of(row[2]), number_of(row[3]),
                                                     number_of(row[4]), number_of(row[5])};
  }
  return lives;
}

int rank_of_layer(const std::string& layer) {
  const trace::LayerDef* def = trace::find_layer(layer);
  return def == nullptr ? std::numeric_limits<int>::max() : def->rank;
}

class TrackList {
 public:
  Status load(Store& store) {
    FATHOM_ASSIGN(processes_, lives_of(store, kProcesses));
    FATHOM_ASSIGN(threads_, lives_of(store, kThreads));
    return {};
  }

  void add(const MadeTrack& made, std::int64_t depth) {
    Track track = track_of(made.key, name_of(made.key));
    track.from = made.from;
    track.to = made.to;
    track.events = made.events;
    track.depth = depth;
    put(std::move(track), made.key);
  }

  Status add_counters(Store& store) {
    FATHOM_ASSIGN(const Table rows, store.query(kCounters));
    for (const auto& row : rows.rows) {
      if (counters_++ >= kMostCounters) {
        ++left_out_;
        continue;
      }
      const TrackKey key{.kind = TrackKind::kCounter,
                         .host = text_of(row[0]),
                         .pid = number_of(row[1]),
                         .tid = number_of(row[2]),
                         .layer = text_of(row[3]),
                         .name = text_of(row[4])};
      Track track = track_of(key, key.name);
      track.unit = text_of(row[5]);
      track.from = int_of(row[6]);
      track.to = int_of(row[7]) + 1;
      track.events = int_of(row[8]);
      put(std::move(track), key);
    }
    return {};
  }

  // Calls that were added up over intervals.
  Status add_sums(Store& store) {
    FATHOM_ASSIGN(const Table rows, store.query(kSums));
    std::size_t tracks = 0;
    TrackKey key;
    Track track;
    const auto finish = [&] {
      if (!track.is_of_sums()) return;
      track.depth = static_cast<std::int64_t>(track.lanes.size());
      put(std::move(track), key);
      track = {};
    };
    for (const auto& row : rows.rows) {
      const TrackKey of_row =
          sums_key(text_of(row[0]), number_of(row[1]), number_of(row[2]), text_of(row[3]));
      if (!track.is_of_sums() || track_id(of_row) != track.id) {
        finish();
        if (tracks == kMostOfSums) {
          ++left_out_;
          continue;
        }
        ++tracks;
        key = of_row;
        track = track_of(key, key.layer + ", summed");
        track.from = int_of(row[5]);
        track.to = int_of(row[6]);
      }
      track.from = std::min(track.from, int_of(row[5]));
      track.to = std::max(track.to, int_of(row[6]));
      add_to(track.events, int_of(row[7]));
      if (track.lanes.size() < kMostSumLanes) track.lanes.push_back(text_of(row[4]));
    }
    finish();
    return {};
  }

  // Parents before their children, each level in its own order.
  Tracks in_order() {
    std::unordered_map<TrackId, std::vector<std::size_t>> inside;
    for (std::size_t i = 0; i < all_.size(); ++i) inside[all_[i].track.parent].push_back(i);
    for (auto& [parent, list] : inside)
      std::ranges::stable_sort(
          list, {}, [&](std::size_t i) { return std::tie(all_[i].order, all_[i].track.name); });
    Tracks out;
    out.left_out = left_out_;
    std::vector<std::size_t> open(inside[0].rbegin(), inside[0].rend());
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      const auto found = inside.find(all_[at].track.id);
      out.tracks.push_back(std::move(all_[at].track));
      if (found != inside.end())
        open.insert(open.end(), found->second.rbegin(), found->second.rend());
    }
    spread_times(out.tracks);
    return out;
  }

 private:
  // Rank, then when it began, then numbers: nobody has the same of all.
  using Order = std::tuple<int, std::int64_t, std::int64_t, std::int64_t>;
  struct Entry {
    Track track;
    Order order;
  };
  static constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

  // What the key alone tells.
  Track track_of(const TrackKey& key, std::string name) {
    return {.id = track_id(key),
            .parent = parent_of(key),
            .kind = key.kind,
            .name = std::move(name),
            .host = key.host,
            .pid = key.pid,
            .tid = key.tid,
            .layer = key.layer};
  }

  TrackId parent_of(const TrackKey& key) {
    if (key.tid && key.kind != TrackKind::kThread && key.pid)
      return ensure({.kind = TrackKind::kThread, .host = key.host, .pid = key.pid, .tid = key.tid});
    if (key.pid) return ensure({.kind = TrackKind::kProcess, .host = key.host, .pid = key.pid});
    return ensure({.kind = TrackKind::kHost, .host = key.host});
  }

  // The id of a track that others stand below, made when it is new.
  TrackId ensure(const TrackKey& key) {
    const TrackId id = track_id(key);
    if (known_.contains(id)) return id;
    TrackId parent = 0;
    if (key.kind != TrackKind::kHost) {
      parent = key.kind == TrackKind::kThread
                   ? ensure({.kind = TrackKind::kProcess, .host = key.host, .pid = key.pid})
                   : ensure({.kind = TrackKind::kHost, .host = key.host});
    }
    put({.id = id,
         .parent = parent,
         .kind = key.kind,
         .name = name_of(key),
         .host = key.host,
         .pid = key.pid,
         .tid = key.tid},
        key);
    return id;
  }

  void put(Track track, const TrackKey& key) {
    const auto [found, fresh] = known_.try_emplace(track.id, all_.size());
    if (!fresh) {  // a thread that another track of it has made already
      Track& known = all_[found->second].track;
      std::tie(known.from, known.to, known.events, known.depth) =
          std::tie(track.from, track.to, track.events, track.depth);
      return;
    }
    const Life* life = life_of(key);
    if (life != nullptr) track.rank = life->rank;
    all_.push_back({std::move(track), order_of(key, life)});
  }

  const Life* life_of(const TrackKey& key) const {
    if (!key.pid) return nullptr;
    const bool of_thread = key.kind == TrackKind::kThread && key.tid;
    const Lives& lives = of_thread ? threads_ : processes_;
    const auto found = lives.find({key.host, *key.pid, of_thread ? *key.tid : -1});
    return found == lives.end() ? nullptr : &found->second;
  }

  // Of a level: counters first, then calls, layers from the top down, streams, samples, children.
  Order order_of(const TrackKey& key, const Life* life) const {
    const std::int64_t start = life != nullptr ? life->start.value_or(kLast) : kLast;
    switch (key.kind) {
      case TrackKind::kHost:
        return {0, 0, 0, 0};
      case TrackKind::kCounter:
        return {1, rank_of_layer(key.layer), 0, 0};
      case TrackKind::kLayer:
        return {2, rank_of_layer(key.layer), key.name.empty() ? 0 : 1, 0};
      case TrackKind::kSamples:
        return {3, 0, 0, 0};
      case TrackKind::kStream:
        return {4, key.device.value_or(-1), key.stream.value_or(-1), 0};
      case TrackKind::kThread:
        return {5, key.tid == key.pid ? std::numeric_limits<std::int64_t>::min() : start,
                key.tid.value_or(-1), 0};
      case TrackKind::kProcess:
        return {6, life != nullptr ? life->rank.value_or(kLast) : kLast, start, *key.pid};
    }
    return {};
  }

  std::string name_of(const TrackKey& key) const {
    const Life* life = life_of(key);
    const std::string called = life != nullptr ? life->name : "";
    switch (key.kind) {
      case TrackKind::kHost:
        return key.host.empty() ? "unknown host" : key.host;
      case TrackKind::kProcess:
        return called.empty() ? fmt::format("pid {}", *key.pid)
                              : fmt::format("{} ({})", called, *key.pid);
      case TrackKind::kThread:
        return called.empty() ? fmt::format("thread {}", key.tid.value_or(-1))
                              : fmt::format("{} ({})", called, key.tid.value_or(-1));
      case TrackKind::kStream:
        return key.stream ? fmt::format("GPU {}, stream {}", key.device.value_or(0), *key.stream)
                          : fmt::format("GPU {}", key.device.value_or(0));
      case TrackKind::kSamples:
        return key.layer == "wait" ? "off the CPU" : "sampled functions";
      case TrackKind::kLayer:
        return key.layer;
      case TrackKind::kCounter:
        return key.name;
    }
    return "";
  }

  // A parent reaches as far as what stands below it.
  static void spread_times(std::vector<Track>& tracks) {
    std::unordered_map<TrackId, std::size_t> at;
    for (std::size_t i = 0; i < tracks.size(); ++i) at[tracks[i].id] = i;
    std::vector<bool> has_time(tracks.size());
    for (std::size_t i = 0; i < tracks.size(); ++i) has_time[i] = tracks[i].events > 0;
    for (std::size_t i = tracks.size(); i-- > 0;) {
      const auto parent = at.find(tracks[i].parent);
      if (parent == at.end() || !has_time[i]) continue;
      Track& above = tracks[parent->second];
      above.from = has_time[parent->second] ? std::min(above.from, tracks[i].from) : tracks[i].from;
      above.to = has_time[parent->second] ? std::max(above.to, tracks[i].to) : tracks[i].to;
      has_time[parent->second] = true;
    }
  }

  Lives processes_, threads_;
  std::vector<Entry> all_;
  std::unordered_map<TrackId, std::size_t> known_;
  std::size_t counters_ = 0;
  std::int64_t left_out_ = 0;
};

}  // namespace

Result<Tracks> list_tracks(Store& store, std::span<const MadeTrack> made,
                           std::span<const std::int64_t> depths) {
  TrackList list;
  FATHOM_TRY(list.load(store));
  for (std::size_t i = 0; i < made.size(); ++i) list.add(made[i], depths[i]);
  FATHOM_TRY(list.add_counters(store));
  FATHOM_TRY(list.add_sums(store));
  return list.in_order();
}

}  // namespace fathom::analysis
