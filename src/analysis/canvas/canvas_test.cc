// SPDX-License-Identifier: MIT
// The index against SQL: recordings of several layers, made at random, and hostile ones.
#include "analysis/canvas/canvas.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "analysis/canvas/event.h"
#include "analysis/canvas/flame.h"
#include "analysis/canvas/maps.h"
#include "analysis/canvas/sum_boxes.h"
#include "analysis/canvas/track_choice.h"
#include "analysis/shown_rows.h"
#include "base/cell.h"
#include "trace/recording/recording_writer.h"

namespace fathom::analysis {
namespace {

namespace fs = std::filesystem;

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  std::int64_t below(std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random_);
  }

 private:
  std::mt19937_64 random_;
};

// Rows of one recording, as a test wants them.
class Scene {
 public:
  explicit Scene(const std::string& directory, std::size_t rows_per_file = 500)
      : writer_(open(directory, rows_per_file)) {}

  struct Call {
    int tid;
    int depth;  // -1: none
    std::int64_t ts, dur;
    const char* layer;
    const char* name;
    std::int64_t bytes = 0;
  };
  void add(const Call& call) {
    trace::EventRow row = row_of(call.ts, call.dur, call.layer, call.name);
    row.tid = call.tid;
    row.depth = call.depth < 0 ? trace::kNull32 : call.depth;
    if (call.bytes > 0) {
      row.bytes = call.bytes;
      row.category = writer_->strings().code("read");
      row.file = writer_->strings().code("/data/in");
      row.offset = call.ts % 100'000;
    }
    push(row);
  }
  void add_on_device(std::int64_t ts, std::int64_t dur, int stream, std::int64_t correlation) {
    trace::EventRow row = row_of(ts, dur, "gpu", "kernel");
    row.device = 0;
    row.stream = stream;
    row.correlation = correlation;
    push(row);
  }
  void add_launch(int tid, std::int64_t ts, std::int64_t dur, std::int64_t correlation) {
    trace::EventRow row = row_of(ts, dur, "cuda", "cuLaunchKernel");
    row.tid = tid;
    row.depth = 0;
    row.correlation = correlation;
    push(row);
  }
  void add_counter(std::int64_t ts, const char* name, double value) {
    trace::CounterBatch batch;
    trace::CounterRow row;
    row.ts = ts;
    row.pid = kPid;
    row.layer = writer_->strings().code("resource");
    row.name = writer_->strings().code(name);
    row.value = value;
    batch.rows.push_back(row);
    EXPECT_TRUE(writer_->append(batch));
  }
  void add_sum(int tid, std::int64_t ts, std::int64_t width, const char* name, std::int64_t calls,
               std::int64_t dur) {
    trace::IntervalRow row;
    row.ts = ts;
    row.width = width;
    row.pid = kPid;
    row.tid = tid;
    row.layer = writer_->strings().code("vfs");
    row.name = writer_->strings().code(name);
    row.calls = calls;
    row.dur = dur;
    trace::IntervalBatch batch;
    batch.rows.push_back(row);
    EXPECT_TRUE(writer_->append(batch));
  }
  void add_sample(int tid, std::int64_t ts, const char* event, std::int64_t weight,
                  const std::vector<const char*>& functions) {
    std::vector<trace::Frame> frames;
    for (const char* function : functions) {
      trace::Frame frame;
      frame.function = writer_->strings().code(function);
      frames.push_back(frame);
    }
    trace::SampleRow row;
    row.ts = ts;
    row.pid = kPid;
    row.tid = tid;
    row.event = writer_->strings().code(event);
    row.weight = weight;
    row.stack = writer_->stacks().stack(frames, writer_->strings());
    trace::SampleBatch batch;
    batch.rows.push_back(row);
    EXPECT_TRUE(writer_->append(batch));
  }
  void finish() { ASSERT_TRUE(writer_->finish().has_value()); }

  static constexpr int kPid = 7;

 private:
  static Result<trace::RecordingWriter> open(const std::string& directory, std::size_t rows) {
    trace::Manifest manifest;
    manifest.start_realtime_ns = 1;
    manifest.host.hostname = "here";
    trace::RecordingWriter::Limits limits;
    limits.rows_per_file = rows;
    return trace::RecordingWriter::create(directory, manifest, limits);
  }
  trace::EventRow row_of(std::int64_t ts, std::int64_t dur, const char* layer, const char* name) {
    trace::EventRow row;
    row.pid = kPid;
    row.ts = ts;
    row.dur = dur;
    row.layer = writer_->strings().code(layer);
    row.name = writer_->strings().code(name);
    return row;
  }
  void push(const trace::EventRow& row) {
    trace::EventBatch batch;
    batch.push(row);
    EXPECT_TRUE(writer_->append(batch));
  }

