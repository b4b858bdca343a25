// SPDX-License-Identifier: MIT
// Unions of intervals for each process and layer. Pieces are sorted on disk when there are many,
// since threads of a process are walked one after the other.
#include "analysis/walk/layer_walls.h"

#include <map>
#include <utility>

#include "analysis/walk/made_rows.h"
#include "analysis/walk/scope_index.h"
#include "analysis/walk/sorted_runs.h"
#include "analysis/walk/wall.h"

namespace fathom::analysis {
namespace {

// What a thread was in, on the way to its process.
struct Piece {
  std::int64_t begin;
  std::int64_t end;
  std::uint32_t place;  // of process and layer

  bool operator<(const Piece& other) const { return begin < other.begin; }
};

class LayerWalls : public WalkVisitor {
 public:
  void add_thread(const WalkThread& thread) override { of_thread_.push_back(index_.add(thread)); }
  void add_kind(const WalkKind& kind) override {
    const auto next = static_cast<std::uint32_t>(layers_.size());
    const auto [found, fresh] = layer_codes_.try_emplace(kind.layer, next);
    if (fresh) layers_.push_back(kind.layer);
    of_kind_.push_back(found->second);
  }
  std::uint32_t enter(const WalkEvent& event, const WalkFrame*) override {
    if (event.dur <= 0) return 0;
    const ScopeIndex::Of& of = of_thread_[event.thread];
    const std::uint32_t layer = of_kind_[event.kind];
    const auto [begin, end] = wall_of(of[3], layer).second->add(event.ts, event.end());
    if (begin < end) pieces_.add({begin, end, wall_of(of[2], layer).first});
    return 0;
  }

  Status into(Store& store) {
    FATHOM_TRY(pieces_.take(
        [this](const Piece& piece) { walls_[piece.place].wall.add(piece.begin, piece.end); }));
    static const std::optional<std::string> process = "process";
    static const std::optional<std::string> thread = "thread";
    MadeRows rows(kLayerWalls);
    auto& scope = rows.texts("scope");
    ThreadColumns who(rows);
    auto& layer = rows.texts("layer");
    auto& wall = rows.numbers("wall");
    for (const Place& place : walls_) {
      const ScopeIndex::Scope& of = index_.scopes()[place.scope];
      scope.add(of.level == 2 ? process : thread);
      who.add(of.who);
      layer.add(layers_[place.layer]);
      wall.add(place.wall.wall);
    }
    return rows.into(store);
  }

 private:
  struct Place {
    std::uint32_t scope, layer;
    Wall wall;
  };

  std::pair<std::uint32_t, Wall*> wall_of(std::uint32_t scope, std::uint32_t layer) {
    if (places_.size() <= scope) places_.resize(scope + 1);
    std::vector<std::uint32_t>& of = places_[scope];
    if (of.size() <= layer) of.resize(layer + 1, UINT32_MAX);
    if (of[layer] == UINT32_MAX) {
      of[layer] = static_cast<std::uint32_t>(walls_.size());
      walls_.push_back({scope, layer, {}});
    }
    return {of[layer], &walls_[of[layer]].wall};
  }

  ScopeIndex index_;
  std::vector<ScopeIndex::Of> of_thread_;
  std::map<std::optional<std::string>, std::uint32_t> layer_codes_;
  std::vector<std::optional<std::string>> layers_;
  std::vector<std::uint32_t> of_kind_;
  std::vector<std::vector<std::uint32_t>> places_;  // by scope and layer
  std::vector<Place> walls_;
  SortedRuns<Piece> pieces_;
};

}  // namespace

Status make_layer_walls(Store& store) {
  LayerWalls pass;
  FATHOM_TRY(walk_threads(store, pass));
  return pass.into(store);
}

}  // namespace fathom::analysis
