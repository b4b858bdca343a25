// SPDX-License-Identifier: MIT
// Two scans instead of a sort. The first finds the few events that stand too late in the files; the
// second merges them in.
#include "analysis/walk/thread_walk.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "analysis/walk/codes.h"
#include "sql/chunk.h"

namespace fathom::analysis {
namespace {

enum ColumnOf : std::uint8_t {
  kTs,
  kDur,
  kSelf,
  kDepth,
  kThread,
  kKind,
  kHost,
  kPid,
  kTid,
  kLayer,
  kName,
  kCategory
};

// Texts are looked at only where the number in front of them is new.
constexpr char kEvents[] =
    "SELECT ts, dur, self, CAST(coalesce(depth, 0) AS BIGINT), hash(host, pid, tid) AS thread, "
    "hash(layer, name, category), host, CAST(pid AS BIGINT), CAST(tid AS BIGINT), layer, name, "
    "category FROM events WHERE ";

// Where a thread is: outer events before those inside.
struct Place {
  std::int64_t ts = std::numeric_limits<std::int64_t>::min();
  std::int64_t depth = std::numeric_limits<std::int64_t>::min();
  bool operator<(const Place& other) const {
    return ts != other.ts ? ts < other.ts : depth < other.depth;
  }
};

Place place_of(const WalkEvent& event) { return {event.ts, event.depth}; }

struct Thread {
  Place last;
  std::vector<WalkEvent> late;  // by place
  std::size_t late_used = 0;
  std::vector<WalkFrame> open;
};

class Walk {
 public:
  Walk(Store& store, WalkVisitor& visitor, const WalkOptions& options)
      : store_(store), visitor_(visitor), options_(options) {}

  Status run() {
    std::string sql = std::string(kEvents) + options_.where;
    FATHOM_TRY(each_event(sql, [this](const WalkEvent& event) { keep_late(event); }));
    if (late_rows_ > options_.most_late) {
      for (Thread& thread : threads_) std::vector<WalkEvent>().swap(thread.late);
      late_rows_ = 0;
      sql += " ORDER BY thread, ts, depth";
    }
    for (Thread& thread : threads_) {
      thread.last = {};
      std::stable_sort(
          thread.late.begin(), thread.late.end(),
          [](const WalkEvent& a, const WalkEvent& b) { return place_of(a) < place_of(b); });
    }
    FATHOM_TRY(each_event(sql, [this](const WalkEvent& event) { meet(event); }));
    for (Thread& thread : threads_) catch_up(thread, {}, true);
    return {};
  }

 private:
  template <class Use>
  Status each_event(const std::string& sql, Use use) {
    return store_.stream_chunks(sql, [&](const sql::Chunk& chunk) -> Status {
      const auto ts = chunk.int64s(kTs);
      const auto dur = chunk.int64s(kDur);
      const auto self = chunk.int64s(kSelf);
      const auto depth = chunk.int64s(kDepth);
      const auto thread = chunk.int64s(kThread);
      const auto kind = chunk.int64s(kKind);
      for (std::size_t row = 0; row < chunk.rows(); ++row) {
        WalkEvent event{ts[row], dur[row], self[row], depth[row], 0, 0};
        if (thread_codes_.find(thread[row], event.thread)) add_thread(chunk, row);
        if (kind_codes_.find(kind[row], event.kind)) add_kind(chunk, row);
        use(event);
      }
      return {};
    });
  }

  void add_thread(const sql::Chunk& chunk, std::size_t row) {
    threads_.emplace_back();
    visitor_.add_thread(
        {chunk.kept_text(kHost, row), chunk.int64(kPid, row), chunk.int64(kTid, row)});
  }

  void add_kind(const sql::Chunk& chunk, std::size_t row) {
    WalkKind kind{chunk.kept_text(kLayer, row), chunk.kept_text(kName, row),
                  chunk.kept_text(kCategory, row), 0};
    const auto next = static_cast<std::uint32_t>(calls_.size());
    kind.call = calls_.try_emplace({kind.layer, kind.name}, next).first->second;
    visitor_.add_kind(kind);
  }

  // The first pass. More than enough are forgotten: the database will sort.
  void keep_late(const WalkEvent& event) {
    Thread& thread = threads_[event.thread];
    const Place place = place_of(event);
    if (!(place < thread.last)) {
      thread.last = place;
    } else if (++late_rows_ <= options_.most_late) {
      thread.late.push_back(event);
    }
  }

  // The second pass: what comes too late was met when it was its turn.
  void meet(const WalkEvent& event) {
    Thread& thread = threads_[event.thread];
    const Place place = place_of(event);
    if (place < thread.last) return;
    thread.last = place;
    if (thread.late_used < thread.late.size()) catch_up(thread, place, false);
    enter(thread, event);
  }

  void catch_up(Thread& thread, const Place& until, bool all) {
    while (thread.late_used < thread.late.size()) {
      const WalkEvent& event = thread.late[thread.late_used];
      if (!all && until < place_of(event)) break;
      thread.late_used++;
      enter(thread, event);
    }
  }

  void enter(Thread& thread, const WalkEvent& event) {
    std::vector<WalkFrame>& open = thread.open;
    while (!open.empty() &&
           (open.back().event.depth >= event.depth || open.back().event.end() < event.ts))
      open.pop_back();
    const auto around = std::find_if(open.rbegin(), open.rend(), [&](const WalkFrame& frame) {
      return frame.event.end() >= event.end();
    });
    const std::uint32_t tag = visitor_.enter(event, around == open.rend() ? nullptr : &*around);
    if (event.has_inner()) open.push_back({event, tag});
  }

  Store& store_;
  WalkVisitor& visitor_;
  WalkOptions options_;
  std::size_t late_rows_ = 0;
  Codes thread_codes_;
  Codes kind_codes_;
  std::map<std::pair<std::optional<std::string>, std::optional<std::string>>, std::uint32_t> calls_;
  std::vector<Thread> threads_;
};

}  // namespace

Status walk_threads(Store& store, WalkVisitor& visitor, const WalkOptions& options) {
  return Walk(store, visitor, options).run();
}

}  // namespace fathom::analysis