  Result<trace::RecordingWriter> writer_;
};

// A call with calls inside, written when it has ended: behind these, and often in another file.
std::int64_t add_calls(Scene& scene, Dice& dice, int tid, int depth, std::int64_t at) {
  const std::int64_t begin = at;
  if (depth < 3) {
    for (std::int64_t i = dice.below(depth == 0 ? 12 : 6); i > 0; --i)
      at = add_calls(scene, dice, tid, depth + 1, at + dice.below(50));
  }
  at += dice.below(1 << dice.below(12));
  constexpr const char* kNames[] = {"read", "write", "step", "load", "open"};
  const char* layer = depth < 2 ? "app" : "posix";
  scene.add({tid, depth, begin, at - begin, layer, kNames[dice.below(5)],
             depth == 3 ? dice.below(5000) : 0});
  if (depth == 3 && dice.below(3) == 0)
    scene.add({tid, -1, begin, at - begin, "syscall", "read", 0});
  return at;
}

class CanvasTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "fathom_canvas_" + std::to_string(getpid());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  [[nodiscard]] std::string path() const { return root_ + "/trace"; }

  void make_scene() {
    Dice dice(5);
    Scene scene(path());
    for (const int tid : {7, 8, 9}) {
      std::int64_t at = dice.below(1000);
      for (int i = 0; i < 60; ++i) at = add_calls(scene, dice, tid, 0, at + dice.below(5000));
    }
    for (int i = 0; i < 200; ++i) {
      scene.add_launch(10, i * 1000, 20, i);
      scene.add_on_device(i * 1000 + 500, dice.below(3000), i % 2, i);  // they overlap
      scene.add_counter(i * 1000, "rss", static_cast<double>(i));
    }
    for (int i = 0; i < 100; ++i)
      scene.add_sample(7, i * 1000, "cpu-clock", 1000,
                       {"main", i < 50 ? "parse" : "solve", "inner"});
    scene.add_sample(8, 100, "off-cpu", 900, {"main", "wait_for_it"});
    scene.finish();
  }

  void open() {
    Result<Store> store = Store::open(path(), {.resolver = {}, .threads = 2});
    ASSERT_TRUE(store) << store.error().message;
    store_.emplace(std::move(*store));
    Result<Canvas> canvas = Canvas::make(*store_);
    ASSERT_TRUE(canvas) << canvas.error().message;
    canvas_.emplace(std::move(*canvas));
  }

  std::int64_t number(const std::string& sql) {
    const Result<Table> rows = store_->query(sql);
    EXPECT_TRUE(rows) << (rows ? "" : rows.error().message);
    return rows ? int_of(rows->rows.at(0).at(0)) : -1;
  }

  [[nodiscard]] std::vector<TrackId> ids() const {
    std::vector<TrackId> ids;
    for (const Track& track : canvas_->tracks().tracks) {
      if (track.kind != TrackKind::kSamples) ids.push_back(track.id);
    }
    return ids;
  }
  [[nodiscard]] const Track* find(TrackKind kind, const std::string& part = "") const {
    for (const Track& track : canvas_->tracks().tracks) {
      if (track.kind == kind && track.name.find(part) != std::string::npos) return &track;
    }
    return nullptr;
  }

  void expect_window(const Window& window, std::int64_t width);

  std::string root_;
  std::optional<Store> store_;
  std::optional<Canvas> canvas_;
};

constexpr char kTouches[] = "ts < {1} AND (ts >= {0} OR ts + dur > {0})";

