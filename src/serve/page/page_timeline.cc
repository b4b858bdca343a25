// SPDX-License-Identifier: MIT
// Asks for windows over the whole run at a falling width until all tracks fit into the document:
// first counters, then boxes. Tracks are asked in groups, which bounds each answer.
#include "serve/page/page_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/canvas/boxes.h"

namespace fathom::serve {
namespace {

// As /timeline answers: at any width of few events, else at this one.
constexpr std::int64_t kFewEvents = 50'000;
constexpr std::int64_t kWidest = 16'384;
constexpr std::int64_t kSingleEvents = std::int64_t{1} << 53U;

constexpr std::int64_t kLinesAtOnce = 24;  // of boxes: an answer is no larger than some MB
constexpr std::size_t kMostOfCounters = 200'000;

}  // namespace

void PageTimeline::take(const InsideSite::Answer& tracks) {
  const nlohmann::json all = nlohmann::json::parse(tracks.text, nullptr, /*exceptions=*/false);
  if (tracks.status != 200 || !all.is_object()) return;
  for (const nlohmann::json& track : all["tracks"]) {
    const auto events = track.value("events", std::int64_t{0});
    from_ = std::min(from_, track.value("from", std::int64_t{0}));
    if (events == 0) continue;
    events_ += events;
    tracks_.push_back({track.value("id", std::uint64_t{0}),
                       std::max<std::int64_t>(track.value("depth", std::int64_t{1}), 1),
                       track.value("kind", "") == "counter"});
  }
}

std::size_t PageTimeline::count(bool of_counters) const {
  return static_cast<std::size_t>(
      std::ranges::count(tracks_, of_counters, &TrackFacts::is_counter));
}

// Those of the next tracks that one answer can have.
std::string PageTimeline::next_ids(bool of_counters, std::size_t& at, std::size_t& taken) const {
  std::string ids;
  for (std::int64_t lines = 0; at < tracks_.size() && lines < kLinesAtOnce; ++at) {
    if (tracks_[at].is_counter != of_counters) continue;
    ids += (ids.empty() ? "" : ",") + std::to_string(tracks_[at].id);
    lines += tracks_[at].lines;
    ++taken;
  }
  return ids;
}

Result<PageTimeline::Windows> PageTimeline::windows(bool of_counters, std::int64_t width,
                                                    std::size_t most) {
  Windows out;
  for (std::size_t at = 0; at < tracks_.size();) {
    std::size_t taken = 0;
    const std::string ids = next_ids(of_counters, at, taken);
    if (taken == 0) break;
    FATHOM_ASSIGN(InsideSite::Answer answer,
                  site_->get(fmt::format("/timeline?from={}&to={}&width={}&tracks={}", from_,
                                         wall_ns_, width, ids)));
    if (answer.status != 200) break;
    if (out.bytes + answer.text.size() > most) break;
    out.bytes += answer.text.size();
    out.tracks += taken;
    out.texts.push_back(std::move(answer.text));
  }
  return out;
}

Result<PageTimeline::Windows> PageTimeline::counters() {
  Windows found;
  for (const std::int64_t width : {1024, 256, 64}) {
    FATHOM_ASSIGN(found, windows(true, width, kMostOfCounters));
    if (found.tracks == count(true)) break;
  }
  return found;
}

Result<PageTimeline::Windows> PageTimeline::boxes(std::size_t most) {
  Windows found;
  for (const std::int64_t width : {kSingleEvents, kWidest, kWidest / 2, kWidest / 4, kWidest / 8,
                                   kWidest / 16, kWidest / 64}) {
    if (width == kSingleEvents && events_ > kFewEvents) continue;
    level_ = analysis::binned({from_, wall_ns_}, width).level;
    FATHOM_ASSIGN(found, windows(false, width, most));
    if (found.tracks == count(false)) break;
  }
  return found;
}

Status PageTimeline::write(DataText& to, std::size_t most) {
  FATHOM_ASSIGN(const Windows lines, counters());
  FATHOM_ASSIGN(const Windows found, boxes(most - std::min(most, lines.bytes)));
  const std::size_t left_out = tracks_.size() - found.tracks - lines.tracks;
  FATHOM_TRY(to.put(fmt::format(R"({{"level":{},"left_out":{},"windows":[)", level_, left_out)));
  const char* comma = "";
  for (const Windows* some : {&found, &lines}) {
    for (const std::string& text : some->texts) {
      FATHOM_TRY(to.put(std::exchange(comma, ",")));
      FATHOM_TRY(to.put(text));
    }
  }
  return to.put("]}");
}

}  // namespace fathom::serve
