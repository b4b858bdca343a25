// SPDX-License-Identifier: MIT
// A recording as large as one likes, as a spool that nobody has packed: the segments that a
// training job of four processes with two threads each would have left. The same bytes for the same
// number but for the clock at the start. usage: scale_spool TRACE EVENTS
#include <cstdio>
#include <string>
#include <vector>

#include "base/text.h"
#include "trace/testing/spool_builder.h"

namespace fathom::trace::testing {
namespace {

constexpr std::uint64_t kProcesses = 4, kThreads = 2, kFiles = 250;
constexpr std::uint64_t kStepsPerEpoch = 500;
constexpr std::int64_t kAgeNs = std::int64_t{3600} * 1'000'000'000;  // all of it is past
constexpr std::size_t kSegmentsPerPool = 1024;
constexpr std::size_t kSegmentRoom = FATHOM_SEGMENT_SIZE - FATHOM_SEGMENT_HEADER_SIZE - 128;
// Ids of a process's definitions; files follow.
enum : std::uint64_t {
  kStep = 1,
  kEpoch,
  kTraining,
  kStepSite,
  kEpochSite,
  kExe,
  kCommand,
  kExeText,
  kCommandText,
  kRss,
  kRssSite,
  kFirstFile
};

// Writes full segments into pools, a pool at a time.
class Pools {
 public:
  explicit Pools(SpoolBuilder& spool) : spool_(spool) {}
  void add(SegmentSpec segment) {
    segments_.push_back(std::move(segment));
    if (segments_.size() == kSegmentsPerPool) flush();
  }
  void flush() {
    if (segments_.empty()) return;
    spool_.add_pool("1000-1-" + std::to_string(next_++), segments_, SpoolBuilder::kDeadPid, 0,
                    FATHOM_SEGMENT_SIZE);
    segments_.clear();
  }

 private:
  SpoolBuilder& spool_;
  std::vector<SegmentSpec> segments_;
  int next_ = 0;
};

class Thread {
 public:
  Thread(const SpoolBuilder& spool, Pools& pools, std::uint64_t process, std::uint64_t number)
      : pools_(pools),
        pid_(1000 + process),
        tid_(number == 0 ? pid_ : 5000 + process * kThreads + number),
        number_(number),
        random_(process * kThreads + number + 1),
        now_(spool.at(1'000'000)) {
    begin_segment();
    epoch_begin_ = now_;
    if (number == 0) define();
  }

  // Up to `events` more; how many there were.
  std::uint64_t step(std::uint64_t events) {
    std::uint64_t made = 0;
    const std::uint64_t begin = now_;
    const auto room = [&] { return made + 1 < events; };  // the last is the region
    if (room()) made += open();
    for (int i = 0; i < 12 && room(); ++i) made += pread(i % 4 == 3);
    for (int i = 0; i < 4 && room(); ++i) made += read();
    if (made + 2 < events) made += buffered_read();
    if (random() % 64 == 0) add_counter();
    pass(200);
    writer_.region(1, begin, now_, kStepSite);
    ++made;
    if (++steps_ % kStepsPerEpoch == 0 && made < events) {
      writer_.region(0, epoch_begin_, now_, kEpochSite);
      epoch_begin_ = now_ + 50;
      ++made;
    }
    pass(100);
    if (writer_.bytes().size() > kSegmentRoom - 1024) end_segment();
    return made;
  }

  void end_segment() {
    SegmentSpec segment;
    segment.bytes = writer_.bytes();
    segment.owner_pid = SpoolBuilder::kDeadPid;
    segment.owner_key = pid_;
    pools_.add(std::move(segment));
    begin_segment();
  }

 private:
  void begin_segment() {
    writer_ = RecordWriter();
    writer_.switch_to({pid_, pid_, tid_, number_, run_++, 0, now_});
    file_ = 0;
  }

  void define() {
    writer_.process(0, pid_, 999, 0, now_, FATHOM_ATTACH_PRELOAD);
    writer_.string(kStep, "step").string(kEpoch, "epoch").string(kTraining, "training");
    writer_.site(kStepSite, kStep, kTraining).site(kEpochSite, kEpoch, kTraining);
    writer_.string(kRss, "rss").site(kRssSite, kRss, 0);
    writer_.string(kExe, "exe").string(kExeText, "/usr/bin/train").meta(kExe, kExeText);
    writer_.string(kCommand, "command").string(kCommandText, "train --epochs 9");
    writer_.meta(kCommand, kCommandText);
    for (std::uint64_t file = 0; file < kFiles; ++file)
      writer_.path(kFirstFile + file, 0,
                   "/data/" + std::to_string(pid_) + "/shard-" + std::to_string(file));
  }

