// SPDX-License-Identifier: MIT
// Owns the lock, the drainer and the decoder of a recording. A log is removed only after the
// Parquet file that replaces it has been renamed into place; whoever is killed in between leaves
// both, and the next one sees by the name of the file that the log is packed. Draining goes on
// while this packs: mutex_ guards the drainer and what both threads write, and is never held while
// a log is decoded or written.
#include "trace/recording/packer.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/heap.h"
#include "base/private_files.h"
#include "base/sum.h"
#include "sql/database.h"
#include "sql/parquet_writer.h"
#include "trace/decode/definer.h"
#include "trace/recording/packer_state.h"
#include "trace/recording/recording.h"
#include "trace/rows/frame_names.h"
#include "trace/rows/layers.h"

namespace fathom::trace {
namespace {

// What may lie idle between two logs: without a bound it was seen to grow with their number.
constexpr std::size_t kIdleHeap = std::size_t{16} << 20;

constexpr const char* kPartTables[] = {kCountersTable, kIntervalsTable, kSamplesTable,
                                       kFramesTable,   kSummaryTable,   kTimelineTable,
                                       kCoverageTable, kInodesTable,    kEventsTable};

// Of these there is one file for the recording in the end: finish() makes one of all.
bool is_summed(std::string_view table) {
  return std::ranges::find(kSummedTables, table) != std::end(kSummedTables);
}

// A reader that asks whether somebody has the lock holds it for a moment.
Result<std::optional<FileLock>> take_lock(const Directory& spool) {
  constexpr int kAttempts = 10;
  for (int attempt = 1;; attempt++) {
    Result<std::optional<FileLock>> lock =
        FileLock::attempt(spool, kLockFile, FileLock::Mode::kExclusive);
    if (!lock || lock->has_value() || attempt == kAttempts) return lock;
    const timespec nap{0, 2000000};
    ::nanosleep(&nap, nullptr);
  }
}

Clock first_clock(const Manifest& manifest, const Spool& spool) {
  if (!manifest.clock.pairs().empty()) {
    Clock clock = manifest.clock;
    clock.add_left(spool.header());  // as who read the recording before
    return clock;
  }
  Clock clock = Clock::of(spool.header());
  if (spool.same_boot() || clock.tick_source() != FATHOM_TICK_COUNTER) return clock;
  if (clock.pairs().size() > 1) return clock;
  // The machine was started anew before anybody looked: its counter runs as fast as it did.
  const ClockPair from = clock.read();
  // Long enough to tell the rate to some parts in a million.
  const timespec nap{0, 20000000};
  ::nanosleep(&nap, nullptr);
  const ClockPair to = clock.read();
  const double rate = static_cast<double>(to.monotonic_ns - from.monotonic_ns) /
                      static_cast<double>(to.tick - from.tick);
  return {clock.tick_source(), clock.pairs().front(), rate};
}

// Read and not mapped: somebody may cut the file meanwhile.
Result<std::vector<std::uint8_t>> content_of(const Drainer::OpenLog& log) {
  FATHOM_ASSIGN(const std::uint64_t size, log.file.size());
  std::vector<std::uint8_t> bytes(std::min(size, log.bytes));
  FATHOM_ASSIGN(const std::size_t got,
                log.file.pread_some(std::as_writable_bytes(std::span(bytes)), 0));
  bytes.resize(got);
  return bytes;
}

}  // namespace

Packer::State::State(Directory directory, Spool spool, FileLock lock, Manifest first_manifest,
                     PackerOptions options)
    : manifest(std::move(first_manifest)),
      clock(first_clock(manifest, spool)),
      directory_(std::move(directory)),
      spool_(std::move(spool)),
      lock_(std::move(lock)),
      options_(std::move(options)),
      decoder_(log_strings_, clock,
               {options_.resolver, PathFilter(manifest.path_filter), spool_.directory(),
                options_.local}) {
  summary_.bound(strings);
}

Status Packer::State::start() {
  std::uint64_t first = 0;
  for (const std::uint64_t n : spool_.logs()) first = std::max(first, n + 1);
  for (const std::uint64_t n : parquet_parts(directory_, kEventsTable)) {
    first = std::max(first, n + 1);
    if (is_packed(n)) last_packed_ = n;
  }
  if (last_packed_) spool_.restore_carried(*last_packed_, decoder_);
  tick();
  FATHOM_ASSIGN(drainer, Drainer::open(spool_, clock, first));
  if (options_.ended) drainer->all_ended();
  return definitions_.into(decoder_, drainer->definitions_file(), &seen_from_outside_);
}

std::string Packer::State::why_partial() const { return trace::why_partial(manifest, spool_); }

// Whatever is packed from now on was written before this moment, so the clock's pieces that it lies
// in are final.
void Packer::State::tick() {
  if (spool_.same_boot()) clock.add(clock.read());
  decoder_.set_clock(clock);
  manifest.clock = clock;
}

Status Packer::State::connect() {
  if (connection_) return {};
  FATHOM_ASSIGN(
      const sql::Database database,
      sql::Database::open_memory({.threads = 1, .memory_limit = "", .temp_directory = ""}));
  FATHOM_ASSIGN(connection_, sql::Connection::open(database));
  return {};
}

Result<DrainResult> Packer::State::drain() {
  const std::scoped_lock lock(mutex_);
  Result<DrainResult> result = drainer->drain();
  // Trouble is taken back by the first pass that takes something.
  if (!result || result->trouble || result->chunks > 0)
    drainer->tell_trouble(!result           ? result.error().message
                          : result->trouble ? result->trouble->message
                                            : "");
  if (result) FATHOM_TRY(keep_lock());
  if (result) died_in_.insert(died_in_.end(), result->died_in.begin(), result->died_in.end());
  return result;
}

Status Packer::State::append(const HostRows& rows, const Strings& row_strings) {
  const std::scoped_lock lock(mutex_);
  seen_from_outside_.add(rows.lives);
  sampled_.add(rows.samples, rows.frames, row_strings);
  return drainer->append(rows, row_strings);
}

// Whoever finds no lock would take one: two of us would take each other's segments.
Status Packer::State::keep_lock() {
  const std::string path = spool_.lock_path();
  if (lock_.is_at(path) || (lock_again_ && lock_again_->is_at(path))) return {};
  FATHOM_ASSIGN(lock_again_, FileLock::attempt(path, FileLock::Mode::kExclusive));
  if (lock_again_) return {};
  return Error{Code::kDenied, "another process records into " + directory_.path() + " now",
               "stop one of them"};
}

void Packer::State::look(const std::function<void(Drainer&)>& look) {
  const std::scoped_lock lock(mutex_);
  look(*drainer);
}

PackProgress Packer::State::progress() const {
  const std::scoped_lock lock(mutex_);
  return progress_;
}

std::vector<std::uint64_t> Packer::State::complete_logs() const {
  const std::scoped_lock lock(mutex_);
  return drainer->complete_logs();
}

bool Packer::State::is_packed(std::uint64_t n) const {
  return parquet_damage(directory_, parquet_name(kEventsTable, n)).empty();
}

Status Packer::State::pack_complete(const GoOn& go_on) {
  for (const std::uint64_t n : complete_logs()) {
    if (is_packed(n)) {
      // Killed between publishing and removing.
      const std::scoped_lock lock(mutex_);
      drainer->remove_log(n);
    } else if (!go_on || go_on(n)) {
      FATHOM_TRY(pack(n));
    } else {
      return {};
    }
  }
  return {};
}

Status Packer::State::pack(std::uint64_t n) {
  events_.clear();
  Rows rows{&events_, {}, {}};
  tick();
  FATHOM_TRY(read_log(n, rows));
  FATHOM_TRY(write_rows(n, rows));
  FATHOM_TRY(publish(n, rows.sums));
  // Each log has texts of its own: a recorder that runs for weeks must not keep them all.
  decoder_.renew_strings();
  trim_heap(kIdleHeap);
  const std::scoped_lock lock(mutex_);
  progress_.events += events_.rows();
  return {};
}

Status Packer::State::read_log(std::uint64_t n, Rows& rows) {
  std::optional<Drainer::OpenLog> log;
  std::vector<Chunk> chunks;
  std::set<ChunkName> names;
  {
    const std::scoped_lock lock(mutex_);
    FATHOM_ASSIGN(log, drainer->open_log(n));
    FATHOM_TRY(definitions_.into(decoder_, drainer->definitions_file()));
    // What the log refers to may be in a segment still, and not in definitions.log.
    drainer->visit_live([this](const Chunk& chunk) { decoder_.define(chunk); });
  }
  FATHOM_ASSIGN(const std::vector<std::uint8_t> bytes, content_of(*log));
  bool sound = bytes.size() == log->bytes;
  std::uint64_t entries = 0;
  OwnEntries own = spool_.entries_of(n);
  const LogScan scan = scan_log(bytes, [&](const LogEntry& entry, std::uint64_t) {
    if (!own.take(entry)) return;
    if (entry.kind == EntryKind::kRows) sound &= decode_rows(entry.bytes, rows.host, log_strings_);
    // Logged twice by a drainer that was killed before it could free the segment.
    if (entry.kind == EntryKind::kChunk && !names.insert(entry.name).second) return;
    entries++;
    if (entry.kind != EntryKind::kChunk) return;
    const std::scoped_lock lock(mutex_);
    chunks.push_back({entry.bytes, spool_.schema(entry.schema)});
  });
  const std::int64_t missing = missing_events(n, entries, chunks, rows.host);
  Decoder::Sums of_host;
  add_sums(rows.host, log_strings_, of_host);
  if (rows.events != nullptr) {
    decoder_.decode(chunks, *rows.events, rows.host.counters);
    rows.events->append(rows.host.events);
  } else {
    decoder_.sum(chunks, rows.host.counters);
  }
  rows.sums = decoder_.take_sums();
  std::ranges::move(rows.sums.intervals.rows, std::back_inserter(rows.host.intervals.rows));
  rows.sums.add(of_host);
  // A torn end is no damage: nothing was freed before its entry was whole.
  const bool damaged = !sound || scan.damaged_bytes > bytes.size() - scan.sound_bytes;
  if (damaged) rows.sums.losses.push_back({"", "damaged log", 1});
  if (own.any_of_others()) rows.sums.losses.push_back({"", kCopiesLost, 1});
  if (missing > 0)
    rows.sums.losses.push_back({"", "events of a log that was cut short or damaged", missing});
  log_damaged_ |= damaged || missing > 0;
  return {};
}

// What was cut off a log leaves no trace in it: the journal says how much there was.
std::int64_t Packer::State::missing_events(std::uint64_t n, std::uint64_t entries,
                                           std::span<const Chunk> chunks, const HostRows& host) {
  Drainer::Noted noted;
  {
    const std::scoped_lock lock(mutex_);
    noted = drainer->noted(n);
  }
  if (entries >= noted.entries) return 0;
  auto there = static_cast<std::int64_t>(host.rows());
  for (const Chunk& chunk : chunks) {
    std::uint64_t events = 0;
    (void)extract_definitions(chunk, events);
    add_to(there, static_cast<std::int64_t>(events));
  }
  return std::max<std::int64_t>(noted.events - there, 1);
}

// In the spool, under the name that it will have: publishing is a rename in one file system.
Status Packer::State::write_unpublished(const std::string& name, const SqlBatch& batch) {
  FATHOM_ASSIGN(File file, spool_.files().create(name));
  return sql::write_parquet(std::move(file), batch.batch(),
                            {.row_group_size = 122880, .zstd_level = options_.zstd_level});
}

Status Packer::State::write_rows(std::uint64_t n, Rows& rows) {
  const std::string& host = manifest.host.hostname;
  rows.events->sort();
  rows.host.counters.sort();
  FATHOM_TRY(write_unpublished(parquet_name(kEventsTable, n),
                               SqlBatch::events(*rows.events, log_strings_, host)));
  FATHOM_TRY(write_unpublished(parquet_name(kSummaryTable, n),
                               SqlBatch::summary(rows.sums.summary, log_strings_, host)));
  FATHOM_TRY(write_unpublished(parquet_name(kTimelineTable, n),
                               SqlBatch::timeline(rows.sums.timeline, log_strings_, host)));
  FATHOM_TRY(write_unpublished(parquet_name(kCoverageTable, n),
                               SqlBatch::coverage(rows.sums.coverage, log_strings_, host)));
  FATHOM_TRY(write_inodes(n, rows.sums.summary));
  if (!rows.host.intervals.rows.empty()) {
    FATHOM_TRY(write_unpublished(parquet_name(kIntervalsTable, n),
                                 SqlBatch::intervals(rows.host.intervals, log_strings_, host)));
  }
  FATHOM_TRY(write_samples(n, rows.host));
  if (rows.host.counters.rows.empty()) return {};
  return write_unpublished(parquet_name(kCountersTable, n),
                           SqlBatch::counters(rows.host.counters, log_strings_, host));
}

Status Packer::State::write_samples(std::uint64_t n, HostRows& rows) {
  if (!rows.frames.rows.empty()) {
    const std::size_t unreadable = name_frames(options_.resolver, rows.frames, log_strings_);
    if (unreadable > 0)
      manifest.add_loss({std::string(kSampledLayer), "places in files that are gone or damaged",
                         static_cast<std::int64_t>(unreadable)});
    FATHOM_TRY(write_unpublished(parquet_name(kFramesTable, n),
                                 SqlBatch::frames(rows.frames, log_strings_)));
  }
  if (rows.samples.rows.empty()) return {};
  rows.samples.sort();
  return write_unpublished(parquet_name(kSamplesTable, n),
                           SqlBatch::samples(rows.samples, log_strings_, manifest.host.hostname));
}

// Only the machine that recorded knows what its paths mean.
Status Packer::State::write_inodes(std::uint64_t n, const SummaryTable& sums) {
  if (!options_.local || !spool_.same_boot()) return {};
  const std::vector<InodeRow> found = inodes_.look_at(sums, log_strings_);
  if (found.empty()) return {};
  return write_unpublished(parquet_name(kInodesTable, n), SqlBatch::inodes(found, log_strings_));
}

// The events file is renamed last: it is what makes the log superfluous, and what the log's carry
// belongs to.
Status Packer::State::publish(std::uint64_t n, const Decoder::Sums& sums) {
  const std::string carried = decoder_.carry();
  if (!carried.empty()) FATHOM_TRY(spool_.files().write_atomic(Spool::carry_name(n), carried));
  FATHOM_TRY(write_manifest(directory_, manifest));  // with the clock that the rows were made with
  FATHOM_ASSIGN(const FileLock exclusive,
                FileLock::wait(spool_.files(), kPublishLock, FileLock::Mode::kExclusive));
  for (const char* table : kPartTables) {
    const std::string name = parquet_name(table, n);
    const Result<File> file = spool_.files().read(name);
    if (!file) continue;
    if (file->size()) {
      const std::scoped_lock lock(mutex_);
      progress_.parquet_bytes += *file->size();
    }
    FATHOM_TRY(spool_.files().rename(name, directory_, name));
    // So that a file that somebody removes is missed.
    if (!is_summed(table)) manifest.files[table]++;
  }
  own_parts_.insert(n);
  const std::optional<std::uint64_t> before = std::exchange(last_packed_, n);
  // The one before is needed until the next one is there.
  if (before) (void)spool_.files().remove(Spool::carry_name(*before));
  summary_.add(sums.summary, log_strings_, strings);
  timeline_.add(sums.timeline, log_strings_, strings);
  coverage_.add(sums.coverage, log_strings_, strings);
  for (const auto& [layer, count] : sums.events_by_layer)
    add_to(manifest.layer(layer).events, count);
  for (const Loss& loss : sums.losses) manifest.add_loss(loss);
  FATHOM_TRY(write_manifest(directory_, manifest));
  const std::scoped_lock lock(mutex_);
  drainer->remove_log(n);
  return {};
}

Result<Packer> Packer::open(const std::string& directory, Manifest manifest,
                            PackerOptions options) {
  FATHOM_ASSIGN(Directory recording, Directory::open(directory));
  FATHOM_ASSIGN(const Directory spool_files, recording.directory(kSpoolDirectory));
  FATHOM_ASSIGN(Spool spool, Spool::open(spool_files));
  FATHOM_ASSIGN(std::optional<FileLock> lock, take_lock(spool_files));
  if (!lock || (spool.recorded_elsewhere() && !options.ended)) {
    return Error{Code::kDenied, directory + " is being recorded by another process",
                 "wait until it has ended"};
  }
  // Readers look whether it is there, and must not wait for it.
  FATHOM_ASSIGN(const std::optional<FileLock> made,
                FileLock::attempt(spool_files, kPublishLock, FileLock::Mode::kShared));
  auto state = std::make_unique<State>(std::move(recording), std::move(spool), std::move(*lock),
                                       std::move(manifest), std::move(options));
  FATHOM_TRY(state->start());
  return Packer(std::move(state));
}

Packer::Packer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Packer::Packer(Packer&&) noexcept = default;
Packer& Packer::operator=(Packer&&) noexcept = default;
Packer::~Packer() = default;

Manifest& Packer::manifest() { return state_->manifest; }
const Clock& Packer::clock() const { return state_->clock; }
Result<DrainResult> Packer::drain() { return state_->drain(); }
Status Packer::append(const HostRows& rows, const Strings& strings) {
  Status appended = state_->append(rows, strings);
  if (!appended) look([&](Drainer& drainer) { drainer.tell_trouble(appended.error().message); });
  return appended;
}
void Packer::look(const std::function<void(Drainer&)>& look) { state_->look(look); }
Status Packer::pack_complete(const GoOn& go_on) { return state_->pack_complete(go_on); }
PackProgress Packer::progress() const { return state_->progress(); }
const Strings& Packer::strings() const { return state_->strings; }
Result<Totals> Packer::sum_up() { return state_->sum_up(); }
Result<FinishResult> Packer::finish(const std::string& partial_reason, const GoOn& go_on) {
  Result<FinishResult> result = state_->finish(partial_reason, go_on);
  if (!result) state_->drainer->tell_trouble(result.error().message);
  return result;
}
std::string Packer::why_partial() const { return state_->why_partial(); }

}  // namespace fathom::trace
