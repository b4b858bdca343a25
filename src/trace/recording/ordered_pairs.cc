// SPDX-License-Identifier: MIT
// The best chain that ends with a candidate goes on from the best one that ends left of it in both
// lists. A tree of prefixes (Fenwick) finds that one, so that a process that became another program
// a hundred thousand times takes no longer than it must.
#include "trace/recording/ordered_pairs.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/sum.h"

namespace fathom::trace {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

struct Chain {
  std::int64_t pairs = 0;
  std::int64_t weight = 0;
  std::size_t last = kNone;  // candidate

  [[nodiscard]] bool is_better_than(const Chain& other) const {
    return std::tie(pairs, weight) > std::tie(other.pairs, other.weight);
  }
};

// The best chains by where they end in the right list.
class BestChains {
 public:
  explicit BestChains(std::size_t places) : tree_(places + 1) {}

  [[nodiscard]] Chain best_before(std::size_t right) const {
    Chain best;
    for (std::size_t at = right; at > 0; at -= at & -at) {
      if (tree_[at].is_better_than(best)) best = tree_[at];
    }
    return best;
  }
  void add(std::size_t right, const Chain& chain) {
    for (std::size_t at = right + 1; at < tree_.size(); at += at & -at) {
      if (chain.is_better_than(tree_[at])) tree_[at] = chain;
    }
  }

 private:
  std::vector<Chain> tree_;
};

}  // namespace

std::vector<Candidate> ordered_pairs(const std::vector<Candidate>& candidates) {
  std::size_t places = 0;
  for (const Candidate& one : candidates) places = std::max(places, one.right + 1);
  BestChains chains(places);
  std::vector<std::size_t> before(candidates.size(), kNone);
  std::vector<Chain> fresh;  // of one `left`: none of them goes on from another
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Chain chain = chains.best_before(candidates[i].right);
    before[i] = chain.last;
    fresh.push_back({chain.pairs + 1, plus(chain.weight, candidates[i].weight), i});
    if (i + 1 < candidates.size() && candidates[i + 1].left == candidates[i].left) continue;
    for (const Chain& one : fresh) chains.add(candidates[one.last].right, one);
    fresh.clear();
  }
  std::vector<Candidate> pairs;
  for (std::size_t at = chains.best_before(places).last; at != kNone; at = before[at])
    pairs.push_back(candidates[at]);
  std::ranges::reverse(pairs);
  return pairs;
}

}  // namespace fathom::trace
