// SPDX-License-Identifier: MIT
// The index behind pictures over time: lanes of all tracks, each with the root of its tree and the
// number of its first row. Made once by two passes; answers then look at mapped trees and ask the
// database for nothing.
#include "analysis/canvas/canvas.h"

#include <algorithm>
#include <atomic>
#include <queue>
#include <unordered_map>

#include "analysis/canvas/event_pass.h"
#include "analysis/canvas/track_list.h"

namespace fathom::analysis {

namespace {

// Pages that answers looked at stay mapped for so many of them: neighbours need the same ones.
constexpr std::uint64_t kAnswersBetweenRests = 64;
// Of one answer, about: whoever asks for many tracks at once gets wider bins.
constexpr std::int64_t kMostBoxes = 2'000'000;

}  // namespace

// Complete after make(), and read-only from then on.
class Canvas::State {
 public:
  Status make(Store& store, const CanvasProgress& progress) {
    FATHOM_TRY(read_events(store, rows_, progress));
    FATHOM_TRY(read_samples(store, rows_, progress));
    lanes_ = rows_.book.finish();
    FATHOM_TRY(rows_.book.files().seal());
    number_lanes();
    FATHOM_ASSIGN(tracks_, list_tracks(store, rows_.book.tracks(), depths_));
    tracks_.left_out += rows_.book.tracks_left_out();
    for (const Track& track : tracks_.tracks) by_id_.emplace(track.id, &track);
    const auto lost = [&](const char* reason, std::int64_t count) {
      if (count > 0) losses_.push_back({reason, count});
    };
    lost("tracks beyond what a picture can have", tracks_.left_out);
    lost("events with a time, depth or track that cannot be drawn", rows_.book.events_left_out());
    lost("names beyond what a picture can have", rows_.kinds.unnamed());
    return {};
  }

  [[nodiscard]] const Tracks& tracks() const { return tracks_; }
  [[nodiscard]] const std::vector<CanvasLoss>& losses() const { return losses_; }
  [[nodiscard]] const Track* find(TrackId id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
  }

  [[nodiscard]] Boxes boxes(const Window& window, std::int64_t width,
                            std::span<const TrackId> wanted) const {
    std::size_t lanes = 1;
    for (const TrackId id : wanted) {
      const auto range = lanes_of_.find(id);
      if (range != lanes_of_.end()) lanes += range->second.second - range->second.first;
    }
    const BinnedWindow bins =
        binned(window, std::min(width, kMostBoxes / static_cast<std::int64_t>(lanes) + 1));
    Boxes out{.window = bins.window, .names = {}, .tracks = {}};
    Names names(*this, out.names);
    std::vector<LaneReader::Found> found;
    for (const TrackId id : wanted) {
      const auto range = lanes_of_.find(id);
      if (range == lanes_of_.end()) continue;
      TrackBoxes track{.track = id, .depth = {}, .boxes = {}};
      for (std::size_t i = range->second.first; i < range->second.second; ++i) {
        found.clear();
        LaneReader(files(), lanes_[i].root).boxes(bins, found);
        for (const LaneReader::Found& box : found) {
          track.depth.push_back(lanes_[i].depth);
          track.boxes.push_back(names.box(box, first_rows_[i]));
        }
      }
      out.tracks.push_back(std::move(track));
    }
    if (++answers_ % kAnswersBetweenRests == 0) files().rest();
    return out;
  }

  [[nodiscard]] Result<PlacedEvent> event(std::int64_t row) const {
    if (row < 0 || lanes_.empty() || static_cast<std::uint64_t>(row) >= first_rows_.back())
      return Error{Code::kNotFound, "there is no such event", "ask for the timeline again"};
    const auto next = std::ranges::upper_bound(first_rows_, static_cast<std::uint64_t>(row));
    const auto lane = static_cast<std::size_t>(next - first_rows_.begin()) - 1;
    const std::uint64_t at = static_cast<std::uint64_t>(row) - first_rows_[lane];
    return placed(lane, LaneReader(files(), lanes_[lane].root).event(at), at);
  }

  [[nodiscard]] std::vector<PlacedEvent> around(const PlacedEvent& inner) const {
    std::vector<PlacedEvent> out;
    const auto range = lanes_of_.find(inner.track->id);
    if (range == lanes_of_.end()) return out;
    for (std::size_t i = range->second.first; i < range->second.second; ++i) {
      if (lanes_[i].depth >= inner.depth) break;
      LaneReader::Placed found;
      if (!LaneReader(files(), lanes_[i].root).before(inner.ts + 1, found)) continue;
      if (found.event.end() >= inner.ts + inner.dur)
        out.push_back(placed(i, found.event, found.row));
    }
    return out;
  }

  [[nodiscard]] const Kinds& kinds() const { return rows_.kinds; }

  // Lanes side by side: of those that come next, the earliest, and of these the outermost.
  Status each_event(TrackId track, const Window& window,
                    const std::function<Status(const CanvasEvent&)>& use) const {
    const auto range = lanes_of_.find(track);
    if (range == lanes_of_.end()) return {};
    std::vector<LaneCursor> cursors;
    using Next = std::pair<std::int64_t, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    for (std::size_t i = range->second.first; i < range->second.second; ++i) {
      cursors.emplace_back(files(), lanes_[i].root, window.from);
      if (!cursors.back().at_end()) next.emplace(cursors.back().event().ts, cursors.size() - 1);
    }
    while (!next.empty() && next.top().first < window.to) {
      const std::size_t lane = next.top().second;
      next.pop();
      LaneCursor& cursor = cursors[lane];
      const LaneEvent& event = cursor.event();
      FATHOM_TRY(use({event.ts, event.dur, event.bytes, lanes_[range->second.first + lane].depth,
                      event.kind}));
      cursor.next();
      if (!cursor.at_end()) next.emplace(cursor.event().ts, lane);
    }
    files().rest();
    return {};
  }

