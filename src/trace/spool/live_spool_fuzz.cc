// SPDX-License-Identifier: MIT
// A spool that is drained while its files are scribbled over, cut, replaced and removed: between
// passes, and by a second thread in the middle of them. Nothing outside is written. Where nobody
// scribbled, every event is there in the end or its loss is told.
#include <sys/mman.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "trace/recording/recording.h"
#include "trace/spool/drainer.h"
#include "trace/testing/fuzzed_recording.h"

namespace fathom::trace {
namespace {

using testing::Pieces;
using testing::SpoolBuilder;

constexpr std::uint64_t kEventsOfOne = 6;  // small_program's

// Writes the same bytes to a file, over and over, while it is let.
class Scribbler {
 public:
  Scribbler() : thread_([this] { work(); }) { thread_.detach(); }

  void start(const std::string& path, std::string_view bytes, std::size_t at) {
    const std::scoped_lock lock(mutex_);
    file_ = fathom::testing::open_plain(path, 0);
    bytes_ = bytes;
    at_ = static_cast<off_t>(at);
    on_ = file_.valid();
    begin_.notify_one();
  }
  void stop() {
    on_ = false;
    const std::scoped_lock lock(mutex_);
    file_ = Fd();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      begin_.wait(lock, [this] { return on_.load(); });
      const std::string zeros(bytes_.size(), '\0');
      while (on_) {
        (void)!::pwrite(file_.get(), bytes_.data(), bytes_.size(), at_);
        (void)!::pwrite(file_.get(), zeros.data(), zeros.size(), at_);
      }
    }
  }
  std::mutex mutex_;
  std::condition_variable begin_;
  std::atomic<bool> on_ = false;
  Fd file_;
  std::string bytes_;
  off_t at_ = 0;
  std::thread thread_;
};

class LiveSpool {
 public:
  LiveSpool(const std::string& folder, testing::Canary& canary, Scribbler& scribbler)
      : canary_(canary),
        scribbler_(scribbler),
        recording_(folder + "/r.fathom"),
        builder_(recording_),
        spool_(Spool::open(builder_.directory()).value()),
        page_(map_page()) {
    add_pool();
  }
  ~LiveSpool() {
    ::munmap(page_, FATHOM_RUN_HEADER_SIZE);
    (void)remove_tree(recording_);
  }

  void live(Pieces& pieces) {
    Result<Drainer> drainer = Drainer::open(spool_, Clock::of(spool_.header()), 0);
    while (drainer && !pieces.done()) step(*drainer, pieces);
    scribbler_.stop();
    if (drainer && drainer->drain() && !scribbled_) require_account(*drainer);
  }

 private:
  std::string name(std::uint8_t which) const {
    constexpr const char* kNames[] = {"0.pool",        "1.pool", "run.header",   "definitions.log",
                                      "drained-0.log", "lock",   "drained-1.log"};
    return builder_.directory() + "/" + kNames[which % std::size(kNames)];
  }

  // As a process of the run has it, whatever becomes of the file.
  std::uint8_t* map_page() const {
    const Fd file(::open(name(2).c_str(), O_RDWR | O_CLOEXEC));
    void* page =
        ::mmap(nullptr, FATHOM_RUN_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (page == MAP_FAILED) std::abort();
    return static_cast<std::uint8_t*>(page);
  }

  // As a process makes it: the page counts the run that is going to be written.
  void add_pool() {
    if (pools_ == 8 || !fathom::testing::is_plain_directory(builder_.directory())) return;
    const std::uint64_t key = 0x77 + pools_;
    const testing::SegmentSpec segment{
        testing::small_program(builder_, key, SpoolBuilder::kDeadPid).bytes(), FATHOM_SEGMENT_OWNED,
        SpoolBuilder::kDeadPid, key};
    (void)builder_.add_pool(std::to_string(pools_), {segment});
    pools_++;
    auto* const shared = reinterpret_cast<fathom_run_shared*>(page_ + FATHOM_RUN_SHARED_OFFSET);
    __atomic_fetch_add(&shared->runs, 1, __ATOMIC_RELAXED);
  }

  void step(Drainer& drainer, Pieces& pieces) {
    const std::uint8_t what = pieces.byte();
    const std::uint8_t detail = pieces.byte();
    switch (what % 9) {
      case 0:
        return (void)drainer.drain();
      case 1:
        return add_pool();
      case 2:
        return cut(name(detail), pieces.number());
      case 3:
        return testing::replace(name(detail), pieces.byte(), canary_);
      case 4:
        return scribble(name(detail), pieces, drainer);
      case 5:
        return (void)Recording::open(recording_);
      case 6:
        return look(drainer);
      case 7:
        return drainer.roll();
      default:
        return testing::replace(builder_.directory(), 6, canary_);
    }
  }

  // The header's page is as the recorder mends it only after the next pass: until then a process
  // that touches what is gone would end.
  void cut(const std::string& path, std::size_t length) const {
    if (path != name(2) || length >= FATHOM_RUN_HEADER_SIZE) fathom::testing::cut(path, length);
  }

  void scribble(const std::string& path, Pieces& pieces, Drainer& drainer) {
    scribbled_ = true;
    const std::size_t place = pieces.number();
    const bool meanwhile = pieces.byte() % 2 == 1;
    const std::string_view bytes = pieces.piece();
    if (!meanwhile) return testing::put_bytes(path, bytes, place);
    scribbler_.start(path, bytes, place);
    (void)drainer.drain();
    scribbler_.stop();
  }

  static void look(Drainer& drainer) {
    drainer.visit_live([](const Chunk&) {});
    (void)drainer.copy_live();
    (void)drainer.live_state();
    for (const std::uint64_t log : drainer.complete_logs()) (void)drainer.open_log(log);
  }

  // What was drained, by the logs that the drainer itself holds.
  void require_account(Drainer& drainer) {
    drainer.roll();
    Strings strings;
    Decoder decoder(strings, Clock::of(spool_.header()), {});
    EventBatch events;
    CounterBatch counters;
    for (const std::uint64_t n : drainer.complete_logs()) {
      const Result<Drainer::OpenLog> log = drainer.open_log(n);
      if (!log) return;  // told
      const Result<std::string> bytes = log->file.read_range(0, log->bytes);
      if (!bytes || bytes->size() < log->bytes) return;
      scan_log({reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()},
               [&](const LogEntry& entry, std::uint64_t) {
                 if (entry.kind != EntryKind::kChunk) return;
                 const Chunk chunk{entry.bytes, spool_.schema(entry.schema)};
                 decoder.define(chunk);
                 decoder.decode({&chunk, 1}, events, counters);
               });
    }
    const std::size_t told =
        drainer.losses().size() +
        drainer.gaps([](std::uint64_t) { return false; }, decoder.definitions()).size();
    if (events.rows() < kEventsOfOne * pools_ && told == 0) std::abort();
  }

  testing::Canary& canary_;
  Scribbler& scribbler_;
  std::string recording_;
  SpoolBuilder builder_;
  Spool spool_;
  std::uint8_t* page_;
  std::uint64_t pools_ = 0;
  bool scribbled_ = false;
};

}  // namespace
}  // namespace fathom::trace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::trace;
  static const testing::TempDir folder;
  static testing::Canary canary(folder.path() + "/outside");
  static auto& scribbler = *new Scribbler;  // its thread never ends
  testing::Pieces pieces(data, size);
  LiveSpool(folder.path(), canary, scribbler).live(pieces);
  canary.check();
  return 0;
}
