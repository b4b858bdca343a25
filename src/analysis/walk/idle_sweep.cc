// SPDX-License-Identifier: MIT
// Sweeps gaps of a device and frames of a host thread together. What the thread was in while the
// device waited is the cause of the gap.
#include "analysis/walk/idle_sweep.h"

#include <algorithm>

#include "analysis/walk/overlap_pass.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {

std::string_view name_of(Idle cause) {
  static constexpr std::string_view kNames[] = {
      "busy",    "synchronisation", "driver", "data loading", "I/O",
      "waiting", "system calls",    "Python", "regions",      "nothing recorded",
      "launch",  "start",           "queued", "unknown"};
  return kNames[static_cast<std::size_t>(cause)];
}

Idle cause_of(const WalkKind& kind) {
  const std::string layer = kind.layer.value_or("");
  const std::string category = kind.category.value_or("");
  if (layer == "cuda") {
    const bool waits =
        category == "sync" || kind.name.value_or("").find("ynchronize") != std::string::npos;
    return waits ? Idle::kSync : Idle::kDriver;
  }
  if (work_kind_of(kind) == WorkKind::kRegionIo) return Idle::kData;
  if (trace::is_io(layer)) return work_kind_of(kind) == WorkKind::kIo ? Idle::kIo : Idle::kWait;
  if (layer == "python") return Idle::kPython;
  return trace::is_kernel(layer) ? Idle::kSystem : Idle::kRegion;
}

void IdleSweep::Time::add(std::int64_t begin, std::int64_t stretch) {
  total += stretch;
  stretches++;
  // Of several as long, the first: the order in which they come is that of threads.
  if (stretch > longest || (stretch == longest && begin < longest_at)) longest_at = begin;
  longest = std::max(longest, stretch);
}

void IdleSweep::add(const Key& key, std::int64_t begin, std::int64_t stretch) {
  if (stretch > 0) times_[key].add(begin, stretch);
}

void IdleSweep::take(const IdlePiece& piece) {
  if (piece.thread != thread_) {
    finish();
    thread_ = piece.thread;
  }
  advance(piece.ts);
  if ((piece.what & IdlePiece::kGap) != 0) {
    gaps_.push_back({piece.end, piece.what & ~IdlePiece::kGap, {}});
    return;
  }
  const bool outer = !frames_.empty() && frames_.back().loads_data;
  frames_.push_back({piece.end, piece.what, outer || causes_[piece.what] == Idle::kData});
}

void IdleSweep::finish() {
  std::int64_t last = now_;
  for (const Gap& gap : gaps_) last = std::max(last, gap.end);
  advance(last);
  frames_.clear();
  now_ = 0;
}

// From one end of something to the next.
void IdleSweep::advance(std::int64_t until) {
  for (bool there = false; !there;) {
    std::int64_t next = until;
    for (const Gap& gap : gaps_) next = std::min(next, gap.end);
    if (!frames_.empty()) next = std::min(next, frames_.back().end);
    fill_gaps(next);
    there = next >= until;
    while (!frames_.empty() && frames_.back().end <= next) frames_.pop_back();
    std::erase_if(gaps_, [&](Gap& gap) {
      if (gap.end > next) return false;
      close(gap);
      return true;
    });
  }
}

void IdleSweep::fill_gaps(std::int64_t until) {
  for (Gap& gap : gaps_) {
    if (until <= now_) break;
    const Key key = key_of(gap.device);
    if (gap.in && (*gap.in < key || key < *gap.in)) close(gap);
    if (!gap.in) gap.since = now_;
    gap.in = key;
    gap.stretch += until - now_;
  }
  now_ = std::max(now_, until);
}

void IdleSweep::close(Gap& gap) {
  if (gap.in) add(*gap.in, gap.since, gap.stretch);
  gap.in.reset();
  gap.stretch = 0;
}

IdleSweep::Key IdleSweep::key_of(std::uint32_t device) const {
  if (frames_.empty()) return {device, Idle::kNothing, {}};
  const Frame& frame = frames_.back();
  const Idle own = causes_[frame.kind];
  const bool driver = own == Idle::kSync || own == Idle::kDriver;
  return {device, frame.loads_data && !driver ? Idle::kData : own, frame.kind};
}

}  // namespace fathom::analysis
