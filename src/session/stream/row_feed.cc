// SPDX-License-Identifier: MIT
// Two decoders: one for what was drained, one for living segments. A thread's rows come in the same
// order in both, so counting tells which were handed on already.
#include "session/stream/row_feed.h"

#include <algorithm>
#include <ctime>

#include "base/clock.h"
#include "base/text.h"

namespace fathom::session {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kLongestPieceNs =
    500 * kNsPerMs;  // of a clock that is not read at each look
constexpr std::int64_t kShortestPieceNs = 2 * kNsPerMs;

// Whether the clock may go on as it went. What lies behind its last pair is as exact as the two
// are, as long as that is no longer than the time between them.
bool runs_on(const trace::Clock& clock, std::int64_t since) {
  const std::vector<trace::ClockPair>& pairs = clock.pairs();
  if (pairs.size() < 2) return false;
  const std::int64_t known = pairs.back().monotonic_ns - pairs.front().monotonic_ns;
  return since < std::clamp(known / 4, kShortestPieceNs, kLongestPieceNs);
}

}  // namespace

RowFeed::RowFeed(trace::Spool& spool, RowConsumer& consumer, Whose whose)
    : consumer_(&consumer),
      whose_(whose),
      same_boot_(spool.same_boot()),
      clock_(trace::Clock::of(spool.header())),
      decoder_(strings_, clock_),
      living_(strings_, clock_),
      processes_(spool.header(), clock_),
      taken_(read_ahead(consumer.ahead())) {}

// "pid:tid:count", with commas between.
std::string RowFeed::ahead() const {
  std::string text;
  for (const auto& [thread, count] : taken_) {
    if (!text.empty()) text += ',';
    text += std::to_string(thread.first) + ":" + std::to_string(thread.second) + ":" +
            std::to_string(count);
  }
  return text;
}

RowFeed::RowCounts RowFeed::read_ahead(std::string_view text) {
  RowCounts rows;
  for (const std::string_view one : split(text, ',')) {
    const std::vector<std::string_view> words = split(one, ':');
    if (words.size() != 3) continue;
    const Result<std::int64_t> pid = parse_int(words[0]);
    const Result<std::int64_t> tid = parse_int(words[1]);
    const Result<std::int64_t> count = parse_int(words[2]);
    if (!pid || !tid || !count || *count <= 0) continue;
    rows[{static_cast<std::int32_t>(*pid), static_cast<std::int32_t>(*tid)}] =
        static_cast<std::size_t>(*count);
  }
  return rows;
}

void RowFeed::tick() {
  const std::int64_t last = clock_.pairs().empty() ? 0 : clock_.pairs().back().monotonic_ns;
  const std::int64_t since = now_monotonic_ns() - last;
  if (live_every_ns_ > 0 && runs_on(clock_, since)) return;
  if (since < kShortestPieceNs) {
    const timespec nap{0, kShortestPieceNs};
    ::nanosleep(&nap, nullptr);
  }
  if (same_boot_) clock_.add(clock_.read());
  decoder_.set_clock(clock_);
  living_.set_clock(clock_);
}

Status RowFeed::see(trace::Drainer& drainer) {
  FATHOM_TRY(definitions_.into(decoder_, drainer.definitions_file()));
  FATHOM_TRY(living_definitions_.into(living_, drainer.definitions_file()));
  processes_.see_owners(drainer);
  segments_ = drainer.copy_live();
  return {};
}

// Who is there, and who of them is to be looked at while it lives.
void RowFeed::learn(const trace::Definitions& definitions) {
  processes_.learn(definitions, clock_);
  live_.clear();
  live_every_ns_ = 0;
  for (const auto& [key, process] : processes_.all()) {
    const bool asks = whose_ == Whose::kAll || !process.drop_in.empty();
    const std::int64_t every = asks ? consumer_->wants_every(process) : 0;
    if (every == 0) continue;
    live_.insert(process.row_pid);
    live_every_ns_ = live_every_ns_ == 0 ? every : std::min(live_every_ns_, every);
  }
}

trace::EventBatch RowFeed::decode(trace::Decoder& decoder, std::span<const trace::Chunk> chunks) {
  trace::EventBatch events;
  trace::CounterBatch counters;
  decoder.decode(chunks, events, counters);
  (void)decoder.take_sums();
  learn(decoder.definitions());
  return events;
}

// What was drained may need a name that still lies in somebody's segment.
Status RowFeed::take_drained(std::span<const trace::Chunk> chunks) {
  for (const trace::Drainer::LiveCopy& segment : segments_) decoder_.define(segment.chunk());
  const trace::EventBatch events = decode(decoder_, chunks);
  Rows rows;
  for (std::size_t row = 0; row < events.rows(); row++) {
    const auto again = taken_.find({events.pid[row], events.tid[row]});
    if (again == taken_.end()) {
      rows.push_back(row);
    } else if (--again->second == 0) {
      taken_.erase(again);
    }
  }
  return hand_on(events, rows);
}

Status RowFeed::take_living(const std::set<std::int64_t>& pids) {
  std::vector<trace::Chunk> chunks;
  for (const trace::Drainer::LiveCopy& segment : segments_) chunks.push_back(segment.chunk());
  for (const trace::Chunk& chunk : chunks) living_.define(chunk);
  living_.restore(decoder_.carry());
  const trace::EventBatch events = decode(living_, chunks);
  Rows rows;
  RowCounts seen;
  for (std::size_t row = 0; row < events.rows(); row++) {
    if (whose_ != Whose::kAll && !pids.contains(events.pid[row])) continue;
    const std::pair thread(events.pid[row], events.tid[row]);
    std::size_t& taken = taken_[thread];
    if (++seen[thread] <= taken) continue;
    taken++;
    rows.push_back(row);
  }
  return hand_on(events, rows);
}

Status RowFeed::hand_on(const trace::EventBatch& events, const Rows& rows) {
  std::map<const StreamProcess*, Rows> by_process;
  for (const std::size_t row : rows) {
    const StreamProcess* process = processes_.owner(events.pid[row], events.ts[row]);
    if (process == nullptr || process->lodges) continue;
    if (whose_ == Whose::kAll || !process->settings.empty()) by_process[process].push_back(row);
  }
  for (const auto& [process, of_process] : by_process)
    FATHOM_TRY(consumer_->take(*process, events, of_process, strings_));
  return {};
}

}  // namespace fathom::session