  std::uint64_t random() {  // splitmix64
    random_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = (random_ ^ (random_ >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  void pass(std::uint64_t ns) { now_ += ns; }
  // A call's duration: mostly short, now and then long.
  std::uint64_t duration() {
    const std::uint64_t dice = random();
    return 300 + dice % 700 + (dice >> 32) % 100 / 99 * (dice >> 16) % 50'000;
  }

  void add_counter() {
    pass(10);
    writer_.counter(now_, kRssSite, static_cast<std::int64_t>(now_ >> 8));
  }

  std::uint64_t open() {
    file_ = kFirstFile + random() % kFiles;
    const std::uint64_t begin = now_;
    pass(duration());
    writer_.call(kOpen, 2, begin, now_, 0,
                 {fathom_zigzag(7), file_, fathom_zigzag(7), fathom_zigzag(0)});
    fresh_ = true;
    return 1;
  }

  std::uint64_t pread(bool elsewhere) {
    const std::uint64_t size = std::uint64_t{4096} << random() % 6;
    const std::uint64_t jump =
        elsewhere ? fathom_zigzag(static_cast<std::int64_t>(random() % 1024 * 4096)) : 0;
    const std::uint64_t begin = now_;
    pass(duration());
    if (fresh_ || file_ == 0) {
      if (file_ == 0) file_ = kFirstFile + random() % kFiles;
      writer_.call(kPread, 2, begin, now_, FATHOM_FLAG_FULL,
                   {fathom_zigzag(7), file_, 1 + jump, size});
    } else {
      writer_.call(kPread, 2, begin, now_, FATHOM_FLAG_SAME | FATHOM_FLAG_FULL, {1 + jump, size});
    }
    fresh_ = false;
    pass(60);
    return 1;
  }

  // Small, and the last one of a file is short.
  std::uint64_t read() {
    const std::uint64_t size = 64 << random() % 4;
    const std::uint64_t begin = now_;
    pass(duration() / 2);
    writer_.call(kRead, 2, begin, now_, FATHOM_FLAG_SAME,
                 {1, size, fathom_zigzag(static_cast<std::int64_t>(size / 2))});
    pass(40);
    return 1;
  }

  std::uint64_t buffered_read() {
    const std::uint64_t begin = now_;
    pass(50);
    const std::uint64_t inner = now_;
    pass(duration());
    writer_.call(kRead, 3, inner, now_, FATHOM_FLAG_SAME | FATHOM_FLAG_FULL, {1, 4096});
    pass(30);
    writer_.call(kFread, 2, begin, now_, FATHOM_FLAG_SAME | FATHOM_FLAG_FULL, {1, 512, 8});
    return 2;
  }

  Pools& pools_;
  RecordWriter writer_;
  std::uint64_t pid_, tid_, number_;
  std::uint64_t random_;
  std::uint64_t now_;
  std::uint64_t run_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t epoch_begin_ = 0;
  std::uint64_t file_ = 0;  // 0: a segment has just begun
  bool fresh_ = false;      // opened, not yet read
};

int generate(const std::string& trace, std::uint64_t events) {
  SpoolBuilder spool(trace, false, kAgeNs);
  Pools pools(spool);
  std::vector<Thread> threads;
  threads.reserve(kProcesses * kThreads);
  for (std::uint64_t i = 0; i < kProcesses * kThreads; ++i)
    threads.emplace_back(spool, pools, i / kThreads, i % kThreads);
  std::uint64_t made = 0;
  for (std::size_t at = 0; made < events; at = (at + 1) % threads.size())
    made += threads[at].step(events - made);
  for (Thread& thread : threads) thread.end_segment();
  pools.flush();
  std::printf("%llu\n", static_cast<unsigned long long>(made));
  return 0;
}

}  // namespace
}  // namespace fathom::trace::testing

int main(int count, char** words) {
  const auto events = fathom::parse_int(count == 3 ? words[2] : "");
  if (!events || *events <= 0) {
    std::fprintf(stderr, "usage: scale_spool TRACE EVENTS\n");
    return 2;
  }
  return fathom::trace::testing::generate(words[1], static_cast<std::uint64_t>(*events));
}
