// SPDX-License-Identifier: MIT
// What the page draws: tracks, boxes over time, one event, flame trees, heat maps.
//
//   GET …/tracks     the lines of the timeline
//   GET …/timeline   boxes and counters of a window, from an index that is made in the background
//   GET …/event      everything about one box
//   GET …/flame      a tree of calls or samples, by a weight
//   GET …/heatmap    who moved how much when
//   GET …/offsets    where in a file
#include <algorithm>
#include <charconv>
#include <cmath>

#include "analysis/canvas/canvas.h"
#include "analysis/canvas/coarse.h"
#include "base/text.h"
#include "serve/canvas_json.h"
#include "serve/canvas_shelf.h"
#include "serve/open_recordings.h"
#include "serve/routes.h"

namespace fathom::serve {
namespace {

using namespace analysis;

constexpr std::int64_t kWidest = 16'384;  // pixels
constexpr std::size_t kMostTracksAsked = 512;
constexpr std::int64_t kUsualWidth = 1000;

// A parameter of the request; `usual` where it has none. kInvalid for what is no number.
Result<std::int64_t> number_of(const Request& request, const std::string& name,
                               std::int64_t usual) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return usual;
  Result<std::int64_t> number = parse_int(found->second);
  if (!number) return Error{Code::kInvalid, "'" + name + "' is no whole number", ""};
  return number;
}

std::string text_of(const Request& request, const std::string& name, const std::string& usual) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? usual : found->second;
}

Result<double> share_of(const Request& request, const std::string& name, double usual) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return usual;
  const std::string& text = found->second;
  double share = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), share);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() ||
      !(share >= 0 && share <= 1))
    return Error{Code::kInvalid, "'" + name + "' is no number between 0 and 1", ""};
  return share;
}

Result<std::vector<TrackId>> tracks_of(const Request& request) {
  std::vector<TrackId> ids;
  const std::string list = text_of(request, "tracks", "");
  if (list.empty()) return ids;
  for (const std::string_view one : split(list, ',')) {
    const Result<std::int64_t> id = parse_int(one);
    if (!id || *id < 0) return Error{Code::kInvalid, "'tracks' is no list of ids", ""};
    ids.push_back(static_cast<TrackId>(*id));
    if (ids.size() > kMostTracksAsked)
      return Error{Code::kInvalid, "more than 512 tracks at a time", "ask for those that are seen"};
  }
  return ids;
}

// An answer has no more boxes than there are events: few of them may be asked for one by one.
std::int64_t widest_of(const Canvas& canvas, const std::vector<TrackId>& ids) {
  constexpr std::int64_t kFewEvents = 50'000;
  std::int64_t events = 0;
  for (const TrackId id : ids) {
    if (const Track* track = canvas.find(id)) events += track->events;
  }
  return events <= kFewEvents ? kWholeTime : kWidest;
}

class CanvasRoutes {
 public:
  explicit CanvasRoutes(OpenRecordings& recordings)
      : recordings_(&recordings), shelf_(std::make_shared<CanvasShelf>()) {}

  Response tracks(Request& request) const {
    const Result<RecordingLease> lease = recordings_->lease(request);
    if (!lease) return refusal(lease.error());
    const ShelvedCanvas shelved = find(*lease);
    if (shelved.failed) return refusal(*shelved.failed);
    if (!shelved.canvas) {
      const Result<Tracks> coarse = coarse_tracks(lease->store());
      return coarse ? json_response(tracks_json(coarse->tracks, {.building = shelved.building}))
                    : lease->refused(coarse.error());
    }
    return json_response(tracks_json(shelved.canvas->tracks().tracks, notes_of(shelved)));
  }

  Response timeline(Request& request) const {
    const Result<RecordingLease> lease = recordings_->lease(request);
    if (!lease) return refusal(lease.error());
    const ShelvedCanvas shelved = find(*lease);
    if (shelved.failed) return refusal(*shelved.failed);
    Result<std::string> text = timeline_of(request, *lease, shelved);
    return text ? json_response(std::move(*text)) : lease->refused(text.error());
  }

  Response event(Request& request) const {
    const Result<RecordingLease> lease = recordings_->lease(request);
    if (!lease) return refusal(lease.error());
    const ShelvedCanvas shelved = find(*lease);
    if (shelved.failed) return refusal(*shelved.failed);
    if (!shelved.canvas) return still_building();
    const Result<std::int64_t> row = number_of(request, "row", -1);
    if (!row) return refusal(row.error());
    const Result<EventDetails> found = event_details(lease->store(), *shelved.canvas, *row);
    return found ? json_response(event_json(*found)) : lease->refused(found.error());
  }

  Response flame(Request& request) const {
    FlameOptions options;
    options.weight = text_of(request, "weight", "time");
    options.invert = text_of(request, "invert", "0") == "1";
    const Result<double> least = share_of(request, "min", options.least);
    if (!least) return refusal(least.error());
    options.least = *least;
    const Result<RowFilter> filter = selection_of(request);
    if (!filter) return refusal(filter.error());
    const bool with_start = text_of(request, "order", "tree") == "time";
    if (!is_flame_of_calls(options.weight)) return sampled_flame(request, options, with_start);
    const Result<RecordingLease> lease = recordings_->lease(request);
    if (!lease) return refusal(lease.error());
    const ShelvedCanvas shelved = find(*lease);
    if (shelved.failed) return refusal(*shelved.failed);
    if (!shelved.canvas) return still_building();
    const Result<Flame> found =
        flame_of_calls(*shelved.canvas, options, calls_left(lease->recording(), *filter),
                       [&](double) { return !lease->ended(); });
    return found ? json_response(flame_json(*found, with_start)) : lease->refused(found.error());
  }

