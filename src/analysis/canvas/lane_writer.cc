// SPDX-License-Identifier: MIT
// Parts lie side by side, the last one open. An event that begins far enough behind the last
// completes all parts that lie closer together than that: they are joined in pairs, as long as they
// fit into a leaf without being written.
#include <algorithm>
#include <bit>
#include <span>

#include "analysis/canvas/lane_tree.h"
#include "base/sum.h"

namespace fathom::analysis {
namespace {

constexpr std::uint32_t kMostOfLeaf = 64;

// The level of the smallest stretch that holds both.
unsigned level_of(std::int64_t a, std::int64_t b) {
  constexpr auto kBias = std::uint64_t{1} << 62U;  // no stretch ends at 0
  return static_cast<unsigned>(std::bit_width((static_cast<std::uint64_t>(a) + kBias) ^
                                              (static_cast<std::uint64_t>(b) + kBias)));
}

void put_number(std::vector<std::byte>& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7U) out.push_back(static_cast<std::byte>(number | 0x80U));
  out.push_back(static_cast<std::byte>(number));
}

void add_time(std::vector<std::pair<std::uint32_t, std::int64_t>>& times, std::uint32_t kind,
              std::int64_t time) {
  const auto at =
      std::ranges::lower_bound(times, kind, {}, [](const auto& one) { return one.first; });
  if (at != times.end() && at->first == kind) {
    add_to(at->second, time);
  } else {
    times.insert(at, {kind, time});
  }
}

std::vector<std::pair<std::uint32_t, std::int64_t>> sum_of(
    const std::vector<std::pair<std::uint32_t, std::int64_t>>& a,
    const std::vector<std::pair<std::uint32_t, std::int64_t>>& b) {
  std::vector<std::pair<std::uint32_t, std::int64_t>> sum;
  sum.reserve(a.size() + b.size());
  auto from = b.begin();
  for (const auto& one : a) {
    for (; from != b.end() && from->first < one.first; ++from) sum.push_back(*from);
    sum.push_back(one);
    if (from != b.end() && from->first == one.first) add_to(sum.back().second, (from++)->second);
  }
  sum.insert(sum.end(), from, b.end());
  return sum;
}

// The first of those with most time.
std::uint32_t most_of(const std::vector<std::pair<std::uint32_t, std::int64_t>>& times) {
  const auto most = std::ranges::max_element(times, {}, [](const auto& one) { return one.second; });
  return most == times.end() ? 0 : most->first;
}

bool is_large(std::int64_t dur, unsigned level) { return dur >> level != 0; }

// `event` behind what the node has already.
void add_small(LaneNode& node, const LaneEvent& event) {
  node.small++;
  node.small_end = event.end();
  add_to(node.busy, event.dur);
}

}  // namespace

void LaneWriter::add(const LaneEvent& event, LaneFiles& files) {
  const unsigned split = count_ == 0 ? 0 : level_of(event.ts, last_ts_);
  while (parts_.size() > 1 && parts_.back().split < split) merge_last_two(files);
  Part* const last = parts_.empty() ? nullptr : &parts_.back();
  if (last != nullptr && split == 0 && last->level == 0 && last->waiting > 0 &&
      last->waiting < kMostOfLeaf) {
    last->waiting++;
  } else {
    parts_.push_back({.split = split, .row = count_, .waiting = 1});
  }
  events_.push_back(event);
  last_ts_ = event.ts;
  end_ = event.end();
  count_++;
}

void LaneWriter::merge_last_two(LaneFiles& files) {
  Part right = std::move(parts_.back());
  parts_.pop_back();
  Part& left = parts_.back();
  const unsigned level = right.split;
  if (left.waiting > 0 && right.waiting > 0 && left.waiting + right.waiting <= kMostOfLeaf) {
    left.waiting += right.waiting;
    left.level = level;
    return;
  }
  if (right.waiting > 0) write_leaf(right, files);
  if (left.waiting > 0) write_leaf(left, files);
  join(left, right, level, files);
}

// Its events are the last of events_.
void LaneWriter::write_leaf(Part& part, LaneFiles& files) {
  const auto events = std::span(events_).last(part.waiting);
  LaneNode& node = part.node;
  node = {.begin = events.front().ts, .row = part.row, .level = part.level};
  std::vector<std::byte> bytes;
  std::int64_t end = events.front().ts;
  for (const LaneEvent& event : events) {
    put_number(bytes, static_cast<std::uint64_t>(event.ts - end));
    put_number(bytes, static_cast<std::uint64_t>(event.dur));
    put_number(bytes, std::uint64_t{event.kind} << 1U | (event.bytes > 0 ? 1U : 0U));
    if (event.bytes > 0) put_number(bytes, static_cast<std::uint64_t>(event.bytes));
    end = event.end();
    if (is_large(event.dur, part.level)) {
      node.large_ts = event.ts;
      node.large_dur = event.dur;
      node.large_kind = event.kind;
    } else {
      add_small(node, event);
      add_time(part.times, event.kind, event.dur);
    }
  }
  node.block = files.events.append(bytes);
  node.kind = most_of(part.times);
  events_.resize(events_.size() - part.waiting);
  part.waiting = 0;
}

void LaneWriter::put(Part& part, LaneFiles& files) {
  if (part.number != LaneNode::kNone) return;
  part.number = static_cast<std::uint32_t>(
      files.nodes.append(std::as_bytes(std::span(&part.node, 1))) / sizeof(LaneNode));
}

void LaneWriter::join(Part& left, Part& right, unsigned level, LaneFiles& files) {
  put(left, files);
  put(right, files);
  LaneNode node = left.node;
  node.left = left.number;
  node.right = right.number;
  node.level = level;
  node.block = 0;
  left.times = sum_of(left.times, right.times);
  if (left.node.has_large()) {  // shorter than this stretch, which goes on behind it
    add_small(node, left.node.large());
    add_time(left.times, left.node.large_kind, left.node.large_dur);
  }
  node.small += right.node.small;
  if (right.node.small > 0) node.small_end = right.node.small_end;
  add_to(node.busy, right.node.busy);
  node.large_dur = -1;
  if (right.node.has_large()) {
    if (is_large(right.node.large_dur, level)) {
      node.large_ts = right.node.large_ts;
      node.large_dur = right.node.large_dur;
      node.large_kind = right.node.large_kind;
    } else {
      add_small(node, right.node.large());
      add_time(left.times, right.node.large_kind, right.node.large_dur);
    }
  }
  node.kind = most_of(left.times);
  left.node = node;
  left.level = level;
  left.number = LaneNode::kNone;
}

void LaneWriter::flush(LaneFiles& files) {
  for (std::size_t i = parts_.size(); i-- > 0;) {
    if (parts_[i].waiting > 0) write_leaf(parts_[i], files);
  }
  std::vector<LaneEvent>().swap(events_);
}

LaneRoot LaneWriter::finish(LaneFiles& files) {
  if (parts_.empty()) return {};
  while (parts_.size() > 1) merge_last_two(files);
  Part& root = parts_.back();
  if (root.waiting > 0) write_leaf(root, files);
  put(root, files);
  const LaneRoot found{root.number, count_};
  std::vector<Part>().swap(parts_);
  std::vector<LaneEvent>().swap(events_);
  return found;
}

}  // namespace fathom::analysis
