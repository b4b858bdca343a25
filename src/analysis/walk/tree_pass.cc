// SPDX-License-Identifier: MIT
// Builds the call tree in one walk. Nodes are found by a hash of thread, parent and call; regions
// that come too often are not kept as rounds.
#include "analysis/walk/tree_pass.h"

#include <unordered_map>

#include "analysis/walk/made_rows.h"
#include "analysis/walk/rounds.h"
#include "analysis/walk/thread_walk.h"
#include "base/cell.h"

namespace fathom::analysis {
namespace {

constexpr std::uint32_t kNoNode = UINT32_MAX;
// What comes more often is a function rather than a phase. Leaving it out, and what is most
// frequent among the rest, bounds the memory that exact percentiles take.
constexpr std::int64_t kMostRounds = 1'000'000;
constexpr std::int64_t kMostRoundsInAll = 8'000'000;

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ (value >> 27U)) * UINT64_C(0x94d049bb133111eb);
  return value ^ (value >> 31U);
}

std::uint64_t hash_of(const std::optional<std::string>& text, std::uint64_t seed) {
  std::uint64_t hash = mixed(seed + (text ? text->size() + 1 : 0));
  for (const char letter : text.value_or("")) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * UINT64_C(0x100000001b3);
  }
  return mixed(hash);
}

class TreePass : public WalkVisitor {
 public:
  explicit TreePass(Rounds rounds) : rounds_(std::move(rounds)) {}

  void add_thread(const WalkThread& thread) override { threads_.push_back(thread); }
  void add_kind(const WalkKind& kind) override {
    calls_.push_back(kind.call);
    series_.push_back(kind.layer == "app" ? rounds_.find(kind.name) : Rounds::kNone);
    if (kind.call == call_hashes_.size())
      call_hashes_.push_back(hash_of(kind.name, hash_of(kind.layer, 1)));
    kinds_.push_back(kind);
  }
  std::uint32_t enter(const WalkEvent& event, const WalkFrame* around) override {
    const std::uint32_t parent = around == nullptr ? kNoNode : around->tag;
    const std::uint32_t at = find(event.thread, parent, event.kind);
    Node& node = nodes_[at];
    node.calls++;
    node.total += event.dur;
    node.self += event.self;
    const std::uint32_t series = series_[event.kind];
    if (series != Rounds::kNone && event.dur > 0) rounds_.add(series, event.thread, event.dur);
    return at;
  }

  Status into(Store& store) {
    MadeRows rows(kTreeNodes);
    ThreadColumns who(rows);
    auto& node_column = rows.numbers("node");
    auto& parent_column = rows.numbers("parent");
    auto& depth = rows.numbers("depth");
    auto& layer = rows.texts("layer");
    auto& name = rows.texts("name");
    auto& calls = rows.numbers("calls");
    auto& total = rows.numbers("total");
    auto& self = rows.numbers("self");
    for (const Node& node : nodes_) {
      who.add(threads_[node.thread]);
      node_column.add(node.way);
      parent_column.add(node.parent == kNoNode ? std::optional<std::int64_t>()
                                               : nodes_[node.parent].way);
      depth.add(node.depth);
      layer.add(kinds_[node.kind].layer);
      name.add(kinds_[node.kind].name);
      calls.add(node.calls);
      total.add(node.total);
      self.add(node.self);
    }
    FATHOM_TRY(rows.into(store));
    return rounds_.into(store);
  }

 private:
  struct Node {
    std::uint32_t parent, thread, kind;
    std::int32_t depth;
    std::int64_t way;  // a hash of all steps
    std::int64_t calls = 0, total = 0, self = 0;
    std::uint32_t last_call = UINT32_MAX, last = 0;  // the node inside that was asked for last
  };

  std::uint32_t find(std::uint32_t thread, std::uint32_t parent, std::uint32_t kind) {
    const std::uint32_t call = calls_[kind];
    if (parent != kNoNode && nodes_[parent].last_call == call) return nodes_[parent].last;
    const std::uint64_t from = parent == kNoNode ? (std::uint64_t{1} << 31U) + thread : parent;
    const auto next = static_cast<std::uint32_t>(nodes_.size());
    const auto [found, fresh] = known_.try_emplace((from << 32U) | call, next);
    if (fresh) {
      const bool top = parent == kNoNode;
      const std::uint64_t before = top ? 0 : static_cast<std::uint64_t>(nodes_[parent].way);
      const auto way = static_cast<std::int64_t>(mixed(before * 31 + call_hashes_[call]) >> 1U);
      nodes_.push_back({parent, thread, kind, top ? 0 : nodes_[parent].depth + 1, way});
    }
    if (parent != kNoNode) {
      nodes_[parent].last_call = call;
      nodes_[parent].last = found->second;
    }
    return found->second;
  }

  std::vector<WalkThread> threads_;
  std::vector<WalkKind> kinds_;
  std::vector<std::uint32_t> calls_;   // by kind
  std::vector<std::uint32_t> series_;  // by kind
  std::vector<std::uint64_t> call_hashes_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // node outside and call
  Rounds rounds_;
};

Result<Rounds> rounds_of(Store& store) {
  FATHOM_ASSIGN(const Table names,
                store.query("SELECT name FROM (SELECT name, sum(sum(calls)) OVER (ORDER BY "
                            "sum(calls), name) AS before FROM summary WHERE layer = 'app' GROUP BY "
                            "name HAVING sum(calls) BETWEEN 2 AND $1) WHERE before <= $2",
                            {kMostRounds, kMostRoundsInAll}));
  Rounds rounds;
  for (const auto& row : names.rows) rounds.expect(text_of(row[0]));
  return rounds;
}

}  // namespace

Status make_tree(Store& store) {
  FATHOM_ASSIGN(Rounds rounds, rounds_of(store));
  TreePass pass(std::move(rounds));
  FATHOM_TRY(walk_threads(store, pass));
  return pass.into(store);
}

}  // namespace fathom::analysis
