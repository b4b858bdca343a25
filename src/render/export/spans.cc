// SPDX-License-Identifier: MIT
// Turns events into nested begins and ends with a stack for each lane; events that overlap without
// nesting get a lane of their own.
#include "render/export/spans.h"

#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace fathom::render {
namespace {

struct Span {
  std::int64_t end = 0;
  std::int64_t self = 0;
  std::int64_t depth = -1;
};

using Lane = std::vector<Span>;  // open spans, outermost first
using ThreadKey = std::tuple<std::string, std::int64_t, std::int64_t>;

// Whether an open span is over when the event begins. What ends at that very time still holds an
// event of no length that says it is deeper.
bool is_over(const Span& span, const ExportEvent& event) {
  if (span.end != event.ts || event.dur > 0) return span.end <= event.ts;
  return span.depth < 0 || event.depth.value_or(-1) <= span.depth;
}

// Events come with begin and length, listeners want begins and ends in order: an end is told when
// the next event shows that it has passed.
class Walker {
 public:
  explicit Walker(SpanListener& listener) : listener_(listener) {}

  Status add(const ExportEvent& event) {
    const ThreadKey key{std::string(event.host), event.pid.value_or(-1), event.tid.value_or(-1)};
    if (!in_thread_ || key != key_) {
      FATHOM_TRY(finish());
      key_ = key;
      in_thread_ = true;
      FATHOM_TRY(listener_.thread_begins(event));
    }
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      while (!lanes_[lane].empty() && is_over(lanes_[lane].back(), event)) FATHOM_TRY(close(lane));
    }
    const std::size_t lane = lane_for(event);
    if (!lanes_[lane].empty()) lanes_[lane].back().self -= event.dur;
    lanes_[lane].push_back({event.ts + event.dur, event.dur, event.depth.value_or(-1)});
    return listener_.begin(lane, event);
  }

  Status finish() {
    if (!in_thread_) return {};
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      while (!lanes_[lane].empty()) FATHOM_TRY(close(lane));
    }
    lanes_.clear();
    in_thread_ = false;
    return listener_.thread_ends();
  }

 private:
  // The first lane whose innermost open span holds the whole event: what reaches beyond it does not
  // nest.
  std::size_t lane_for(const ExportEvent& event) {
    std::size_t lane = 0;
    while (lane < lanes_.size() && !lanes_[lane].empty() &&
           event.ts + event.dur > lanes_[lane].back().end)
      ++lane;
    if (lane == lanes_.size()) lanes_.emplace_back();
    return lane;
  }

  Status close(std::size_t lane) {
    const Span span = lanes_[lane].back();
    lanes_[lane].pop_back();
    return listener_.end(lane, span.end, span.self);
  }

  SpanListener& listener_;
  ThreadKey key_;
  bool in_thread_ = false;
  std::vector<Lane> lanes_;
};

}  // namespace

Status walk_spans(EventStream& from, SpanListener& listener) {
  Walker walker(listener);
  FATHOM_TRY(from.events(EventOrder::kByThread,
                         [&](const ExportEvent& event) { return walker.add(event); }));
  return walker.finish();
}

}  // namespace fathom::render
