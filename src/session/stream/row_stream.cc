// SPDX-License-Identifier: MIT
// Serves a run that nobody supervises: drains its spool, hands rows on to those who write other
// tools' files, and ends when nobody is left who could write. Rows that nobody waits for are handed
// on in larger pieces; a process that asks for its file (an entry "wanted-PID" in the spool) is
// served at once, since it waits for that.
#include "session/stream/row_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "session/signal_queue.h"
#include "session/stream/look_pace.h"
#include "session/stream/row_feed.h"
#include "session/stream/stream_processes.h"
#include "trace/spool/drainer.h"
#include "trace/spool/log_follower.h"
#include "trace/spool/mappers.h"
#include "trace/spool/spool.h"

namespace fathom::session {
namespace {

// Entries that processes leave in the spool: one wants its file now; one is about to end; PID 1
// ends, and with it its namespace.
constexpr char kWanted[] = "wanted-";
constexpr char kLeaves[] = "leaves-";
constexpr char kLast[] = "last";
constexpr std::int64_t kFirstProcess = 1;
constexpr int kLongestRestMs = 100;
// Where living processes are looked at meanwhile: rows of one that is killed are handed on already.
constexpr int kLongestLiveRestMs = 250;
constexpr std::int64_t kNsPerMs = 1'000'000;
// Rows that are not asked for go on when this much lies in logs, or after this long.
constexpr std::uint64_t kEnoughBytes = std::uint64_t{1} << 20;
constexpr std::int64_t kLongEnoughNs = 500 * kNsPerMs;

std::string spool_of(const std::string& directory) {
  return join_path(directory, trace::kSpoolDirectory);
}

class RowStream {
 public:
  static Result<std::unique_ptr<RowStream>> open(const std::string& directory,
                                                 RowConsumer& consumer);
  void all_ended() {
    drainer_->all_ended();
    feed_.processes().all_ended();
  }
  Result<StreamOutcome> run();

 private:
  RowStream(std::string directory, trace::Spool spool, trace::FileLock lock, RowConsumer& consumer)
      : directory_(std::move(directory)),
        spool_(std::move(spool)),
        lock_(std::move(lock)),
        consumer_(&consumer),
        feed_(spool_, consumer, RowFeed::Whose::kAsking),
        logs_(spool_, consumer.first_log()),
        settled_(consumer.first_log()) {}

  Status start();
  Result<bool> pass();  // whether somebody may still write
  Result<bool> rest();  // whether somebody wants us to end
  Status decode_logs();
  Status settle_logs();
  Status look_at_living();
  [[nodiscard]] std::set<std::int64_t> marked(std::string_view with) const;
  [[nodiscard]] std::set<std::int64_t> leaving_here();
  [[nodiscard]] bool only_leaving_left();
  void release_leaving();
  [[nodiscard]] bool all_end();
  Status remove_recording();
  Status complete(const StreamProcess& process, bool in_order);
  Status complete_wanted(std::set<std::int64_t> pids);
  Result<bool> end_run();
  Result<StreamOutcome> end_of_unseen();

