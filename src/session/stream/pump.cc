// SPDX-License-Identifier: MIT
// Draining rests 1 to 20 ms depending on how much there was, and longer where nobody writes;
// packing runs at the lowest priority. An exception in a thread becomes trouble of the recording,
// never a crash.
#include "session/stream/pump.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <set>

#include "base/clock.h"

namespace fathom::session {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kShortestRest{1};
constexpr milliseconds kLongestRest{20};
// Where no process has had the library for so long, as where only the kernel records.
constexpr milliseconds kRestAlone{320};
constexpr std::int64_t kAloneNs = 2'000'000'000;
constexpr std::int64_t kSecondNs = 1'000'000'000;
// A record of an ordinary call; what the live line counts by until something has been packed.
constexpr std::uint64_t kBytesPerEvent = 14;

void rest(const std::stop_token& stop, nanoseconds time) {
  std::mutex mutex;
  std::condition_variable_any waiting;
  std::unique_lock lock(mutex);
  waiting.wait_for(lock, stop, time, [] { return false; });
}

// How many processes the last sample was of.
std::uint64_t processes_in(const trace::CounterBatch& counters) {
  std::int64_t last = 0;
  for (const trace::CounterRow& row : counters.rows) last = std::max(last, row.ts);
  std::set<std::int32_t> pids;
  for (const trace::CounterRow& row : counters.rows) {
    if (row.ts == last && row.pid != trace::kNull32) pids.insert(row.pid);
  }
  return pids.size();
}

}  // namespace

void Pump::start(std::vector<sources::Source*> sources) {
  sources_ = std::move(sources);
  const auto guarded = [this](auto member) {
    return [this, member](const std::stop_token& stop) {
      try {
        (this->*member)(stop);
      } catch (const std::exception& error) {
        note({Code::kIo, std::string("recording stopped: ") + error.what(), ""});
      }
    };
  };
  draining_thread_ = std::jthread(guarded(&Pump::work));
  packing_thread_ = std::jthread(guarded(&Pump::pack_when_due));
  if (rows_) rows_thread_ = std::jthread(guarded(&Pump::hand_on_rows));
}

Status Pump::hand_rows_to(RowConsumer& consumer) {
  FATHOM_ASSIGN(rows_, LiveRows::open(directory_, consumer));
  return {};
}

void Pump::stop() {
  if (!draining_thread_.joinable()) return;
  std::jthread* const threads[] = {&draining_thread_, &packing_thread_, &rows_thread_};
  for (std::jthread* thread : threads) thread->request_stop();
  for (std::jthread* thread : threads) {
    if (thread->joinable()) thread->join();  // there may have been no room for it
  }
  if (rows_) {
    pass();  // somebody may have come, and gone, since the last one
    if (!rows_trouble_) look_for_rows();
    rows_.reset();
  }
  drain_sources();
}

Flow Pump::flow() const {
  const std::scoped_lock lock(mutex_);
  return flow_;
}

std::optional<Error> Pump::trouble() const {
  const std::scoped_lock lock(mutex_);
  return trouble_;
}

void Pump::note(const Error& error) {
  const std::scoped_lock lock(mutex_);
  if (!trouble_) trouble_ = error;
}

void Pump::work(const std::stop_token& stop) {
  milliseconds pause = kShortestRest;
  std::int64_t met_ns = now_monotonic_ns();  // when somebody was there
  while (!stop.stop_requested()) {
    const bool busy = pass();
    if (busy || flow().writers_alive) met_ns = now_monotonic_ns();
    const bool alone = now_monotonic_ns() - met_ns > kAloneNs;
    pause = busy ? kShortestRest : std::min(pause * 2, alone ? kRestAlone : kLongestRest);
    if (now_monotonic_ns() >= next_second_ns_) each_second();
    rest(stop, pause);
  }
}

// One look at the spool; whether there was something to take.
bool Pump::pass() {
  const Result<trace::DrainResult> drained = packer_.drain();
  if (!drained) {
    note(drained.error());
    return false;
  }
  if (drained->trouble) note(*drained->trouble);
  const trace::PackProgress progress = packer_.progress();
  const std::scoped_lock lock(mutex_);
  drained_bytes_ += drained->bytes;
  if (drained->bytes > 0) {
    due_ = true;
    packing_is_due_.notify_one();
  }
  flow_.events = progress.events + drained_bytes_ / kBytesPerEvent;
  flow_.bytes = progress.parquet_bytes + drained->pool_bytes;
  flow_.writers_alive = drained->owners_alive;
  flow_.lost = std::max(flow_.lost, drained->lost);  // a pool that is gone takes its counters along
  ++flow_.passes;
  return drained->bytes > 0;
}

// Packing has time, the program has not: it goes first wherever both want a core.
void Pump::pack_when_due(const std::stop_token& stop) {
  constexpr int kNicest = 19;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNicest);
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      if (!packing_is_due_.wait(lock, stop, [this] { return due_; })) return;
      due_ = false;
    }
    pack(stop);
  }
}

// After a failure (a full disk) the logs stay as they are, for finish() or a later command.
void Pump::pack(const std::stop_token& stop) {
  if (!packing_) return;
  const std::uint64_t before = packer_.progress().events;
  const auto go_on = [this, &stop](std::uint64_t log) {
    return !stop.stop_requested() && (!rows_ || log < rows_->read_logs());
  };
  if (const Status packed = packer_.pack_complete(go_on); !packed) {
    note(packed.error());
    packing_ = false;
  }
  if (packer_.progress().events == before) return;
  const std::scoped_lock lock(mutex_);
  drained_bytes_ = 0;
}

void Pump::hand_on_rows(const std::stop_token& stop) {
  while (!stop.stop_requested() && look_for_rows()) rest(stop, nanoseconds(rows_->pause_ns()));
}

// Whether to look again. Packing waits for logs that were not read.
bool Pump::look_for_rows() {
  const std::uint64_t before = rows_->read_logs();
  try {
    if (const Status looked = rows_->look(packer_); !looked) rows_trouble_ = looked.error();
  } catch (const std::exception& error) {
    rows_trouble_ = Error{Code::kIo, std::string("cannot pass rows on: ") + error.what(), ""};
  }
  if (rows_trouble_) rows_->end();
  if (rows_->read_logs() == before) return !rows_trouble_;
  const std::scoped_lock lock(mutex_);
  due_ = true;
  packing_is_due_.notify_one();
  return !rows_trouble_;
}

void Pump::each_second() {
  next_second_ns_ = now_monotonic_ns() + kSecondNs;
  drain_sources();
  packer_.look([](trace::Drainer& drainer) { drainer.beat(); });
}

void Pump::drain_sources() {
  trace::Strings strings;
  trace::HostRows rows;
  for (sources::Source* source : sources_) source->drain(strings, rows);
  if (rows.empty()) return;
  if (seen_) seen_(rows, strings);
  if (!rows.counters.rows.empty()) {
    const std::scoped_lock lock(mutex_);
    flow_.processes = processes_in(rows.counters);
  }
  if (const Status appended = packer_.append(rows, strings); !appended) note(appended.error());
}

}  // namespace fathom::session
