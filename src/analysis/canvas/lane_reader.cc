// SPDX-License-Identifier: MIT
// A stretch that fits into a bin is one node: all else in the bin would have made its stretch
// larger. So a bin is read off a node, or off the events of one leaf.
#include <algorithm>

#include "analysis/canvas/lane_tree.h"
#include "base/sum.h"

namespace fathom::analysis {
namespace {

// Its stretch is all of time.
constexpr unsigned kHighestLevel = 63;

std::uint64_t take_number(const std::byte*& at) {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(*at++);
    number |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if ((byte & 0x80U) == 0) return number;
  }
}

std::int64_t bin_begin(std::int64_t ts, unsigned level) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(ts >> level) << level);
}

template <class Use>
void each_event(const LaneFiles& files, const LaneNode& leaf, Use use) {
  const std::byte* at = files.events.at(leaf.block);
  std::int64_t end = leaf.begin;
  const std::uint64_t events = leaf.events();
  for (std::uint64_t i = 0; i < events; ++i) {
    LaneEvent event;
    event.ts = end + static_cast<std::int64_t>(take_number(at));
    event.dur = static_cast<std::int64_t>(take_number(at));
    const std::uint64_t kind = take_number(at);
    event.kind = static_cast<std::uint32_t>(kind >> 1U);
    if ((kind & 1U) != 0) event.bytes = static_cast<std::int64_t>(take_number(at));
    end = event.end();
    use(event, leaf.row + i);
  }
}

}  // namespace

// Gathers what begins in a window, bin by bin.
class LaneReader::Bins {
 public:
  Bins(const BinnedWindow& window, std::vector<Found>& out) : window_(window), out_(&out) {}

  [[nodiscard]] bool fits(unsigned level) const { return level <= window_.level; }
  [[nodiscard]] bool touches(const LaneNode& node) const {
    if (node.begin >= window_.window.to) return false;
    if (node.level >= kHighestLevel) return true;
    return bin_begin(node.begin, node.level) + (std::int64_t{1} << node.level) >
           window_.window.from;
  }
  // A node that lies in one bin, and in the window.
  void add(const LaneNode& node) {
    const bool joins = node.has_large() && node.large_dur >> window_.level == 0;
    if (node.small > 0) {
      Found box{.start = node.begin,
                .dur = node.small_end - node.begin,
                .busy = node.busy,
                .kind = node.kind,
                .count = node.small,
                .row = node.row};
      if (joins) {
        // It alone is as long as all others are together.
        box.dur = node.large_ts + node.large_dur - node.begin;
        add_to(box.busy, node.large_dur);
        box.kind = node.large_kind;
        box.count++;
      }
      put(box);
    }
    if (node.has_large() && (!joins || node.small == 0))
      put_event(node.large(), node.row + node.small);
  }
  void add(const LaneEvent& event, std::uint64_t row) {
    if (event.ts < window_.window.from || event.ts >= window_.window.to) return;
    if (event.dur >> window_.level != 0) {
      end_bin();
      put_event(event, row);
      return;
    }
    const std::int64_t bin = bin_begin(event.ts, window_.level);
    if (open_.count > 0 && bin != bin_) end_bin();
    if (open_.count == 0) open_ = {.start = event.ts, .row = row};
    bin_ = bin;
    open_.count++;
    open_.dur = event.end() - open_.start;
    add_to(open_.busy, event.dur);
    note(event);
  }
  void end_bin() {
    if (open_.count == 0) return;
    const auto most = std::ranges::max_element(times_, [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second < b.second : b.first < a.first;
    });
    open_.kind = most->first;
    put(open_);
    open_ = {};
    times_.clear();
  }
  void put_event(const LaneEvent& event, std::uint64_t row) {
    put({event.ts, event.dur, event.dur, event.kind, 1, row});
  }

  // Boxes of several events become as wide as their bin where there is room.
  void widen(std::size_t first) {
    std::int64_t last_end = -kFarthestTime * 2;
    for (std::size_t i = first; i < out_->size(); ++i) {
      Found& box = (*out_)[i];
      if (box.count > 1) {
        const std::int64_t bin = bin_begin(box.start, window_.level);
        std::int64_t bin_end = bin + (std::int64_t{1} << window_.level);
        if (i + 1 < out_->size()) bin_end = std::min(bin_end, (*out_)[i + 1].start);
        const std::int64_t end = std::max(box.start + box.dur, bin_end);
        box.start = std::max(bin, last_end);
        box.dur = end - box.start;
      }
      last_end = box.start + box.dur;
    }
  }