  std::string directory_;
  trace::Spool spool_;
  trace::FileLock lock_;
  RowConsumer* consumer_;
  RowFeed feed_;
  trace::LogFollower logs_;
  std::uint64_t settled_;           // logs below are with the consumer, and gone
  bool last_ = false;               // PID 1 ends, and everybody with it
  std::set<std::int64_t> leaving_;  // wait to end, and write nothing any more
  bool unknown_ = false;            // whoever is left cannot be seen from here, and is silent
  bool unseen_ = false;             // somebody cannot be seen from here
  std::optional<trace::Drainer> drainer_;
  std::optional<SignalQueue> signals_;
  Fd news_;  // inotify: entries that appear in the spool
  int rest_ms_ = 1;
  std::uint64_t waiting_bytes_ = 0;    // in logs, not decoded yet
  std::int64_t decoded_ns_ = 0;        // when rows were handed on last
  std::int64_t next_look_ns_ = 0;      // at living processes
  std::uint64_t looked_at_bytes_ = 0;  // that were there at the last look
};

Result<std::unique_ptr<RowStream>> RowStream::open(const std::string& directory,
                                                   RowConsumer& consumer) {
  FATHOM_ASSIGN(trace::Spool spool, trace::Spool::open(spool_of(directory)));
  FATHOM_ASSIGN(std::optional<trace::FileLock> lock,
                trace::FileLock::attempt(spool.lock_path(), trace::FileLock::Mode::kExclusive));
  if (!lock)
    return Error{Code::kDenied, "another process collects " + directory + " already",
                 "wait until it has ended"};
  std::unique_ptr<RowStream> stream(
      new RowStream(directory, std::move(spool), std::move(*lock), consumer));
  FATHOM_TRY(stream->start());
  return stream;
}

Status RowStream::start() {
  FATHOM_ASSIGN(SignalQueue signals, SignalQueue::open());
  signals_.emplace(std::move(signals));
  news_.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (news_.valid()) ::inotify_add_watch(news_.get(), spool_.directory().c_str(), IN_CREATE);
  std::uint64_t first = settled_;
  for (const std::uint64_t n : spool_.logs()) first = std::max(first, n + 1);
  feed_.tick();
  FATHOM_ASSIGN(trace::Drainer drainer, trace::Drainer::open(spool_, feed_.clock(), first));
  drainer_.emplace(std::move(drainer));
  waiting_bytes_ = first;  // what an earlier collector left is due
  return {};
}

// Logs of a recording that is somebody's become files, which should be few: they are not cut short.
Status RowStream::decode_logs() {
  if (!consumer_->keeps_recording()) drainer_->roll();
  FATHOM_TRY(feed_.see(*drainer_));
  feed_.tick();
  FATHOM_TRY(logs_.follow(drainer_->log_end(), [this](std::span<const trace::Chunk> chunks) {
    return feed_.take_drained(chunks);
  }));
  waiting_bytes_ = 0;
  decoded_ns_ = now_monotonic_ns();
  return settle_logs();
}

Status RowStream::settle_logs() {
  const std::uint64_t read = logs_.position().log;
  if (consumer_->keeps_recording() || settled_ == read) return {};
  FATHOM_TRY(consumer_->settle(read - 1, feed_.ahead()));
  for (; settled_ < read; settled_++) drainer_->remove_log(settled_);
  return {};
}

// Those that somebody wants to see while they live. What was drained comes first: it is older.
Status RowStream::look_at_living() {
  const std::int64_t now = now_monotonic_ns();
  if (feed_.live_every_ns() == 0 || now < next_look_ns_) return {};
  next_look_ns_ = now + feed_.live_every_ns();
  const std::uint64_t bytes = drainer_->live_state().bytes;
  if (waiting_bytes_ == 0 && bytes == looked_at_bytes_) return {};
  looked_at_bytes_ = bytes;
  const LookPace pace;
  FATHOM_TRY(decode_logs());
  FATHOM_TRY(feed_.take_living(feed_.live()));
  FATHOM_TRY(consumer_->refresh());
  next_look_ns_ = std::max(next_look_ns_, now_monotonic_ns() + pace.rest_ns(0));
  return {};
}

// PID 1 of our own namespace waits for us, and when it has ended the kernel kills all others there.
bool RowStream::all_end() {
  if (!path_exists(join_path(spool_.directory(), kLast))) return false;
  const StreamProcess* first = feed_.processes().newest(kFirstProcess);
  return first != nullptr && !first->foreign;
}

// The processes that left an entry of this kind.
std::set<std::int64_t> RowStream::marked(std::string_view with) const {
  std::set<std::int64_t> pids;
  const Result<std::vector<std::string>> names = list_dir(spool_.directory());
  if (!names) return pids;
  for (const std::string& name : *names) {
    if (!name.starts_with(with)) continue;
    const Result<std::int64_t> pid = parse_int(name.substr(with.size()));
    if (pid) pids.insert(*pid);
  }
  return pids;
}

// Those whose number means the same to us.
std::set<std::int64_t> RowStream::leaving_here() {
  std::set<std::int64_t> pids;
  for (const std::int64_t pid : leaving_) {
    const StreamProcess* process = feed_.processes().newest(pid);
    if (process != nullptr && !process->foreign) pids.insert(pid);
  }
  return pids;
}

// Whether nobody else is known who could write: then the run may go while they wait.
bool RowStream::only_leaving_left() {
  const std::set<std::int64_t> here = leaving_here();
  if (here.empty() || here.size() < leaving_.size() || unseen_ || consumer_->keeps_recording())
    return false;
  return std::ranges::all_of(feed_.processes().incomplete(), [&](const StreamProcess* process) {
    return here.contains(process->pid);
  });
}

// The run goes on without them.
void RowStream::release_leaving() {
  for (const std::int64_t pid : leaving_)
    ::unlink(join_path(spool_.directory(), kLeaves + std::to_string(pid)).c_str());
  leaving_.clear();
}

Status RowStream::complete(const StreamProcess& process, bool in_order) {
  return process.settings.empty() ? Status() : consumer_->complete(process, in_order);
}

// A file is there when its entry is gone; when that of PID 1 is gone there is no time left for
// others.
Status RowStream::complete_wanted(std::set<std::int64_t> pids) {
  last_ |= pids.contains(kFirstProcess) && all_end();
  if (last_) {
    FATHOM_TRY(feed_.take_living({}));  // who is there
    for (const auto& [key, process] : feed_.processes().all()) pids.insert(process.pid);
  }
  std::set<std::int64_t> of_rows;
  for (const std::int64_t pid : pids) {
    const StreamProcess* process = feed_.processes().newest(pid);
    of_rows.insert(process != nullptr ? process->row_pid : pid);
  }
  FATHOM_TRY(feed_.take_living(of_rows));
  for (const std::int64_t pid : pids) {
    const StreamProcess* process = feed_.processes().newest(pid);
    if (process != nullptr && !process->lodges) FATHOM_TRY(complete(*process, true));
  }
  for (const std::int64_t pid : pids)
    ::unlink(join_path(spool_.directory(), kWanted + std::to_string(pid)).c_str());
  return {};
}

// The dead are counted before their segments are taken: what they wrote is in the logs then.
Result<bool> RowStream::pass() {
  const std::vector<const StreamProcess*> dead = feed_.processes().newly_dead();
  leaving_ = marked(kLeaves);
  std::set<std::int64_t> asked = marked(kWanted);
  asked.insert(leaving_.begin(), leaving_.end());
  FATHOM_ASSIGN(const trace::DrainResult drained, drainer_->drain());
  if (drained.trouble) return *drained.trouble;
  waiting_bytes_ += drained.bytes;
  const bool due = waiting_bytes_ >= kEnoughBytes || !dead.empty() || !asked.empty() ||
                   !drained.owners_alive ||
                   (waiting_bytes_ > 0 && now_monotonic_ns() - decoded_ns_ > kLongEnoughNs);
  const bool looks = feed_.live_every_ns() > 0 && news_.valid();
  const int longest = looks ? kLongestLiveRestMs : kLongestRestMs;
  rest_ms_ = due || drained.bytes > 0 ? 1 : std::min(rest_ms_ * 2, longest);
  if (due) FATHOM_TRY(decode_logs());
  if (!asked.empty()) FATHOM_TRY(complete_wanted(asked));
  FATHOM_TRY(look_at_living());
  for (const StreamProcess* process : dead) {
    FATHOM_TRY(complete(*process, false));
    feed_.processes().mark_complete(*process);
  }
  unseen_ = drained.owners_unknown;
  unknown_ = unseen_ && !drained.owners_alive;
  return drained.owners_alive || drained.owners_unknown;
}

// Until a pass is due: the time has come, an entry appeared in the spool, or a segment is full.
// Whoever writes is looked at meanwhile, which costs next to nothing where nobody does.
Result<bool> RowStream::rest() {
  const std::int64_t until = now_monotonic_ns() + rest_ms_ * kNsPerMs;
  for (;;) {
    const std::int64_t next = feed_.live_every_ns() > 0 ? std::min(until, next_look_ns_) : until;
    const std::int64_t nap_ms = (next - now_monotonic_ns()) / kNsPerMs + 1;
    pollfd waiting[] = {{signals_->fd(), POLLIN, 0}, {news_.get(), POLLIN, 0}};
    ::poll(waiting, 2, static_cast<int>(std::max(nap_ms, std::int64_t{1})));
    if (waiting[0].revents != 0 && signals_->told_to_end()) return true;
    char events[4096];
    if (waiting[1].revents != 0) {
      while (::read(news_.get(), events, sizeof events) > 0) {
      }
      return false;
    }
    if (now_monotonic_ns() >= until || drainer_->live_state().full) return false;
    FATHOM_TRY(look_at_living());
  }
}

// Nobody may join while we look for the last time: guests hold this lock shared until they can be
// seen. With another name the directory is nobody's any more; the next one makes its own. A child
// that was just forked cannot be seen yet, and its parents may be gone: it has the run mapped.
Result<bool> RowStream::end_run() {
  const Fd gate(::open(spool_.directory().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!gate.valid() || ::flock(gate.get(), LOCK_EX | LOCK_NB) != 0) return false;
  // Whoever is not seen now has ended, and the pass after it takes what they wrote.
  if (!last_ && trace::is_mapped_by_others(spool_, leaving_here())) {
    rest_ms_ = kLongestRestMs;
    return false;
  }
  FATHOM_ASSIGN(const bool alive, pass());
  if (alive && !last_ && leaving_.empty()) return false;
  // Nobody is left who could write: also one whose pid is somebody else's by now has ended.
  const StreamProcesses& all = feed_.processes();
  for (const StreamProcess* process : alive ? feed_.processes().newly_dead() : all.incomplete())
    FATHOM_TRY(complete(*process, false));
  if (!consumer_->keeps_recording()) {
    FATHOM_TRY(remove_recording());
  } else {
    release_leaving();
  }
  return true;
}

Status RowStream::remove_recording() {
  const std::string spent = directory_ + "." + std::to_string(::getpid());
  FATHOM_TRY(rename_path(directory_, spent));
  consumer_->over();
  return remove_tree(spent);
}

// What they have written is all that can be had; whether more will come, they alone know.
Result<StreamOutcome> RowStream::end_of_unseen() {
  std::set<std::int64_t> pids;
  StreamOutcome outcome;
  FATHOM_TRY(decode_logs());
  outcome.writers_alive = feed_.processes().incomplete().empty();  // one that we do not know yet
  for (const StreamProcess* process : feed_.processes().incomplete()) {
    pids.insert(process->row_pid);
    outcome.writers_alive |= !process->ended;
  }
  outcome.unseen = outcome.writers_alive;
  FATHOM_TRY(feed_.take_living(pids));
  for (const StreamProcess* process : feed_.processes().incomplete())
    FATHOM_TRY(complete(*process, process->ended));
  outcome.spent = !outcome.writers_alive && !consumer_->keeps_recording();
  if (outcome.spent) FATHOM_TRY(remove_recording());
  return outcome;
}

Result<StreamOutcome> RowStream::run() {
  StreamOutcome outcome;
  FATHOM_ASSIGN(outcome.writers_alive, pass());
  FATHOM_TRY(feed_.see(*drainer_));
  FATHOM_TRY(feed_.take_living({}));  // who is there
  for (;;) {
    FATHOM_ASSIGN(outcome.writers_alive, pass());
    if (unknown_) {
      release_leaving();
      return end_of_unseen();
    }
    if (!outcome.writers_alive || last_ || only_leaving_left()) {
      FATHOM_ASSIGN(const bool ended, end_run());
      outcome.spent = ended && !consumer_->keeps_recording();
      if (ended) return outcome;
    }
    release_leaving();
    FATHOM_ASSIGN(const bool told, rest());
    if (!told) continue;
    FATHOM_TRY(decode_logs());
    outcome.interrupted = true;
    return outcome;
  }
}

}  // namespace

bool has_stream(const std::string& directory) {
  return path_exists(join_path(spool_of(directory), FATHOM_RUN_FILE));
}

bool wants_stream(const std::string& directory) {
  return path_exists(join_path(spool_of(directory), "collector.lock")) ||
         path_exists(join_path(spool_of(directory), "nobody-collects"));
}

Result<std::int64_t> stream_start(const std::string& directory) {
  FATHOM_ASSIGN(const trace::Spool spool, trace::Spool::open(spool_of(directory)));
  return static_cast<std::int64_t>(spool.header().start_realtime_ns);
}

Result<StreamOutcome> stream_rows(const std::string& directory, RowConsumer& consumer, bool ended) {
  FATHOM_ASSIGN(const std::unique_ptr<RowStream> stream, RowStream::open(directory, consumer));
  if (ended) stream->all_ended();
  return stream->run();
}

}  // namespace fathom::session