void CanvasTest::expect_window(const Window& window, std::int64_t width) {
  const Boxes boxes = canvas_->boxes(window, width, ids());
  const std::string touches = fmt::format(kTouches, boxes.window.from, boxes.window.to);
  std::int64_t count = 0;
  std::int64_t busy = 0;
  std::string singles;
  for (const TrackBoxes& track : boxes.tracks) {
    for (std::size_t i = 0; i < track.boxes.size(); ++i) {
      const Box& box = track.boxes[i];
      count += box.count;
      busy += box.busy;
      if (i > 0 && track.depth[i] == track.depth[i - 1]) {
        const Box& last = track.boxes[i - 1];
        ASSERT_GE(box.start, last.start + last.dur);
      }
      if (box.count > 1) {
        EXPECT_EQ(box.row, -1);
        continue;
      }
      const Result<PlacedEvent> event = canvas_->event(box.row);
      ASSERT_TRUE(event);
      EXPECT_EQ(event->ts, box.start);
      EXPECT_EQ(event->dur, box.dur);
      EXPECT_EQ(event->name, boxes.names[box.name]);
      EXPECT_EQ(event->layer, boxes.names[box.layer]);
      EXPECT_EQ(event->track->id, track.track);
      const bool nests = event->track->kind == TrackKind::kThread;
      singles +=
          fmt::format("{}({}, {}, '{}', '{}', {})", singles.empty() ? "" : ", ", box.start, box.dur,
                      event->name, event->layer, nests ? std::to_string(event->depth) : "NULL");
    }
  }
  EXPECT_EQ(count, number("SELECT count(*) FROM events WHERE " + touches));
  EXPECT_EQ(busy,
            number("SELECT CAST(coalesce(sum(dur), 0) AS BIGINT) FROM events WHERE " + touches));
  if (singles.empty()) return;
  EXPECT_EQ(
      number("SELECT count(*) FROM (VALUES " + singles +
             ") s(ts, dur, name, layer, depth) WHERE NOT EXISTS (FROM events e WHERE e.ts = s.ts "
             "AND e.dur = s.dur AND e.name = s.name AND e.layer = s.layer AND e.depth IS NOT "
             "DISTINCT FROM s.depth)"),
      0);
}

TEST_F(CanvasTest, EveryEventOfAWindowIsInOneBox) {
  make_scene();
  open();
  EXPECT_TRUE(canvas_->losses().empty());
  const std::int64_t end = number("SELECT max(ts + dur) FROM events");
  expect_window({0, end}, 1);
  expect_window({0, end}, 1000);
  expect_window({0, end}, 10'000'000);  // each by itself
  Dice dice(2);
  for (int i = 0; i < 25; ++i) {
    const std::int64_t from = dice.below(end);
    expect_window({from, from + 1 + dice.below(i % 2 == 0 ? end : 2000)}, 1 + dice.below(500));
    if (HasFatalFailure()) return;
  }
}

