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
#include "analysis/canvas/sum_boxes.h"
#include "analysis/canvas/track_choice.h"
#include "base/text.h"
#include "serve/recordings/canvas_json.h"
#include "serve/recordings/canvas_shelf.h"
#include "serve/recordings/open_recordings.h"
#include "serve/recordings/question_end.h"
#include "serve/routes/routes.h"

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
  if (!number) return Error{Code::kInvalid, "'" + name + "' is not a whole number", ""};
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
    return Error{Code::kInvalid, "'" + name + "' is not a number between 0 and 1", ""};
  return share;
}

Result<std::vector<TrackId>> tracks_of(const Request& request) {
  std::vector<TrackId> ids;
  const std::string list = text_of(request, "tracks", "");
  if (list.empty()) return ids;
  for (const std::string_view one : split(list, ',')) {
    const Result<std::int64_t> id = parse_int(one);
    if (!id || *id < 0) return Error{Code::kInvalid, "'tracks' is not a list of ids", ""};
    if (std::ranges::find(ids, static_cast<TrackId>(*id)) != ids.end()) continue;
    ids.push_back(static_cast<TrackId>(*id));
    if (ids.size() > kMostTracksAsked)
      return Error{Code::kInvalid, "more than 512 tracks at a time",
                   "ask only for those that are visible"};
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

// What of a selection an index must be made with, since its boxes do not know it: columns of
// events. A time is the window, and hosts, processes and threads are tracks.
RowFilter part_of(const RowFilter& selection) {
  RowFilter part;
  part.layers = selection.layers;
  part.names = selection.names;
  part.condition = selection.condition;
  return part;
}

// What is asked of an index, while it is leased.
struct AskedCanvas {
  RowFilter selection;
  RecordingLease lease;
  ShelvedCanvas shelved;
};

class CanvasRoutes {
 public:
  explicit CanvasRoutes(OpenRecordings& recordings)
      : recordings_(&recordings), shelf_(std::make_shared<CanvasShelf>(recordings.limits())) {}

  Response tracks(Request& request) const {
    Response refused;
    const std::optional<AskedCanvas> asked = ask(request, refused);
    if (!asked) return refused;
    const ShelvedCanvas& shelved = asked->shelved;
    if (shelved.canvas)
      return json_response(tracks_json(
          chosen_tracks(shelved.canvas->tracks().tracks, asked->selection), notes_of(shelved)));
    const CanvasNotes notes{.building = shelved.building};
    if (asked->selection.any()) return json_response(tracks_json({}, notes));
    const Result<Tracks> coarse = coarse_tracks(asked->lease.store());
    return coarse ? json_response(tracks_json(coarse->tracks, notes))
                  : asked->lease.refused(coarse.error());
  }

  Response timeline(Request& request) const {
    Response refused;
    const std::optional<AskedCanvas> asked = ask(request, refused);
    if (!asked) return refused;
    Result<std::string> text = timeline_of(request, *asked);
    return text ? json_response(std::move(*text)) : asked->lease.refused(text.error());
  }

  Response event(Request& request) const {
    const Result<std::int64_t> row = number_of(request, "row", -1);
    if (!row) return refusal(row.error());
    Response refused;
    const std::optional<AskedCanvas> asked = ask(request, refused);
    if (!asked) return refused;
    if (!asked->shelved.canvas) return still_building();
    const Result<EventDetails> found =
        event_details(asked->lease.store(), *asked->shelved.canvas, *row);
    return found ? json_response(event_json(*found)) : asked->lease.refused(found.error());
  }

  Response flame(Request& request) const {
    FlameOptions options;
    options.weight = text_of(request, "weight", "time");
    options.invert = text_of(request, "invert", "0") == "1";
    options.in_time = text_of(request, "order", "tree") == "time";
    const Result<double> least = share_of(request, "min", options.least);
    if (!least) return refusal(least.error());
    options.least = *least;
    if (!is_flame_of_calls(options.weight)) return flame_of_rows(request, options);
    Response refused;
    // Layers are chosen on the way, so that one index does for all of them.
    const std::optional<AskedCanvas> asked = ask(request, refused, /*by_layer=*/false);
    if (!asked) return refused;
    if (!asked->shelved.canvas) return still_building();
    const Result<Flame> found = flame_of_calls(
        *asked->shelved.canvas, options, calls_left(asked->lease.recording(), asked->selection),
        [&](double) { return !asked->lease.ended(); });
    return found ? json_response(flame_json(*found, options.in_time))
                 : asked->lease.refused(found.error());
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
    if (!lease) return refused_lease(lease.error());
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
    if (!lease) return refused_lease(lease.error());
    const Result<OffsetMap> map = offset_map(lease->store(), options);
    return map ? json_response(offsets_json(*map)) : lease->refused(map.error());
  }

 private:
  // Where only a part is shown, its index has no other names.
  static RowFilter calls_left(const KnownRecording& recording, RowFilter asked) {
    if (!recording.part.any()) return asked;
    RowFilter left = recording.part;
    left.names.clear();
    left.condition.clear();
    return left;
  }

  // Nothing, and what to answer, where it cannot be asked.
  std::optional<AskedCanvas> ask(Request& request, Response& refused, bool by_layer = true) const {
    Result<RowFilter> selection = selection_of(request);
    if (!selection) {
      refused = refusal(selection.error());
      return std::nullopt;
    }
    Result<RecordingLease> lease = recordings_->lease(request);
    if (!lease) {
      refused = refused_lease(lease.error());
      return std::nullopt;
    }
    RowFilter part = part_of(*selection);
    if (!by_layer) part.layers.clear();
    if (const RowFilter& shown = lease->recording().part; shown.any()) {
      part = shown;
      selection->hosts = shown.hosts;
      selection->pids = shown.pids;
      selection->tids = shown.tids;
    }
    ShelvedCanvas shelved = shelf_->get({.id = lease->recording().id,
                                         .revision = lease->revision(),
                                         .path = lease->recording().path,
                                         .part = std::move(part),
                                         .grows = lease->grows()});
    if (shelved.failed) {
      refused = refused_lease(*shelved.failed);
      return std::nullopt;
    }
    return AskedCanvas{std::move(*selection), std::move(*lease), std::move(shelved)};
  }

  static CanvasNotes notes_of(const ShelvedCanvas& shelved) {
    return {.building = shelved.building, .losses = &shelved.canvas->losses()};
  }

  static Response still_building() { return refusal(503, kIndexIsBeingMade); }

  static Result<std::string> timeline_of(const Request& request, const AskedCanvas& asked) {
    Store& store = asked.lease.store();
    const ShelvedCanvas& shelved = asked.shelved;
    FATHOM_ASSIGN(const std::int64_t wall, store.wall_ns());
    FATHOM_ASSIGN(std::int64_t width, number_of(request, "width", kUsualWidth));
    FATHOM_ASSIGN(std::vector<TrackId> ids, tracks_of(request));
    width = std::clamp<std::int64_t>(width, 1,
                                     shelved.canvas ? widest_of(*shelved.canvas, ids) : kWidest);
    const Window window{asked.selection.from_ns.value_or(0), asked.selection.to_ns.value_or(wall)};
    if (!shelved.canvas) {
      RowFilter rows = asked.selection;  // the coarse picture knows times, but nothing else
      rows.from_ns.reset();
      rows.to_ns.reset();
      if (rows.any()) ids.clear();
      FATHOM_ASSIGN(const Boxes coarse, coarse_boxes(store, window, width, ids));
      return timeline_json(coarse, {}, nullptr, {.building = shelved.building});
    }
    const Chosen chosen = choose(*shelved.canvas, ids, asked.selection);
    Boxes boxes = shelved.canvas->boxes(window, width, chosen.boxes);
    FATHOM_TRY(add_sum_boxes(store, chosen.sums, window, width, boxes));
    FATHOM_ASSIGN(const std::vector<CounterLine> lines,
                  counter_lines(store, chosen.counters, window, width));
    if (text_of(request, "flows", "0") != "1")
      return timeline_json(boxes, lines, nullptr, notes_of(shelved));
    FATHOM_ASSIGN(const Flows flows, flows_in(store, boxes.window, asked.selection));
    return timeline_json(boxes, lines, &flows, notes_of(shelved));
  }

  // Tracks by where their pictures come from.
  struct Chosen {
    std::vector<TrackId> boxes;
    std::vector<const Track*> sums, counters;
  };
  static Chosen choose(const Canvas& canvas, const std::vector<TrackId>& ids,
                       const RowFilter& selection) {
    Chosen chosen;
    for (const TrackId id : ids) {
      const Track* track = canvas.find(id);
      if (track == nullptr || !is_chosen(*track, selection)) continue;
      if (track->kind == TrackKind::kCounter) {
        chosen.counters.push_back(track);
      } else if (track->is_of_sums()) {
        chosen.sums.push_back(track);
      } else {
        chosen.boxes.push_back(id);
      }
    }
    return chosen;
  }

  // Of samples, and of regions by what they counted: these are not in the index.
  Response flame_of_rows(Request& request, const FlameOptions& options) const {
    const Result<RecordingLease> lease = lease_part(request);
    if (!lease) return refused_lease(lease.error());
    const Result<Flame> found = is_flame_of_regions(options.weight)
                                    ? flame_of_regions(lease->store(), options)
                                    : flame_of_samples(lease->store(), options);
    return found ? json_response(flame_json(*found, options.in_time))
                 : lease->refused(found.error());
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
  const auto add = [&](std::string_view path, std::string_view own,
                       Response (CanvasRoutes::*answer)(Request&) const) {
    router.add({"GET",
                path,
                Role::kRead,
                [=](Request& r) { return (routes.*answer)(r); },
                {},
                parameters(own, kSelection)});
  };
  add("/api/v1/tracks", "", &CanvasRoutes::tracks);
  add("/api/v1/timeline", "width tracks flows", &CanvasRoutes::timeline);
  add("/api/v1/event", "row", &CanvasRoutes::event);
  add("/api/v1/flame", "weight order invert min", &CanvasRoutes::flame);
  add("/api/v1/heatmap", "rows what category bins top", &CanvasRoutes::heatmap);
  add("/api/v1/offsets", "file bins offset_bins", &CanvasRoutes::offsets);
}

}  // namespace fathom::serve
