// SPDX-License-Identifier: MIT
// All events into lanes, by one scan of the database. Names and places are texts in each of the
// rows, and comparing them would cost more than all the rest: the statement computes a hash beside
// them, and texts are looked at only where the hash is new.
//
// Events of a thread must come in order of time, which files hold nearly; sorting a hundred million
// of them would take minutes and spill. So they are read as they stand, and only where too many are
// out of order (an imported trace) they are read again, sorted.
#include "analysis/canvas/event_pass.h"

#include <algorithm>

#include "analysis/walk/codes.h"
#include "base/cell.h"
#include "sql/chunk.h"

namespace fathom::analysis {
namespace {

// The columns of kEvents, in its order.
enum ColumnOf : std::uint8_t {
  kTs,
  kDur,
  kDepth,
  kTrack,
  kKind,
  kPlace,
  kBytes,
  kHost,
  kPid,
  kTid,
  kLayer,
  kName,
  kDevice,
  kStream
};

enum Place : std::uint8_t { kInThread, kOnDevice, kApart };

// What nests in a thread has a depth. The rest is on the stream of a device, or on a track of its
// layer in its thread, process or host.
constexpr char kEvents[] = R"(
  SELECT ts, dur, CAST(coalesce(depth, 0) AS BIGINT) AS depth,
         CASE place WHEN 0 THEN hash(host, pid, tid) WHEN 1 THEN hash(host, pid, device, stream)
                    ELSE hash(host, pid, tid, layer) END AS track,
         hash(layer, name), place, coalesce(bytes, 0), host, CAST(pid AS BIGINT), CAST(tid AS BIGINT), layer, name,
         CAST(device AS BIGINT), stream
  FROM (SELECT *, CAST(CASE WHEN depth IS NOT NULL AND tid IS NOT NULL THEN 0
                            WHEN tid IS NULL AND device IS NOT NULL THEN 1
                            ELSE 2 END AS BIGINT) AS place FROM events))";
constexpr char kInOrder[] = " ORDER BY place, track, ts, depth, dur DESC";

// Rows between two looks whether to go on.
constexpr std::int64_t kRowsOfTurn = 1 << 17;
// Of a recording whose events stand in order: those that were open when a file was full.
constexpr std::int64_t kMostOutOfOrder = 10'000;
constexpr std::int64_t kOutOfOrderShare = 1000;

class EventPass {
 public:
  EventPass(CanvasRows& rows, std::int64_t all, const CanvasProgress& progress)
      : rows_(rows), all_(std::max<std::int64_t>(all, 1)), progress_(progress) {}

  Status add(const sql::Chunk& chunk) {
    const auto ts = chunk.int64s(kTs);
    const auto dur = chunk.int64s(kDur);
    const auto depth = chunk.int64s(kDepth);
    const auto track = chunk.int64s(kTrack);
    const auto kind = chunk.int64s(kKind);
    const auto place = chunk.int64s(kPlace);
    const auto bytes = chunk.int64s(kBytes);
    for (std::size_t row = 0; row < chunk.rows(); ++row) {
      std::uint32_t code = 0;
      if (codes_[place[row]].find(track[row], code)) add_track(chunk, row);
      const LaneEvent event{ts[row], dur[row], kind_of(chunk, row, kind[row]), bytes[row]};
      const std::uint32_t number = tracks_[place[row]][code];
      if (place[row] == kInThread) {
        rows_.book.add(number, depth[row], event);
      } else {
        rows_.book.add(number, event);
      }
    }
    return go_on(static_cast<std::int64_t>(chunk.rows()));
  }

 private:
  std::uint32_t kind_of(const sql::Chunk& chunk, std::size_t row, std::int64_t hash) {
    std::uint32_t code = 0;
    if (kind_codes_.find(hash, code))
      kinds_.push_back(rows_.kinds.find(chunk.text(kLayer, row).value_or("unknown"),
                                        chunk.text(kName, row).value_or("unknown")));
    return kinds_[code];
  }

  void add_track(const sql::Chunk& chunk, std::size_t row) {
    const std::int64_t place = chunk.int64s(kPlace)[row];
    TrackKey key{.kind = TrackKind::kThread,
                 .host = chunk.kept_text(kHost, row).value_or(""),
                 .pid = chunk.int64(kPid, row),
                 .tid = chunk.int64(kTid, row)};
    if (place == kOnDevice) {
      key.kind = TrackKind::kStream;
      key.device = chunk.int64(kDevice, row);
      key.stream = chunk.int64(kStream, row);
    }
    if (place == kApart) {
      key.kind = TrackKind::kLayer;
      key.layer = chunk.kept_text(kLayer, row).value_or("unknown");
    }
    tracks_[place].push_back(rows_.book.add_track(std::move(key)));
  }

  Status go_on(std::int64_t rows) {
    done_ += rows;
    turn_ += rows;
    if (turn_ < kRowsOfTurn || !progress_) return {};
    turn_ = 0;
    const double share = std::min(static_cast<double>(done_) / static_cast<double>(all_), 1.0);
    if (!progress_(share)) return canvas_ended();
    return {};
  }

  CanvasRows& rows_;
  std::int64_t all_;
  const CanvasProgress& progress_;
  std::int64_t done_ = 0, turn_ = 0;
  Codes codes_[3];
  std::vector<std::uint32_t> tracks_[3];  // by code
  Codes kind_codes_;
  std::vector<std::uint32_t> kinds_;  // by code
};

Status scan(Store& store, const std::string& sql, std::int64_t all, CanvasRows& rows,
            const CanvasProgress& progress) {
  EventPass pass(rows, all, progress);
  return store.stream_chunks(sql, [&](const sql::Chunk& chunk) { return pass.add(chunk); });
}

}  // namespace

Error canvas_ended() {
  return {Code::kUnavailable, "the client no longer waits for the picture", ""};
}

Status read_events(Store& store, CanvasRows& rows, const CanvasProgress& progress) {
  FATHOM_ASSIGN(const Table counted, store.query("SELECT count(*) FROM events"));
  const std::int64_t all = int_of(counted.rows.at(0).at(0));
  FATHOM_TRY(scan(store, kEvents, all, rows, progress));
  const std::int64_t most = std::max(kMostOutOfOrder, all / kOutOfOrderShare);
  if (rows.book.out_of_order() <= most) return {};
  rows = {};
  return scan(store, std::string(kEvents) + kInOrder, all, rows, progress);
}

}  // namespace fathom::analysis
