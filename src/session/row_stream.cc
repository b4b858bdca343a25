// SPDX-License-Identifier: MIT
#include "session/row_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/os_error.h"
#include "base/text.h"
#include "session/program.h"
#include "session/stream_processes.h"
#include "trace/decoder.h"
#include "trace/drained_definitions.h"
#include "trace/drainer.h"
#include "trace/spool.h"

namespace fathom::session {
namespace {

constexpr char kWanted[] = "wanted-";
constexpr int kLongestRestMs = 100;
constexpr std::int64_t kNsPerMs = 1'000'000;
// Rows that are not asked for go on when this much lies in logs, or after this long.
constexpr std::uint64_t kEnoughBytes = std::uint64_t{1} << 20;
constexpr std::int64_t kLongEnoughNs = 500 * kNsPerMs;

std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Rows of threads, by pid and tid.
using RowCounts = std::map<std::pair<std::int32_t, std::int32_t>, std::size_t>;

// "pid:tid:count", with commas between.
std::string ahead_text(const RowCounts& rows) {
  std::string text;
  for (const auto& [thread, count] : rows) {
    if (!text.empty()) text += ',';
    text += std::to_string(thread.first) + ":" + std::to_string(thread.second) + ":" +
            std::to_string(count);
  }
  return text;
}

RowCounts read_ahead(std::string_view text) {
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

std::string spool_of(const std::string& directory) {
  return join_path(directory, trace::kSpoolDirectory);
}

class RowStream {
 public:
  static Result<std::unique_ptr<RowStream>> open(const std::string& directory, StreamTaker& taker);
  Result<StreamOutcome> run();

 private:
  RowStream(std::string directory, trace::Spool spool, trace::FileLock lock, StreamTaker& taker)
      : directory_(std::move(directory)),
        spool_(std::move(spool)),
        lock_(std::move(lock)),
        taker_(&taker),
        clock_(spool_.same_boot() ? trace::Clock::of(spool_.header())
                                  : trace::Clock::of_elsewhere(spool_.header())),
        definitions_(spool_),
        decoder_(strings_, clock_),
        processes_(spool_.header(), clock_),
        living_(strings_, clock_),
        living_definitions_(spool_) {}

  Status start();
  Result<bool> pass();  // whether somebody may still write
  bool rest();          // whether somebody wants us to end
  void tick();
  Status decode_logs();
  Status decode_log(std::uint64_t n);
  Status take_living(const std::set<std::int64_t>& pids);
  void learn(const trace::Definitions& definitions);
  Status look_at_living();
  using Rows = std::vector<std::size_t>;
  Status hand_on(const trace::EventBatch& events, const Rows& rows);
  [[nodiscard]] std::set<std::int64_t> wanted() const;
  Status complete(const StreamProcess& process, bool in_order);
  Status complete_wanted(const std::set<std::int64_t>& pids);
  Result<bool> end_run();
  Result<StreamOutcome> end_of_foreign();

  std::string directory_;
  trace::Spool spool_;
  trace::FileLock lock_;
  StreamTaker* taker_;
  trace::Strings strings_;
  trace::Clock clock_;
  trace::DrainedDefinitions definitions_;
  trace::Decoder decoder_;
  StreamProcesses processes_;
  std::optional<trace::Drainer> drainer_;
  std::optional<SignalQueue> signals_;
  Fd news_;  // inotify: entries that appear in the spool
  int rest_ms_ = 1;
  std::uint64_t waiting_bytes_ = 0;  // in logs, not decoded yet
  std::uint64_t next_log_ = 0;       // the first that is not
  std::int64_t decoded_ns_ = 0;      // when rows were handed on last
  RowCounts taken_;  // of living threads, that were handed on: logs will bring them again first
  trace::Decoder living_;  // of what lies in segments that their processes still own
  trace::DrainedDefinitions living_definitions_;
  std::int64_t live_every_ns_ = 0;     // how often somebody wants those; 0: nobody does
  std::set<std::int64_t> live_;        // who: pids
  std::int64_t next_look_ns_ = 0;      // at them
  std::uint64_t looked_at_bytes_ = 0;  // that were there at the last look
};

Result<std::unique_ptr<RowStream>> RowStream::open(const std::string& directory,
                                                   StreamTaker& taker) {
  FATHOM_ASSIGN(trace::Spool spool, trace::Spool::open(spool_of(directory)));
  FATHOM_ASSIGN(std::optional<trace::FileLock> lock,
                trace::FileLock::attempt(spool.lock_path(), trace::FileLock::Mode::kExclusive));
  if (!lock)
    return Error{Code::kDenied, "somebody else collects " + directory, "wait until that has ended"};
  std::unique_ptr<RowStream> stream(
      new RowStream(directory, std::move(spool), std::move(*lock), taker));
  FATHOM_TRY(stream->start());
  return stream;
}

Status RowStream::start() {
  FATHOM_ASSIGN(SignalQueue signals, SignalQueue::open());
  signals_.emplace(std::move(signals));
  news_.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (news_.valid()) ::inotify_add_watch(news_.get(), spool_.directory().c_str(), IN_CREATE);
  next_log_ = taker_->first_log();
  taken_ = read_ahead(taker_->ahead());
  std::uint64_t first = next_log_;
  for (const std::uint64_t n : spool_.logs()) first = std::max(first, n + 1);
  tick();
  FATHOM_ASSIGN(trace::Drainer drainer, trace::Drainer::open(spool_, clock_, first));
  drainer_.emplace(std::move(drainer));
  waiting_bytes_ = first;  // what an earlier collector left is due
  return definitions_.into(decoder_);
}

// What is decoded from now on was written before this moment: its times are final. Not at every
// look at living processes: a long run would have more readings of its clock than rows.
void RowStream::tick() {
  const std::int64_t last = clock_.pairs().empty() ? 0 : clock_.pairs().back().monotonic_ns;
  const std::int64_t since = now_monotonic_ns() - last;
  if (live_every_ns_ > 0 && since < kLongEnoughNs && clock_.pairs().size() > 1) return;
  if (since < 2 * kNsPerMs) {
    const timespec nap{0, 2 * kNsPerMs};
    ::nanosleep(&nap, nullptr);
  }
  if (spool_.same_boot()) clock_.add(clock_.read());
  decoder_.set_clock(clock_);
  living_.set_clock(clock_);
}

// Who is there, and who of them is to be looked at while it lives.
void RowStream::learn(const trace::Definitions& definitions) {
  processes_.learn(definitions, clock_);
  live_.clear();
  live_every_ns_ = 0;
  for (const auto& [key, process] : processes_.all()) {
    const std::int64_t every = process.drop_in.empty() ? 0 : taker_->wants_every(process);
    if (every == 0) continue;
    live_.insert(process.pid);
    live_every_ns_ = live_every_ns_ == 0 ? every : std::min(live_every_ns_, every);
  }
}

Status RowStream::decode_log(std::uint64_t n) {
  trace::EventBatch events;
  trace::CounterBatch counters;
  {
    FATHOM_ASSIGN(const MappedFile log, MappedFile::open(spool_.log_path(n)));
    std::vector<trace::Chunk> chunks;
    trace::scan_log(as_bytes(log.text()), [&](const trace::LogEntry& entry, std::uint64_t) {
      if (entry.kind == trace::EntryKind::kChunk)
        chunks.push_back({entry.bytes, spool_.schema(entry.schema)});
    });
    decoder_.decode(chunks, events, counters);
    (void)decoder_.take_sums();
  }
  learn(decoder_.definitions());
  Rows rows;
  for (std::size_t row = 0; row < events.rows(); row++) {
    const auto again = taken_.find({events.pid[row], events.tid[row]});
    if (again == taken_.end()) {
      rows.push_back(row);
    } else if (--again->second == 0) {
      taken_.erase(again);
    }
  }
  FATHOM_TRY(hand_on(events, rows));
  if (taker_->keeps_recording()) return {};
  FATHOM_TRY(taker_->settle(n, ahead_text(taken_)));
  ::unlink(spool_.log_path(n).c_str());
  return {};
}

Status RowStream::decode_logs() {
  drainer_->roll();
  tick();
  FATHOM_TRY(definitions_.into(decoder_));
  drainer_->visit_live([this](const trace::Chunk& chunk) { decoder_.define(chunk); });
  for (const std::uint64_t n : drainer_->complete_logs()) {
    if (n < next_log_) continue;
    FATHOM_TRY(decode_log(n));
    next_log_ = n + 1;
  }
  waiting_bytes_ = 0;
  decoded_ns_ = now_monotonic_ns();
  return {};
}

// What lies in segments that their processes still own. A decoder of its own reads it, from where
// the other stands: that one will meet the same rows in a log, a thread's in the same order.
Status RowStream::take_living(const std::set<std::int64_t>& pids) {
  FATHOM_TRY(living_definitions_.into(living_));
  const std::vector<trace::Drainer::LiveCopy> copies = drainer_->copy_live();
  std::vector<trace::Chunk> chunks;
  for (const trace::Drainer::LiveCopy& copy : copies) chunks.push_back(copy.chunk());
  for (const trace::Chunk& chunk : chunks) living_.define(chunk);
  living_.restore(decoder_.carry());
  trace::EventBatch events;
  trace::CounterBatch counters;
  living_.decode(chunks, events, counters);
  (void)living_.take_sums();
  learn(living_.definitions());
  Rows rows;
  RowCounts seen;
  for (std::size_t row = 0; row < events.rows(); row++) {
    if (!pids.contains(events.pid[row])) continue;
    const std::pair thread(events.pid[row], events.tid[row]);
    std::size_t& taken = taken_[thread];
    if (++seen[thread] <= taken) continue;
    taken++;
    rows.push_back(row);
  }
  return hand_on(events, rows);
}

// Those that somebody wants to see while they live. What was drained comes first: it is older.
Status RowStream::look_at_living() {
  constexpr std::int64_t kMostOfACore = 10;  // one part in so many goes into looking
  const std::int64_t begin = now_monotonic_ns();
  if (live_every_ns_ == 0 || begin < next_look_ns_) return {};
  next_look_ns_ = begin + live_every_ns_;
  if (waiting_bytes_ > 0) {
    if (taker_->keeps_recording()) return {};  // its logs become files, which should be few
    FATHOM_TRY(decode_logs());
  }
  const std::uint64_t bytes = drainer_->live_bytes();
  if (bytes != std::exchange(looked_at_bytes_, bytes)) FATHOM_TRY(take_living(live_));
  FATHOM_TRY(taker_->refresh());
  const std::int64_t end = now_monotonic_ns();
  next_look_ns_ = std::max(next_look_ns_, end + (end - begin) * (kMostOfACore - 1));
  return {};
}

Status RowStream::hand_on(const trace::EventBatch& events, const Rows& rows) {
  std::map<const StreamProcess*, Rows> by_process;
  for (const std::size_t row : rows) {
    const StreamProcess* process = processes_.owner(events.pid[row], events.ts[row]);
    if (process != nullptr && !process->settings.empty()) by_process[process].push_back(row);
  }
  for (const auto& [process, of_process] : by_process)
    FATHOM_TRY(taker_->take(*process, events, of_process, strings_));
  return {};
}

std::set<std::int64_t> RowStream::wanted() const {
  std::set<std::int64_t> pids;
  const Result<std::vector<std::string>> names = list_dir(spool_.directory());
  if (!names) return pids;
  for (const std::string& name : *names) {
    if (!name.starts_with(kWanted)) continue;
    const Result<std::int64_t> pid = parse_int(name.substr(sizeof kWanted - 1));
    if (pid) pids.insert(*pid);
  }
  return pids;
}

Status RowStream::complete(const StreamProcess& process, bool in_order) {
  return process.settings.empty() ? Status() : taker_->complete(process, in_order);
}

// The file is there when the entry is gone.
Status RowStream::complete_wanted(const std::set<std::int64_t>& pids) {
  FATHOM_TRY(take_living(pids));
  for (const std::int64_t pid : pids) {
    if (const StreamProcess* process = processes_.owner(pid, INT64_MAX))
      FATHOM_TRY(complete(*process, true));
    ::unlink(join_path(spool_.directory(), kWanted + std::to_string(pid)).c_str());
  }
  return {};
}

// The dead are counted before their segments are taken: what they wrote is in the logs then.
Result<bool> RowStream::pass() {
  const std::vector<const StreamProcess*> dead = processes_.newly_dead();
  const std::set<std::int64_t> asked = wanted();
  FATHOM_ASSIGN(const trace::DrainResult drained, drainer_->drain());
  if (drained.trouble) return *drained.trouble;
  waiting_bytes_ += drained.bytes;
  const bool due = waiting_bytes_ >= kEnoughBytes || !dead.empty() || !asked.empty() ||
                   !drained.owners_alive ||
                   (waiting_bytes_ > 0 && now_monotonic_ns() - decoded_ns_ > kLongEnoughNs);
  rest_ms_ = due || drained.bytes > 0 ? 1 : std::min(rest_ms_ * 2, kLongestRestMs);
  if (due) FATHOM_TRY(decode_logs());
  if (!asked.empty()) FATHOM_TRY(complete_wanted(asked));
  FATHOM_TRY(look_at_living());
  if (live_every_ns_ > 0)
    rest_ms_ = std::min(rest_ms_, static_cast<int>(live_every_ns_ / kNsPerMs));
  for (const StreamProcess* process : dead) {
    FATHOM_TRY(complete(*process, false));
    processes_.bury(*process);
  }
  return drained.owners_alive;
}

bool RowStream::rest() {
  pollfd waiting[] = {{signals_->fd(), POLLIN, 0}, {news_.get(), POLLIN, 0}};
  ::poll(waiting, 2, rest_ms_);
  char events[4096];
  while (news_.valid() && ::read(news_.get(), events, sizeof events) > 0) {
  }
  siginfo_t info;
  bool told = false;
  while (signals_->next(info)) told |= info.si_signo != SIGCHLD && info.si_signo != SIGPIPE;
  return told;
}

// Nobody may join while we look for the last time: guests hold this lock shared until they can be
// seen. With another name the directory is nobody's any more; the next one makes its own.
Result<bool> RowStream::end_run() {
  const Fd gate(::open(spool_.directory().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!gate.valid() || ::flock(gate.get(), LOCK_EX | LOCK_NB) != 0) return false;
  FATHOM_ASSIGN(const bool alive, pass());
  if (alive) return false;
  for (const StreamProcess* process : processes_.newly_dead())
    FATHOM_TRY(complete(*process, false));
  if (taker_->keeps_recording()) return true;
  const std::string spent = directory_ + "." + std::to_string(::getpid());
  FATHOM_TRY(rename_path(directory_, spent));
  FATHOM_TRY(remove_tree(spent));
  return true;
}

// What they have written is all that can be had; whether more will come, they alone know.
Result<StreamOutcome> RowStream::end_of_foreign() {
  std::set<std::int64_t> pids;
  StreamOutcome outcome;
  for (const auto& [key, process] : processes_.all()) {
    pids.insert(process.pid);
    outcome.writers_alive |= !process.ended;
  }
  FATHOM_TRY(take_living(pids));
  for (const auto& [key, process] : processes_.all()) FATHOM_TRY(complete(process, process.ended));
  outcome.spent = !outcome.writers_alive && !taker_->keeps_recording();
  if (outcome.spent) FATHOM_TRY(remove_tree(directory_));
  return outcome;
}

Result<StreamOutcome> RowStream::run() {
  StreamOutcome outcome;
  FATHOM_ASSIGN(outcome.writers_alive, pass());
  FATHOM_TRY(take_living({}));  // who is there
  if (outcome.writers_alive && processes_.only_foreign()) return end_of_foreign();
  for (;;) {
    FATHOM_ASSIGN(outcome.writers_alive, pass());
    if (!outcome.writers_alive) {
      FATHOM_ASSIGN(const bool ended, end_run());
      outcome.spent = ended && !taker_->keeps_recording();
      if (ended) return outcome;
    }
    if (!rest()) continue;
    FATHOM_TRY(decode_logs());
    outcome.interrupted = true;
    return outcome;
  }
}

}  // namespace

bool wants_stream(const std::string& directory) {
  return path_exists(join_path(spool_of(directory), "collector.lock")) ||
         path_exists(join_path(spool_of(directory), "nobody-collects"));
}

Result<std::int64_t> stream_start(const std::string& directory) {
  FATHOM_ASSIGN(const trace::Spool spool, trace::Spool::open(spool_of(directory)));
  return static_cast<std::int64_t>(spool.header().start_realtime_ns);
}

Result<StreamOutcome> stream_rows(const std::string& directory, StreamTaker& taker) {
  FATHOM_ASSIGN(const std::unique_ptr<RowStream> stream, RowStream::open(directory, taker));
  return stream->run();
}

}  // namespace fathom::session