 private:
  void put(const Found& box) { out_->push_back(box); }
  // Few kinds lie in a bin of a leaf.
  void note(const LaneEvent& event) {
    for (auto& [kind, time] : times_) {
      if (kind != event.kind) continue;
      add_to(time, event.dur);
      return;
    }
    times_.emplace_back(event.kind, event.dur);
  }

  BinnedWindow window_;
  std::vector<Found>* out_;
  Found open_;
  std::int64_t bin_ = 0;
  std::vector<std::pair<std::uint32_t, std::int64_t>> times_;
};

void LaneReader::visit(const LaneNode& node, Bins& bins) const {
  if (!bins.touches(node)) return;
  if (bins.fits(node.level)) {
    bins.add(node);
  } else if (node.is_leaf()) {
    each_event(*files_, node,
               [&](const LaneEvent& event, std::uint64_t row) { bins.add(event, row); });
    bins.end_bin();
  } else {
    visit(files_->node(node.left), bins);  // as deep as there are levels
    visit(files_->node(node.right), bins);
  }
}

void LaneReader::boxes(const BinnedWindow& window, std::vector<Found>& out) const {
  if (root_.node == LaneNode::kNone) return;
  const std::size_t first = out.size();
  Bins bins(window, out);
  Placed reaching;
  if (before(window.window.from, reaching) && reaching.event.end() > window.window.from)
    bins.put_event(reaching.event, reaching.row);
  visit(files_->node(root_.node), bins);
  bins.widen(first);
}

bool LaneReader::before(std::int64_t ts, Placed& found) const {
  if (root_.node == LaneNode::kNone) return false;
  const LaneNode* node = &files_->node(root_.node);
  if (node->begin >= ts) return false;
  while (!node->is_leaf()) {
    const LaneNode& right = files_->node(node->right);
    node = right.begin < ts ? &right : &files_->node(node->left);
  }
  each_event(*files_, *node, [&](const LaneEvent& event, std::uint64_t row) {
    if (event.ts < ts) found = {event, row};
  });
  return true;
}

LaneEvent LaneReader::event(std::uint64_t row) const {
  const LaneNode* node = &files_->node(root_.node);
  while (!node->is_leaf()) {
    const LaneNode& right = files_->node(node->right);
    node = right.row <= row ? &right : &files_->node(node->left);
  }
  LaneEvent found;
  each_event(*files_, *node, [&](const LaneEvent& event, std::uint64_t at) {
    if (at == row) found = event;
  });
  return found;
}

LaneCursor::LaneCursor(const LaneFiles& files, const LaneRoot& root, std::int64_t from)
    : files_(&files) {
  if (root.node == LaneNode::kNone) return;
  LaneReader::Placed reaching;
  const bool reaches =
      LaneReader(files, root).before(from, reaching) && reaching.event.end() > from;
  const std::int64_t first = reaches ? reaching.event.ts : from;
  open_.push_back(root.node);
  // Down to the leaf that holds the first one, or the last that begins before it.
  while (!files_->node(open_.back()).is_leaf()) {
    const LaneNode& node = files_->node(open_.back());
    open_.pop_back();
    if (files_->node(node.right).begin > first) open_.push_back(node.right);
    open_.push_back(files_->node(node.right).begin > first ? node.left : node.right);
  }
  load_leaf();
  while (!at_end() && event().ts < from && event().end() <= from) next();
}

void LaneCursor::load_leaf() {
  leaf_.clear();
  at_ = 0;
  while (!open_.empty()) {
    const LaneNode& node = files_->node(open_.back());
    open_.pop_back();
    if (!node.is_leaf()) {
      open_.push_back(node.right);
      open_.push_back(node.left);
      continue;
    }
    each_event(*files_, node,
               [&](const LaneEvent& event, std::uint64_t) { leaf_.push_back(event); });
    return;
  }
}

void LaneCursor::next() {
  if (++at_ == leaf_.size()) load_leaf();
}

}  // namespace fathom::analysis