// Of several events, the one with most time gives the name.
TEST_F(CanvasTest, TheNameIsTheOneWithMostTime) {
  make_scene();
  open();
  const Track* thread = find(TrackKind::kThread, "8");
  ASSERT_NE(thread, nullptr);
  const BinnedWindow bins = binned({0, number("SELECT max(ts + dur) FROM events")}, 50);
  const Boxes boxes = canvas_->boxes(bins.window, 50, std::vector<TrackId>{thread->id});
  const Result<Table> rows = store_->query(
      fmt::format("SELECT depth, ts >> {0} AS bin, layer || ' ' || name, CAST(sum(dur) AS BIGINT), "
                  "count(*) FROM "
                  "events WHERE tid = 8 AND depth IS NOT NULL AND dur < (1 << {0}) GROUP BY ALL",
                  bins.level));
  ASSERT_TRUE(rows) << rows.error().message;
  struct Bin {
    std::map<std::string, std::int64_t> times;
    std::int64_t most = 0, count = 0;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Bin> wanted;
  for (const auto& row : rows->rows) {
    Bin& bin = wanted[{int_of(row[0]), int_of(row[1])}];
    bin.times[text_of(row[2])] = int_of(row[3]);
    bin.most = std::max(bin.most, int_of(row[3]));
    bin.count += int_of(row[4]);
  }
  std::int64_t several = 0;
  for (std::size_t i = 0; i < boxes.tracks.at(0).boxes.size(); ++i) {
    const Box& box = boxes.tracks[0].boxes[i];
    if (box.count == 1) continue;
    ++several;
    const Bin& bin = wanted[{boxes.tracks[0].depth[i], box.start >> bins.level}];
    EXPECT_EQ(box.count, bin.count);
    const auto time = bin.times.find(boxes.names[box.layer] + " " + boxes.names[box.name]);
    ASSERT_NE(time, bin.times.end());
    EXPECT_EQ(time->second, bin.most);
  }
  EXPECT_GT(several, 20);
}

TEST_F(CanvasTest, TracksStandBelowWhatTheyBelongTo) {
  make_scene();
  open();
  std::set<TrackId> seen;
  for (const Track& track : canvas_->tracks().tracks) {
    EXPECT_TRUE(track.parent == 0 || seen.contains(track.parent)) << track.name;
    EXPECT_TRUE(seen.insert(track.id).second);
    EXPECT_LT(track.id, std::uint64_t{1} << 53U);
  }
  EXPECT_EQ(find(TrackKind::kHost)->name, "here");
  ASSERT_NE(find(TrackKind::kLayer, "syscall"), nullptr);
  EXPECT_EQ(find(TrackKind::kLayer, "syscall")->tid, 7);
  ASSERT_NE(find(TrackKind::kStream, "stream 1"), nullptr);
  EXPECT_GT(find(TrackKind::kStream, "stream 1")->depth, 1);
  EXPECT_EQ(find(TrackKind::kCounter, "rss")->events, 200);
  ASSERT_NE(find(TrackKind::kSamples, "off the CPU"), nullptr);
}

TEST_F(CanvasTest, SamplesOfOneFunctionAreOneBox) {
  make_scene();
  open();
  const Track* strip = find(TrackKind::kSamples, "sampled");
  ASSERT_NE(strip, nullptr);
  const Boxes boxes = canvas_->boxes({0, 100'000}, 100'000, std::vector<TrackId>{strip->id});
  std::vector<std::string> said;
  for (std::size_t i = 0; i < boxes.tracks.at(0).boxes.size(); ++i) {
    const Box& box = boxes.tracks[0].boxes[i];
    said.push_back(fmt::format("{} {} {}+{}", boxes.tracks[0].depth[i], boxes.names[box.name],
                               box.start, box.dur));
  }
  EXPECT_EQ(said,
            (std::vector<std::string>{"0 main 0+100000", "1 parse 0+50000", "1 solve 50000+50000",
                                      "2 inner 0+50000", "2 inner 50000+50000"}));
}

TEST_F(CanvasTest, CountersHaveTheirExtremes) {
  make_scene();
  open();
  const Track* const rss = find(TrackKind::kCounter, "rss");
  ASSERT_NE(rss, nullptr);
  const auto lines = counter_lines(*store_, std::span(&rss, 1), {0, 200'000}, 10);
  ASSERT_TRUE(lines) << lines.error().message;
  const CounterLine& line = lines->at(0);
  ASSERT_GT(line.t.size(), 3U);
  EXPECT_EQ(line.t[0], 0);
  EXPECT_EQ(line.min[0], 0);
  EXPECT_EQ(line.max.back(), 199);
  for (std::size_t i = 0; i < line.t.size(); ++i) {
    EXPECT_LE(line.min[i], line.avg[i]);
    EXPECT_LE(line.avg[i], line.max[i]);
  }
}

TEST_F(CanvasTest, AnEventTellsAllThatIsKnown) {
  make_scene();
  open();
  const Track* thread = find(TrackKind::kThread, "10");
  ASSERT_NE(thread, nullptr);
  const Boxes boxes = canvas_->boxes({0, 2000}, 2000, std::vector<TrackId>{thread->id});
  const Result<EventDetails> launch =
      event_details(*store_, *canvas_, boxes.tracks.at(0).boxes.at(1).row);
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->event.ts, 1000);
  EXPECT_TRUE(std::ranges::any_of(launch->fields, [](const auto& field) {
    return field.first == "correlation" && int_of(field.second) == 1;
  }));
  ASSERT_EQ(launch->partners.size(), 1U);
  EXPECT_EQ(launch->partners[0].name, "kernel");
  EXPECT_EQ(launch->partners[0].ts, 1500);
  EXPECT_FALSE(event_details(*store_, *canvas_, -1));
  EXPECT_FALSE(event_details(*store_, *canvas_, 1 << 30));
  const Result<Flows> flows = flows_in(*store_, {0, 10'000});
  ASSERT_TRUE(flows);
  EXPECT_EQ(flows->flows.size(), 10U);
  EXPECT_EQ(flows->flows[0].from_track, thread->id);
  EXPECT_NE(canvas_->find(flows->flows[0].to_track), nullptr);
}

TEST_F(CanvasTest, AFlowNeedsOneEndInTheWindow) {
  make_scene();
  open();
  // Launches are at i * 1000, their kernels 500 later.
  const Result<Flows> ends = flows_in(*store_, {1400, 1600});
  ASSERT_TRUE(ends) << ends.error().message;
  ASSERT_EQ(ends->flows.size(), 1U);
  EXPECT_EQ(ends->flows[0].from_t, 1000);
  EXPECT_EQ(ends->flows[0].to_t, 1500);
  const Result<Flows> begins = flows_in(*store_, {1900, 2100});
  ASSERT_TRUE(begins);
  ASSERT_EQ(begins->flows.size(), 1U);
  EXPECT_EQ(begins->flows[0].from_t, 2000);
  EXPECT_EQ(begins->flows[0].to_t, 2500);
  EXPECT_EQ(flows_in(*store_, {1600, 1900})->flows.size(), 0U);
  EXPECT_EQ(flows_in(*store_, {0, 1'000'000})->flows.size(), 200U);
  RowFilter filter;
  filter.condition = "correlation < 3";
  EXPECT_EQ(flows_in(*store_, {0, 1'000'000}, filter)->flows.size(), 3U);
}

TEST_F(CanvasTest, SumsAreBoxesAsWideAsTheirIntervals) {
  Scene scene(path());
  for (int i = 0; i < 10; ++i) {
    scene.add_sum(7, i * 1000, 1000, "vfs_read", 5, 300);
    scene.add_sum(7, i * 1000, 1000, "vfs_write", 2, 400);
    for (int name = 0; name < 9; ++name)
      scene.add_sum(8, i * 1000, 1000, ("call" + std::to_string(name)).c_str(), 1, 90 - name);
  }
  scene.finish();
  open();
  const Track* few = find(TrackKind::kLayer, "vfs, summed");
  ASSERT_NE(few, nullptr);
  EXPECT_EQ(few->events, 70);
  EXPECT_EQ(few->lanes, (std::vector<std::string>{"vfs_write", "vfs_read"}));
  std::vector<const Track*> tracks;
  for (const Track& track : canvas_->tracks().tracks) {
    if (track.is_of_sums()) tracks.push_back(&track);
  }
  ASSERT_EQ(tracks.size(), 2U);
  EXPECT_EQ(tracks[1]->depth, 8);
  for (const std::int64_t width : {1, 3, 10, 1000}) {
    Boxes boxes;
    ASSERT_TRUE(add_sum_boxes(*store_, tracks, {0, 10'000}, width, boxes));
    ASSERT_EQ(boxes.tracks.size(), 2U);
    std::int64_t calls = 0;
    for (const TrackBoxes& track : boxes.tracks) {
      for (std::size_t i = 0; i < track.boxes.size(); ++i) {
        calls += track.boxes[i].count;
        if (i == 0 || track.depth[i] != track.depth[i - 1]) continue;
        EXPECT_GE(track.boxes[i].start, track.boxes[i - 1].start + track.boxes[i - 1].dur);
      }
    }
    EXPECT_EQ(calls, 160) << width;
  }
  Boxes window;
  ASSERT_TRUE(add_sum_boxes(*store_, std::vector{few}, {2500, 3500}, 1000, window));
  ASSERT_EQ(window.tracks.size(), 1U);
  EXPECT_EQ(window.tracks[0].boxes.size(), 4U);  // two intervals of two names
  EXPECT_EQ(window.tracks[0].boxes[0].start, 2000);
  EXPECT_EQ(window.tracks[0].boxes[0].busy, 400);
}

TEST_F(CanvasTest, ASelectionLeavesTracksAndThoseAboveThem) {
  make_scene();
  open();
  RowFilter filter;
  filter.tids = {8};
  const std::vector<Track> chosen = chosen_tracks(canvas_->tracks().tracks, filter);
  ASSERT_FALSE(chosen.empty());
  EXPECT_EQ(chosen[0].kind, TrackKind::kHost);
  for (const Track& track : chosen) {
    const bool is_above = track.kind == TrackKind::kHost || track.kind == TrackKind::kProcess;
    EXPECT_TRUE(is_above || track.tid == 8) << track.name;
  }
  filter.tids = {12345};
  EXPECT_TRUE(chosen_tracks(canvas_->tracks().tracks, filter).empty());
  EXPECT_EQ(chosen_tracks(canvas_->tracks().tracks, {}).size(), canvas_->tracks().tracks.size());
}

TEST_F(CanvasTest, ParentsAreThoseAround) {
  {
    Scene scene(path());
    scene.add({7, 1, 10, 50, "app", "inner"});
    scene.add({7, 2, 20, 5, "posix", "read", 9});
    scene.add({7, 0, 0, 100, "app", "outer"});
    scene.finish();
  }
  open();
  const Track* thread = find(TrackKind::kThread);
  const Boxes boxes = canvas_->boxes({0, 100}, 1000, std::vector<TrackId>{thread->id});
  ASSERT_EQ(boxes.tracks.at(0).boxes.size(), 3U);
  const Result<PlacedEvent> read = canvas_->event(boxes.tracks[0].boxes[2].row);
  ASSERT_TRUE(read);
  const std::vector<PlacedEvent> around = canvas_->around(*read);
  ASSERT_EQ(around.size(), 2U);
  EXPECT_EQ(around[0].name, "outer");
  EXPECT_EQ(around[1].name, "inner");
}

// By name: what the nodes of a tree have for themselves.
std::map<std::string, std::int64_t> own_by_name(const Flame& flame) {
  std::map<std::string, std::int64_t> own;
  for (std::size_t i = 0; i < flame.name.size(); ++i) {
    if (flame.self[i] != 0)
      own[flame.names[flame.layer[i]] + " " + flame.names[flame.name[i]]] += flame.self[i];
  }
  return own;
}

TEST_F(CanvasTest, FlamesOfCallsAreWhatSqlSays) {
  make_scene();
  open();
  // The time of a call without the calls of the next depth inside it.
  constexpr char kSelf[] =
      "e.dur - coalesce((SELECT sum(c.dur) FROM events c WHERE c.tid = e.tid AND c.depth = e.depth "
      "+ 1 AND "
      "c.ts >= e.ts AND c.ts + c.dur <= e.ts + e.dur), 0)";
  for (const auto& [weight, column] : std::map<std::string, std::string>{
           {"time", kSelf}, {"calls", "1"}, {"bytes", "coalesce(bytes, 0)"}}) {
    const Result<Table> rows =
        store_->query(fmt::format("SELECT layer || ' ' || name, CAST(sum(own) AS BIGINT) AS own "
                                  "FROM (SELECT layer, name, {} AS own "
                                  "FROM events e) GROUP BY ALL HAVING sum(own) > 0",
                                  column));
    ASSERT_TRUE(rows) << rows.error().message;
    for (const bool invert : {false, true}) {
      const Result<Flame> flame =
          flame_of_calls(*canvas_, {.weight = weight, .invert = invert, .least = 0}, {});
      ASSERT_TRUE(flame) << flame.error().message;
      std::int64_t total = 0;
      std::map<std::string, std::int64_t> wanted;
      for (const auto& row : rows->rows) {
        wanted[text_of(row[0])] = int_of(row[1]);
        total += int_of(row[1]);
      }
      EXPECT_EQ(flame->total, total) << weight;
      if (!invert) {
        EXPECT_EQ(own_by_name(*flame), wanted) << weight;
      }
      for (std::size_t i = 1; i < flame->parent.size(); ++i)
        EXPECT_LT(flame->parent[i], static_cast<std::int32_t>(i));
    }
  }
}

TEST_F(CanvasTest, WhatIsSmallInAFlameIsOneNode) {
  make_scene();
  open();
  const Result<Flame> all = flame_of_calls(*canvas_, {.weight = "time", .least = 0}, {});
  const Result<Flame> some = flame_of_calls(*canvas_, {.weight = "time", .least = 0.05}, {});
  ASSERT_TRUE(all && some);
  EXPECT_EQ(all->total, some->total);
  EXPECT_LT(some->name.size(), all->name.size());
  std::int64_t own = 0;
  for (const std::int64_t self : some->self) own += self;
  EXPECT_EQ(own, some->total);
  EXPECT_TRUE(std::ranges::any_of(
      some->names, [](const std::string& name) { return name.ends_with(" smaller)"); }));
}

TEST_F(CanvasTest, FlamesOfAPart) {
  make_scene();
  open();
  RowFilter filter;
  filter.from_ns = 1000;
  filter.to_ns = 50'000;
  filter.layers = {"posix"};
  const Result<Flame> flame = flame_of_calls(*canvas_, {.weight = "time", .least = 0}, filter);
  ASSERT_TRUE(flame);
  EXPECT_EQ(flame->total,
            number("SELECT CAST(sum(least(ts + dur, 50000) - greatest(ts, 1000)) AS BIGINT) FROM "
                   "events e WHERE "
                   "layer = 'posix' AND ts < 50000 AND ts + dur > 1000 AND depth = 2"));
  RowFilter same;
  same.from_ns = 1000;
  same.to_ns = 50'000;
  RowFilter rows;
  rows.condition = "layer = 'posix'";
  ASSERT_TRUE(show_rows(*store_, rows));
  const Result<Canvas> part = Canvas::make(*store_);
  ASSERT_TRUE(part) << part.error().message;
  const Result<Flame> other = flame_of_calls(*part, {.weight = "time", .least = 0}, same);
  ASSERT_TRUE(other);
  EXPECT_EQ(own_by_name(*other), own_by_name(*flame));
}

// Nodes below the threads, as "depth name", in their order.
std::vector<std::string> nodes_of(const Flame& flame) {
  std::vector<std::string> nodes;
  std::vector<int> depth;
  for (std::size_t i = 0; i < flame.parent.size(); ++i) {
    depth.push_back(i == 0 ? 0 : depth[static_cast<std::size_t>(flame.parent[i])] + 1);
    if (depth[i] > 1)
      nodes.push_back(fmt::format("{} {}", depth[i] - 2, flame.names[flame.name[i]]));
  }
  return nodes;
}

TEST_F(CanvasTest, TimeOrderHasANodeForEachStretch) {
  Scene scene(path());
  scene.add({7, 1, 0, 100, "posix", "read"});
  scene.add({7, 1, 100, 100, "posix", "read"});
  scene.add({7, 1, 200, 300, "posix", "write"});
  scene.add({7, 1, 500, 100, "posix", "read"});
  scene.add({7, 0, 0, 1000, "app", "step"});
  scene.add({7, 0, 1000, 1000, "app", "rest"});
  scene.add({7, 0, 2000, 1000, "app", "step"});
  scene.finish();
  open();
  const Result<Flame> all =
      flame_of_calls(*canvas_, {.weight = "time", .in_time = true, .least = 0}, {});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->total, 3000);
  EXPECT_EQ(nodes_of(*all), (std::vector<std::string>{"0 step", "1 read", "1 write", "1 read",
                                                      "0 rest", "0 step"}));
  EXPECT_EQ(all->start, (std::vector<std::int64_t>{0, 0, 0, 0, 200, 500, 1000, 2000}));
  EXPECT_EQ(all->calls[3], 2);
  const Result<Flame> some =
      flame_of_calls(*canvas_, {.weight = "time", .in_time = true, .least = 0.09}, {});
  ASSERT_TRUE(some);
  EXPECT_EQ(nodes_of(*some), (std::vector<std::string>{"0 step", "1 (1 smaller)", "1 write",
                                                       "1 (1 smaller)", "0 rest", "0 step"}));
  EXPECT_EQ(some->total, 3000);
  EXPECT_FALSE(flame_of_calls(*canvas_, {.invert = true, .in_time = true}, {}));
}

TEST_F(CanvasTest, TimeOrderHoldsEverythingAndIsSmall) {
  make_scene();
  open();
  const Result<Flame> tree = flame_of_calls(*canvas_, {.weight = "time", .least = 0}, {});
  for (const double least : {0.0, 0.01, 0.3}) {
    const Result<Flame> flame =
        flame_of_calls(*canvas_, {.weight = "time", .in_time = true, .least = least}, {});
    ASSERT_TRUE(tree && flame);
    EXPECT_EQ(flame->total, tree->total);
    std::int64_t own = 0;
    for (const std::int64_t self : flame->self) own += self;
    EXPECT_EQ(own, flame->total);
    for (std::size_t i = 1; i < flame->parent.size(); ++i)
      EXPECT_LT(flame->parent[i], static_cast<std::int32_t>(i));
    if (least > 0) {
      EXPECT_LT(static_cast<double>(flame->name.size()), 2 * 6 / least + 20);
    }
  }
  const Result<Flame> cpu =
      flame_of_samples(*store_, {.weight = "cpu", .in_time = true, .least = 0});
  ASSERT_TRUE(cpu) << cpu.error().message;
  EXPECT_EQ(nodes_of(*cpu),
            (std::vector<std::string>{"0 main", "1 parse", "2 inner", "1 solve", "2 inner"}));
}

TEST_F(CanvasTest, FlamesOfSamples) {
  make_scene();
  open();
  const Result<Flame> cpu = flame_of_samples(*store_, {.weight = "cpu", .least = 0});
  ASSERT_TRUE(cpu) << cpu.error().message;
  EXPECT_EQ(cpu->total, 100'000);
  EXPECT_EQ(cpu->unit, "ns");
  const Result<Flame> off =
      flame_of_samples(*store_, {.weight = "offcpu", .invert = true, .least = 0});
  ASSERT_TRUE(off);
  EXPECT_EQ(off->total, 900);
  EXPECT_EQ(off->names[off->name[1]], "wait_for_it");
  EXPECT_FALSE(flame_of_samples(*store_, {.weight = "page-faults'"}));
}

TEST_F(CanvasTest, HeatMapsAddUp) {
  make_scene();
  open();
  const Result<HeatMap> bytes = heat_map(*store_, {.rows = "thread", .what = "bytes", .bins = 7});
  ASSERT_TRUE(bytes) << bytes.error().message;
  std::int64_t all = 0;
  for (const HeatMap::Row& row : bytes->rows) {
    EXPECT_EQ(row.cells.size(), 7U);
    for (const std::int64_t cell : row.cells) all += cell;
  }
  EXPECT_EQ(all, number("SELECT CAST(sum(bytes) AS BIGINT) FROM events WHERE layer = 'posix'"));
  const Result<HeatMap> time = heat_map(*store_, {.rows = "process", .what = "time", .bins = 9});
  ASSERT_TRUE(time) << time.error().message;
  all = 0;
  for (const std::int64_t cell : time->rows.at(0).cells) all += cell;
  EXPECT_EQ(all, number("SELECT CAST(sum(dur) AS BIGINT) FROM events WHERE layer = 'posix'"));
  EXPECT_FALSE(heat_map(*store_, {.rows = "colour"}));
}

// A page asks for dozens of them.
TEST_F(CanvasTest, TheSecondMapReadsNoEvents) {
  make_scene();
  open();
  const Result<HeatMap> before = heat_map(*store_, {.rows = "file", .what = "calls"});
  ASSERT_TRUE(before) << before.error().message;
  ASSERT_TRUE(store_->query("CREATE TEMP VIEW events AS SELECT error('asked again') AS ts"));
  const Result<HeatMap> after = heat_map(*store_, {.rows = "file", .what = "calls"});
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->rows.size(), before->rows.size());
  EXPECT_TRUE(offset_map(*store_, {.file = "/data/in"}));
}

TEST_F(CanvasTest, OffsetMapsAddUp) {
  make_scene();
  open();
  const Result<OffsetMap> map =
      offset_map(*store_, {.file = "/data/in", .bins = 5, .offset_bins = 4});
  ASSERT_TRUE(map) << map.error().message;
  ASSERT_EQ(map->read.size(), 4U);
  std::int64_t all = 0;
  for (const auto& row : map->read) {
    for (const std::int64_t cell : row) all += cell;
  }
  EXPECT_EQ(all, number("SELECT CAST(sum(bytes) AS BIGINT) FROM events WHERE file = '/data/in'"));
  EXPECT_FALSE(offset_map(*store_, {.file = "/none'"}));
}

TEST_F(CanvasTest, WhatCannotBeIsCountedAndNeverOverlaps) {
  {
    Scene scene(path());
    for (int i = 0; i < 50; ++i) scene.add({7, 0, i * 10, 1000, "app", "overlaps"});
    scene.add({7, 5000, 5, 1, "app", "too deep"});
    scene.add({7, -5, 5, 1, "app", "no depth"});
    scene.add({7, 0, 0, -7, "app", "backwards"});
    scene.add({8, 0, INT64_MAX - 5, 3, "app", "late"});
    scene.add({8, 0, 5, INT64_MAX, "app", "long"});
    scene.finish();
  }
  open();
  ASSERT_EQ(canvas_->losses().size(), 1U);
  EXPECT_EQ(canvas_->losses()[0].count, 3);
  const Boxes boxes = canvas_->boxes({-10, 100'000}, 100, ids());
  std::int64_t count = 0;
  for (const TrackBoxes& track : boxes.tracks) {
    for (std::size_t i = 0; i < track.boxes.size(); ++i) {
      count += track.boxes[i].count;
      if (i > 0 && track.depth[i] == track.depth[i - 1]) {
        EXPECT_GE(track.boxes[i].start, track.boxes[i - 1].start + track.boxes[i - 1].dur);
      }
    }
  }
  EXPECT_EQ(count, 52);
}

TEST_F(CanvasTest, WhatIsOutOfOrderIsSorted) {
  {
    Scene scene(path(), 1000);
    for (int file = 25; file-- > 0;) {
      for (int i = 0; i < 1000; ++i) scene.add({7, 0, (file * 1000 + i) * 10, 10, "app", "step"});
    }
    scene.finish();
  }
  open();
  EXPECT_EQ(find(TrackKind::kThread)->depth, 1);
  EXPECT_EQ(find(TrackKind::kThread)->events, 25'000);
  expect_window({1000, 90'000}, 300);
}

TEST_F(CanvasTest, WhoWaitsMayEndThePass) {
  {
    Scene scene(path(), 1'000'000);
    for (int i = 0; i < 140'000; ++i) scene.add({7, 0, i * 10, 10, "app", "step"});
    scene.finish();
  }
  Result<Store> store = Store::open(path(), {.resolver = {}, .threads = 2});
  ASSERT_TRUE(store);
  double told = 0;
  const Result<Canvas> canvas = Canvas::make(*store, [&](double done) {
    told = done;
    return false;
  });
  ASSERT_FALSE(canvas);
  EXPECT_EQ(canvas.error().code, Code::kUnavailable);
  EXPECT_GT(told, 0);
}

}  // namespace
}  // namespace fathom::analysis
