// SPDX-License-Identifier: MIT
// Pictures over time as JSON for the page. Columns instead of objects: a timeline has up to a
// hundred thousand boxes, whose keys would be most of the text. Columns of whole numbers go through
// a buffer on the stack, since nearly all of a timeline's bytes are theirs. Times count from the
// window's begin, which makes them short.
#include "serve/recordings/canvas_json.h"

#include <charconv>

#include "render/json_writer.h"

namespace fathom::serve {
namespace {

using namespace analysis;
using render::JsonWriter;

void put_optional(JsonWriter& json, const char* key, const std::optional<std::int64_t>& number) {
  json.key(key);
  if (number) {
    json.value(*number);
  } else {
    json.null();
  }
}

template <class Items, class Get>
void put_column(JsonWriter& json, const char* key, const Items& items, Get get) {
  json.key(key).begin_array();
  for (const auto& item : items) json.value(get(item));
  json.end_array();
}

template <class Items>
void put_column(JsonWriter& json, const char* key, const Items& items) {
  put_column(json, key, items, [](const auto& item) { return item; });
}

template <class Rows>
void put_rows(JsonWriter& json, const char* key, const Rows& rows) {
  json.key(key).begin_array();
  for (const auto& row : rows) {
    json.begin_array();
    for (const auto& cell : row) json.value(cell);
    json.end_array();
  }
  json.end_array();
}

void put_notes(JsonWriter& json, const CanvasNotes& notes) {
  if (notes.building) json.key("building").value(*notes.building);
  if (notes.losses == nullptr || notes.losses->empty()) return;
  json.key("lost").begin_array();
  for (const CanvasLoss& loss : *notes.losses)
    json.begin_object()
        .key("reason")
        .value(loss.reason)
        .key("count")
        .value(loss.count)
        .end_object();
  json.end_array();
}

void put_track(JsonWriter& json, const Track& track) {
  json.begin_object().key("id").value(track.id).key("parent");
  if (track.parent == 0) {
    json.null();
  } else {
    json.value(track.parent);
  }
  json.key("kind").value(track_kind_name(track.kind)).key("name").value(track.name);
  json.key("host").value(track.host);
  put_optional(json, "pid", track.pid);
  put_optional(json, "tid", track.tid);
  put_optional(json, "rank", track.rank);
  json.key("from").value(track.from).key("to").value(track.to);
  json.key("events").value(track.events).key("depth").value(track.depth);
  if (!track.layer.empty()) json.key("layer").value(track.layer);
  if (!track.unit.empty()) json.key("unit").value(track.unit);
  if (track.is_of_sums()) json.key("sums").value(true);
  json.end_object();
}

// Columns of whole numbers are nearly all of a timeline: they are written without the writer's care
// for nesting, from a buffer on the stack.
class NumberColumn {
 public:
  NumberColumn(std::string& out, std::string_view key) : out_(out) {
    out_ += '"';
    out_ += key;
    out_ += "\":[";
  }
  void add(std::int64_t number) {
    if (at_ > buffer_ + sizeof buffer_ - kLongest) flush();
    at_ = std::to_chars(at_, buffer_ + sizeof buffer_, number).ptr;
    *at_++ = ',';
  }
  void end() {
    flush();
    if (out_.back() == ',') out_.pop_back();
    out_ += ']';
  }

 private:
  static constexpr std::size_t kLongest = 24;  // with the sign and the comma
  void flush() {
    out_.append(buffer_, at_);
    at_ = buffer_;
  }
  std::string& out_;
  char buffer_[4096];
  char* at_ = buffer_;
};

template <class Items, class Get>
void append_column(std::string& out, std::string_view key, const Items& items, Get get) {
  NumberColumn column(out, key);
  for (const auto& item : items) column.add(get(item));
  column.end();
}

constexpr std::size_t kBytesOfBox = 48;  // about: eight numbers

void append_boxes(std::string& out, const TrackBoxes& track, std::int64_t from) {
  out += "{\"id\":" + std::to_string(track.track) + ',';
  append_column(out, "depth", track.depth, [](std::int32_t depth) { return depth; });
  const auto column = [&](std::string_view key, auto get) {
    out += ',';
    append_column(out, key, track.boxes, get);
  };
  column("start", [&](const Box& box) { return box.start - from; });
  column("dur", [](const Box& box) { return box.dur; });
  column("busy", [](const Box& box) { return box.busy; });
  column("name", [](const Box& box) { return box.name; });
  column("layer", [](const Box& box) { return box.layer; });
  column("count", [](const Box& box) { return box.count; });
  column("row", [](const Box& box) { return box.row; });
  out += '}';
}

void put_line(JsonWriter& json, const CounterLine& line, std::int64_t from) {
  json.begin_object().key("id").value(line.track);
  put_column(json, "t", line.t, [&](std::int64_t t) { return t - from; });
  put_column(json, "min", line.min);
  put_column(json, "max", line.max);
  put_column(json, "avg", line.avg);
  json.end_object();
}

void put_end(JsonWriter& json, const char* key, TrackId track, std::int64_t t) {
  json.key(key).begin_object().key("track").value(track).key("t").value(t).end_object();
}

void put_placed(JsonWriter& json, const PlacedEvent& event) {
  json.key("row").value(event.row).key("track").value(event.track->id);
  json.key("layer").value(event.layer).key("name").value(event.name);
  json.key("ts").value(event.ts).key("dur").value(event.dur);
  json.key("depth").value(event.depth);
}

void put_placed_list(JsonWriter& json, const char* key, const std::vector<PlacedEvent>& events) {
  json.key(key).begin_array();
  for (const PlacedEvent& event : events) {
    json.begin_object();
    put_placed(json, event);
    json.end_object();
  }
  json.end_array();
}

bool is_placed_field(std::string_view name) {
  return name == "layer" || name == "name" || name == "ts" || name == "dur" || name == "depth";
}

}  // namespace

std::string tracks_json(const std::vector<Track>& tracks, const CanvasNotes& notes) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  put_notes(json, notes);
  json.key("tracks").begin_array();
  for (const Track& track : tracks) put_track(json, track);
  json.end_array().end_object();
  return text + "\n";
}