 private:
  // Numbers for the texts that an answer names, in the order in which they come.
  class Names {
   public:
    Names(const State& state, std::vector<std::string>& out) : state_(state), out_(out) {}
    Box box(const LaneReader::Found& found, std::uint64_t first_row) {
      if (!known_ || found.kind != last_) {  // neighbours are often of one kind
        const Kinds::Kind& kind = state_.rows_.kinds.kind(found.kind);
        known_ = true;
        last_ = found.kind;
        name_ = number(kind.name);
        layer_ = number(kind.layer);
      }
      return {.start = found.start,
              .dur = found.dur,
              .busy = found.busy,
              .name = name_,
              .layer = layer_,
              .count = static_cast<std::int64_t>(found.count),
              .row = found.count == 1 ? static_cast<std::int64_t>(first_row + found.row) : -1};
    }

   private:
    std::uint32_t number(std::uint32_t text) {
      const auto [found, fresh] =
          numbers_.try_emplace(text, static_cast<std::uint32_t>(out_.size()));
      if (fresh) out_.push_back(state_.rows_.kinds.text(text));
      return found->second;
    }
    const State& state_;
    std::vector<std::string>& out_;
    std::unordered_map<std::uint32_t, std::uint32_t> numbers_;
    bool known_ = false;
    std::uint32_t last_ = 0, name_ = 0, layer_ = 0;
  };

  [[nodiscard]] const LaneFiles& files() const { return rows_.book.files(); }

  [[nodiscard]] PlacedEvent placed(std::size_t lane, const LaneEvent& event,
                                   std::uint64_t row) const {
    const Kinds::Kind& kind = rows_.kinds.kind(event.kind);
    return {.row = static_cast<std::int64_t>(first_rows_[lane] + row),
            .track = find(track_id(rows_.book.tracks()[lanes_[lane].track].key)),
            .depth = lanes_[lane].depth,
            .ts = event.ts,
            .dur = event.dur,
            .layer = rows_.kinds.text(kind.layer),
            .name = rows_.kinds.text(kind.name)};
  }

  void number_lanes() {
    const std::vector<MadeTrack>& made = rows_.book.tracks();
    depths_.resize(made.size());
    std::uint64_t row = 0;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      first_rows_.push_back(row);
      row += lanes_[i].root.events;
      std::int64_t& depth = depths_[lanes_[i].track];
      depth = std::max<std::int64_t>(depth, lanes_[i].depth + 1);
      const auto [range, fresh] =
          lanes_of_.try_emplace(track_id(made[lanes_[i].track].key), i, i + 1);
      if (!fresh) range->second.second = i + 1;
    }
    first_rows_.push_back(row);
  }

  CanvasRows rows_;
  std::vector<MadeLane> lanes_;
  std::vector<std::uint64_t> first_rows_;  // of each lane, and behind the last
  std::vector<std::int64_t> depths_;       // by track of the book
  std::unordered_map<TrackId, std::pair<std::size_t, std::size_t>> lanes_of_;
  Tracks tracks_;
  std::unordered_map<TrackId, const Track*> by_id_;
  std::vector<CanvasLoss> losses_;
  mutable std::atomic<std::uint64_t> answers_ = 0;
};

Canvas::Canvas(std::unique_ptr<State> state) : state_(std::move(state)) {}
Canvas::Canvas(Canvas&&) noexcept = default;
Canvas& Canvas::operator=(Canvas&&) noexcept = default;
Canvas::~Canvas() = default;

Result<Canvas> Canvas::make(Store& store, const CanvasProgress& progress) {
  auto state = std::make_unique<State>();
  FATHOM_TRY(state->make(store, progress));
  return Canvas(std::move(state));
}

const Tracks& Canvas::tracks() const { return state_->tracks(); }
const Track* Canvas::find(TrackId id) const { return state_->find(id); }
const std::vector<CanvasLoss>& Canvas::losses() const { return state_->losses(); }
Boxes Canvas::boxes(const Window& window, std::int64_t width,
                    std::span<const TrackId> tracks) const {
  return state_->boxes(window, width, tracks);
}
Result<PlacedEvent> Canvas::event(std::int64_t row) const { return state_->event(row); }
std::vector<PlacedEvent> Canvas::around(const PlacedEvent& event) const {
  return state_->around(event);
}

std::uint32_t Canvas::kinds() const { return state_->kinds().size(); }
CanvasKind Canvas::kind(std::uint32_t number) const {
  const Kinds& kinds = state_->kinds();
  return {kinds.text(kinds.kind(number).layer), kinds.text(kinds.kind(number).name)};
}
Status Canvas::each_event(TrackId track, const Window& window,
                          const std::function<Status(const CanvasEvent&)>& use) const {
  return state_->each_event(track, window, use);
}

}  // namespace fathom::analysis
