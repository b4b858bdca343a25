// SPDX-License-Identifier: MIT
// Joins spans that lie near each other when there are too many, and doubles the distance until half
// of them are left. `covered` remembers how much of a joined span is real.
#include "trace/rows/coverage.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fathom::trace {
namespace {

constexpr std::int64_t kFirstGapNs = 64;

std::int64_t length(const Coverage::Span& span) { return span.end - span.begin; }

double density(const Coverage::Span& span) {
  return length(span) == 0 ? 0
                           : static_cast<double>(span.covered) / static_cast<double>(length(span));
}

// The span from the first begin to the last end. What both cover in common counts once.
Coverage::Span joined(const Coverage::Span& a, const Coverage::Span& b) {
  const std::int64_t common = std::min(a.end, b.end) - std::max(a.begin, b.begin);
  const auto twice =
      static_cast<std::int64_t>(static_cast<double>(common) * density(a) * density(b));
  Coverage::Span both{std::min(a.begin, b.begin), std::max(a.end, b.end), 0};
  both.covered =
      std::clamp(a.covered + b.covered - twice, std::max(a.covered, b.covered), length(both));
  return both;
}

}  // namespace

void Coverage::append(std::int64_t begin, std::int64_t end) {
  while (!spans_.empty() && spans_.back().begin >= begin) spans_.pop_back();
  push({begin, end, end - begin});
}

void Coverage::push(const Span& span) {
  if (!spans_.empty() && span.begin - spans_.back().end <= gap_) {
    Span& last = spans_.back();
    if (span.begin < last.end) {
      last = joined(last, span);
    } else {  // nothing in common, as it nearly always is
      last.end = span.end;
      last.covered += span.covered;
    }
    return;
  }
  if (spans_.size() >= kMost) thin_out();
  spans_.push_back(span);
}

// Joins the nearest until half are left, so that it is done seldom.
void Coverage::thin_out() {
  while (spans_.size() > kMost / 2) {
    gap_ = std::max(kFirstGapNs, gap_ * 2);
    std::vector<Span> all = std::exchange(spans_, {});
    for (const Span& span : all) push(span);
  }
}

void Coverage::add(const Coverage& other) {
  if (other.spans_.empty()) return;
  gap_ = std::max(gap_, other.gap_);
  // What lies before the other's first is settled; runs come about in order, so this is short.
  const auto first = std::ranges::lower_bound(spans_, other.spans_.front().begin, {}, &Span::end);
  std::vector<Span> mine(first, spans_.end());
  spans_.erase(first, spans_.end());
  std::vector<Span> both;
  both.reserve(mine.size() + other.spans_.size());
  std::merge(mine.begin(), mine.end(), other.spans_.begin(), other.spans_.end(),
             std::back_inserter(both),
             [](const Span& a, const Span& b) { return a.begin < b.begin; });
  for (const Span& span : both) push(span);
}

void Coverage::add(Span span) {
  Coverage one;
  one.spans_.push_back(span);
  add(one);
}

std::int64_t Coverage::total() const {
  std::int64_t sum = 0;
  for (const Span& span : spans_) sum += span.covered;
  return sum;
}

Coverage& LayerCoverage::of(std::uint32_t layer) {
  for (auto& [known, coverage] : layers_) {
    if (known == layer) return coverage;
  }
  return layers_.emplace_back(layer, Coverage()).second;
}

void LayerCoverage::add(const LayerCoverage& other) {
  for (const auto& [layer, coverage] : other.layers_) of(layer).add(coverage);
}

void LayerCoverage::add(const LayerCoverage& other, const Strings& from, Strings& to) {
  for (const auto& [layer, coverage] : other.layers_) {
    of(layer == kNoString ? kNoString : to.code(from.view(layer))).add(coverage);
  }
}

std::vector<LayerCoverage::Row> LayerCoverage::rows() const {
  std::vector<Row> rows;
  for (const auto& [layer, coverage] : layers_) {
    for (const Coverage::Span& span : coverage.spans()) rows.push_back({layer, span});
  }
  return rows;
}

}  // namespace fathom::trace