std::string timeline_json(const Boxes& boxes, const std::vector<CounterLine>& counters,
                          const Flows* flows, const CanvasNotes& notes) {
  std::string text;
  std::size_t all = 0;
  for (const TrackBoxes& track : boxes.tracks) all += track.boxes.size();
  text.reserve(all * kBytesOfBox + 65536);
  const std::int64_t from = boxes.window.from;
  JsonWriter head(text);
  head.begin_object();
  put_notes(head, notes);
  head.key("from").value(from).key("to").value(boxes.window.to);
  put_column(head, "names", boxes.names);
  head.end_object();
  text.back() = ',';  // the object goes on
  text += "\"tracks\":[";
  for (const TrackBoxes& track : boxes.tracks) {
    append_boxes(text, track, from);
    text += ',';
  }
  for (const CounterLine& line : counters) {
    JsonWriter json(text);
    put_line(json, line, from);
    text += ',';
  }
  if (text.back() == ',') text.pop_back();
  text += ']';
  if (flows != nullptr) {
    text += ",\"flows\":";
    JsonWriter json(text);
    json.begin_array();
    for (const Flow& flow : flows->flows) {
      json.begin_object();
      put_end(json, "from", flow.from_track, flow.from_t - from);
      put_end(json, "to", flow.to_track, flow.to_t - from);
      json.end_object();
    }
    json.end_array();
    text += ",\"flows_left_out\":" + std::to_string(flows->left_out);
  }
  return text + "}\n";
}

std::string event_json(const EventDetails& event) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("event").begin_object();
  put_placed(json, event.event);
  for (const auto& [name, value] : event.fields) {
    if (!is_placed_field(name)) json.key(name).value(value);
  }
  json.end_object();
  put_placed_list(json, "parents", event.parents);
  put_placed_list(json, "flows", event.partners);
  json.end_object();
  return text + "\n";
}

std::string flame_json(const Flame& flame, bool with_start) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("weight").value(flame.weight).key("unit").value(flame.unit);
  json.key("total").value(flame.total);
  if (flame.left_out > 0) json.key("left_out").value(flame.left_out);
  put_column(json, "names", flame.names);
  json.key("nodes").begin_object();
  put_column(json, "parent", flame.parent);
  put_column(json, "name", flame.name);
  put_column(json, "layer", flame.layer);
  put_column(json, "self", flame.self);
  put_column(json, "total", flame.totals);
  put_column(json, "calls", flame.calls);
  if (with_start) put_column(json, "start", flame.start);
  json.end_object().end_object();
  return text + "\n";
}

std::string heat_json(const HeatMap& map) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("from").value(map.from).key("bin_ns").value(map.bin_ns);
  json.key("unit").value(map.unit).key("left_out").value(map.left_out);
  json.key("rows").begin_array();
  for (const HeatMap::Row& row : map.rows)
    json.begin_object().key("id").value(row.id).key("name").value(row.name).end_object();
  json.end_array().key("cells").begin_array();
  for (const HeatMap::Row& row : map.rows) {
    json.begin_array();
    for (const std::int64_t cell : row.cells) json.value(cell);
    json.end_array();
  }
  json.end_array().end_object();
  return text + "\n";
}

std::string offsets_json(const OffsetMap& map) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("from").value(map.from).key("time_bin_ns").value(map.time_bin_ns);
  json.key("offset_bin").value(map.offset_bin).key("without_place").value(map.without_place);
  put_rows(json, "read", map.read);
  put_rows(json, "write", map.write);
  json.end_object();
  return text + "\n";
}

}  // namespace fathom::serve