  Response heatmap(Request& request) const {
    HeatOptions options;
    options.rows = text_of(request, "rows", options.rows);
    options.what = text_of(request, "what", options.what);
    options.category = text_of(request, "category", options.category);
    const Result<std::int64_t> bins = number_of(request, "bins", options.bins);
    if (!bins) return refusal(bins.error());
    const Result<std::int64_t> top = number_of(request, "top", options.top);
    if (!top) return refusal(top.error());
    options.bins = *bins;
    options.top = *top;
    const Result<RecordingLease> lease = lease_part(request);
    if (!lease) return refusal(lease.error());
    const Result<HeatMap> map = heat_map(lease->store(), options);
    return map ? json_response(heat_json(*map)) : lease->refused(map.error());
  }

  Response offsets(Request& request) const {
    OffsetOptions options;
    options.file = text_of(request, "file", "");
    const Result<std::int64_t> bins = number_of(request, "bins", options.bins);
    if (!bins) return refusal(bins.error());
    const Result<std::int64_t> places = number_of(request, "offset_bins", options.offset_bins);
    if (!places) return refusal(places.error());
    options.bins = *bins;
    options.offset_bins = *places;
    const Result<RecordingLease> lease = lease_part(request);
    if (!lease) return refusal(lease.error());
    const Result<OffsetMap> map = offset_map(lease->store(), options);
    return map ? json_response(offsets_json(*map)) : lease->refused(map.error());
  }

 private:
  ShelvedCanvas find(const RecordingLease& lease) const {
    return shelf_->get(lease.recording(), lease.revision());
  }

  // Where only a part is shown, its index has no other names.
  static RowFilter calls_left(const KnownRecording& recording, RowFilter asked) {
    if (!recording.part.any()) return asked;
    RowFilter left = recording.part;
    left.names.clear();
    left.condition.clear();
    return left;
  }

  static CanvasNotes notes_of(const ShelvedCanvas& shelved) {
    return {.building = shelved.building, .losses = &shelved.canvas->losses()};
  }

  static Response still_building() { return refusal(503, kIndexIsBeingMade); }

  static Result<std::string> timeline_of(const Request& request, const RecordingLease& lease,
                                         const ShelvedCanvas& shelved) {
    FATHOM_ASSIGN(const std::int64_t wall, lease.store().wall_ns());
    FATHOM_ASSIGN(const std::int64_t from, number_of(request, "from", 0));
    FATHOM_ASSIGN(const std::int64_t to, number_of(request, "to", wall));
    FATHOM_ASSIGN(std::int64_t width, number_of(request, "width", kUsualWidth));
    FATHOM_ASSIGN(const std::vector<TrackId> ids, tracks_of(request));
    width = std::clamp<std::int64_t>(width, 1,
                                     shelved.canvas ? widest_of(*shelved.canvas, ids) : kWidest);
    const Window window{from, to};
    if (!shelved.canvas) {
      FATHOM_ASSIGN(const Boxes coarse, coarse_boxes(lease.store(), window, width, ids));
      return timeline_json(coarse, {}, nullptr, {.building = shelved.building});
    }
    const Boxes boxes = shelved.canvas->boxes(window, width, ids);
    std::vector<const Track*> counters;
    for (const TrackId id : ids) {
      const Track* track = shelved.canvas->find(id);
      if (track != nullptr && track->kind == TrackKind::kCounter) counters.push_back(track);
    }
    FATHOM_ASSIGN(const std::vector<CounterLine> lines,
                  counter_lines(lease.store(), counters, window, width));
    if (text_of(request, "flows", "0") != "1")
      return timeline_json(boxes, lines, nullptr, notes_of(shelved));
    FATHOM_ASSIGN(const Flows flows, flows_in(lease.store(), boxes.window));
    return timeline_json(boxes, lines, &flows, notes_of(shelved));
  }

  Response sampled_flame(Request& request, const FlameOptions& options, bool with_start) const {
    const Result<RecordingLease> lease = lease_part(request);
    if (!lease) return refusal(lease.error());
    const Result<Flame> found = flame_of_samples(lease->store(), options);
    return found ? json_response(flame_json(*found, with_start)) : lease->refused(found.error());
  }

  Result<RecordingLease> lease_part(Request& request) const {
    FATHOM_ASSIGN(const RowFilter filter, selection_of(request));
    return recordings_->lease_part(request, text_of(request, "recording", ""), filter);
  }

  OpenRecordings* recordings_;
  std::shared_ptr<CanvasShelf> shelf_;
};

}  // namespace

void add_canvas_routes(Router& router, OpenRecordings& recordings) {
  const CanvasRoutes routes(recordings);
  const auto add = [&](std::string_view path, Response (CanvasRoutes::*answer)(Request&) const) {
    router.add({"GET", path, Role::kRead, [=](Request& r) { return (routes.*answer)(r); }});
  };
  add("/api/v1/tracks", &CanvasRoutes::tracks);
  add("/api/v1/timeline", &CanvasRoutes::timeline);
  add("/api/v1/event", &CanvasRoutes::event);
  add("/api/v1/flame", &CanvasRoutes::flame);
  add("/api/v1/heatmap", &CanvasRoutes::heatmap);
  add("/api/v1/offsets", &CanvasRoutes::offsets);
}

}  // namespace fathom::serve
