// SPDX-License-Identifier: MIT
// Two decoders, as in session/stream/row_feed.h: one for what was drained, whose sums stay, and one
// for segments that programs write into just now, whose sums are made anew at each look. A segment
// that was drained meanwhile is in both, and counts in the log.
#include "analysis/live/live_recording.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analysis/live/live_sums.h"
#include "analysis/live/rates.h"
#include "base/directory.h"
#include "base/sum.h"
#include "trace/decode/decoder.h"
#include "trace/decode/host_rows.h"
#include "trace/recording/manifest.h"
#include "trace/recording/parquet_file.h"
#include "trace/recording/parquet_tables.h"
#include "trace/recording/processes.h"
#include "trace/recording/recording.h"
#include "trace/recording/seen_from_outside.h"
#include "trace/recording/trust.h"
#include "trace/spool/drained_definitions.h"
#include "trace/spool/in_use.h"
#include "trace/spool/log_tail.h"
#include "trace/spool/pid_spaces.h"
#include "trace/spool/segment_copies.h"
#include "trace/spool/spool.h"

namespace fathom::analysis {
namespace {

// What the recorder samples comes about once a second: rates that are older are no news.
constexpr std::int64_t kStaleNs = 5'000'000'000;
// Texts of decoders, paths of files above all, are forgotten beyond so many.
constexpr std::size_t kMostTexts = 100'000;

std::vector<std::uint64_t> packed_parts(const Directory& directory) {
  std::vector<std::uint64_t> parts;
  for (const std::uint64_t part : trace::parquet_parts(directory, trace::kEventsTable)) {
    const std::string name = trace::parquet_name(trace::kEventsTable, part);
    if (trace::parquet_damage(directory, name).empty()) parts.push_back(part);
  }
  return parts;
}

bool is_there(std::int64_t pid) {
  return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
}

}  // namespace

class LiveRecording::State {
 public:
  State(Directory directory, trace::Spool spool, trace::NameResolver names)
      : directory_(std::move(directory)),
        spool_(std::move(spool)),
        is_ours_(trace::is_ours(directory_, spool_)),
        resolver_(is_ours_ ? std::move(names) : trace::NameResolver()),
        clock_(trace::Clock::of(spool_.header())),
        drained_(drained_strings_, clock_, options()),
        living_(living_strings_, clock_, options()),
        logs_(spool_) {
    const Result<trace::Manifest> manifest = trace::read_manifest(directory_);
    if (manifest) exits_ = trace::known_exits(*manifest);
  }

  Result<Activity> look();

 private:
  // Programs and modules that the recording names are looked at for functions of stacks alone.
  [[nodiscard]] trace::DecoderOptions options() const {
    trace::DecoderOptions options;
    options.resolver = resolver_;
    options.local = false;
    return options;
  }
  void read_clock();
  Status read_definitions(const trace::SegmentCopies& copies);
  Status read_packed();
  Status read_logs();
  void read_rows(const trace::LogTail::Batch& batch);
  [[nodiscard]] Tally with_living(const trace::SegmentCopies& copies);
  void tell_counters(Activity& to) const;
  void forget_texts();
  void keep_moments(Tally program);
  void tell_processes(Activity& to);
  void tell_threads(const trace::SegmentCopies& copies, Activity& to);
  void tell_rates(Activity& to);
  [[nodiscard]] bool lives(const trace::ProcessRow& process) const;

  Directory directory_;
  trace::Spool spool_;
  bool is_ours_;
  trace::NameResolver resolver_;
  trace::Clock clock_;
  trace::KnownExits exits_;
  trace::Strings drained_strings_;
  trace::Decoder drained_;
  trace::DrainedDefinitions drained_definitions_;
  trace::Strings living_strings_;
  trace::Decoder living_;
  trace::DrainedDefinitions living_definitions_;
  trace::Lives seen_;
  trace::LogTail logs_;
  std::set<trace::ChunkName> logged_;  // segments that a log has, and that are not free yet
  LiveSums sums_;
  LatestCounters told_;  // by programs, those of living segments too
  std::int64_t now_ = 0;
  std::optional<Tally> program_before_, program_;
  std::optional<Moment> host_before_, host_;
};

// Whatever is read from now on was written before this moment.
void LiveRecording::State::read_clock() {
  clock_.add_left(spool_.header());
  if (spool_.same_boot()) clock_.add(clock_.read());
  drained_.set_clock(clock_);
  living_.set_clock(clock_);
  if (spool_.same_boot()) now_ = std::max(now_, clock_.ns(clock_.read().tick));
}

// What was drained may need a name that still lies in somebody's segment.
Status LiveRecording::State::read_definitions(const trace::SegmentCopies& copies) {
  const Result<File> file = spool_.files().read(trace::kDefinitionsLog);
  const File* const log = file ? &*file : nullptr;
  FATHOM_TRY(drained_definitions_.into(drained_, log, &seen_));
  FATHOM_TRY(living_definitions_.into(living_, log));
  for (const trace::SegmentCopy& segment : copies.segments) {
    drained_.define(segment.definitions());
    living_.define(segment.definitions());
  }
  return {};
}

// Logs that became Parquet before they could be read. The last one tells where threads were.
Status LiveRecording::State::read_packed() {
  std::vector<std::uint64_t> parts;
  for (const std::uint64_t part : packed_parts(directory_)) {
    if (!logs_.knows(part)) parts.push_back(part);
  }
  if (parts.empty()) return {};
  FATHOM_TRY(sums_.add_packed(directory_, parts));
  for (const std::uint64_t part : parts) logs_.leave_out(part);
  spool_.restore_carried(parts.back(), drained_);
  return {};
}

Status LiveRecording::State::read_logs() {
  sums_.begin_look();
  return logs_.read([this](const trace::LogTail::Batch& batch) {
    logged_.insert(batch.names.begin(), batch.names.end());
    trace::CounterBatch counters;
    drained_.sum(batch.chunks, counters);
    sums_.add_program(drained_.take_sums().summary, counters, drained_strings_);
    read_rows(batch);
    forget_texts();
  });
}

void LiveRecording::State::read_rows(const trace::LogTail::Batch& batch) {
  if (batch.rows.empty()) return;
  trace::HostRows rows;
  trace::Strings strings;
  for (const auto& entry : batch.rows) (void)decode_rows(entry, rows, strings);
  const bool named = is_ours_ && !rows.frames.rows.empty();
  sums_.add_host(rows, strings,
                 named ? trace::for_unchanged_modules(resolver_, spool_) : trace::NameResolver());
}

// The sums of what was drained, and of what lies in segments.
Tally LiveRecording::State::with_living(const trace::SegmentCopies& copies) {
  std::vector<trace::Chunk> chunks;
  std::set<trace::ChunkName> still;
  for (const trace::SegmentCopy& segment : copies.segments) {
    const bool logged = logged_.contains(segment.name);
    if (logged) still.insert(segment.name);
    if (!logged) chunks.push_back(segment.rows());
  }
  logged_ = std::move(still);
  living_.restore(drained_.carry());
  trace::CounterBatch counters;
  living_.sum(chunks, counters);
  told_ = sums_.program_counters();
  LiveSums::add_told(counters, living_strings_, told_);
  Tally all = sums_.program();
  all.add(living_.take_sums().summary, living_strings_, sums_.names());
  all.reach(now_);
  if (living_strings_.size() > kMostTexts) living_.renew_strings();
  return all;
}

void LiveRecording::State::forget_texts() {
  if (drained_strings_.size() > kMostTexts) drained_.renew_strings();
}

// What was sampled moves on when something came, and not before.
void LiveRecording::State::keep_moments(Tally program) {
  program_before_ = std::exchange(program_, std::move(program));
  if (host_ && host_->tally.until() == sums_.host().until()) return;
  host_before_ = std::exchange(host_, Moment{sums_.host(), sums_.usage()});
}

bool LiveRecording::State::lives(const trace::ProcessRow& process) const {
  if (process.end != trace::kNull) return false;
  const bool seen =
      spool_.same_boot() && spool_.header().pid_namespace == trace::own_pid_namespace();
  return !seen || is_there(process.pid);
}

void LiveRecording::State::tell_processes(Activity& to) {
  const trace::Population all(drained_.definitions(), clock_, exits_);
  std::vector<trace::ProcessRow> rows = trace::process_rows(all, "");
  trace::add_seen_from_outside(seen_.processes, "", rows);
  std::map<std::int64_t, const trace::ProcessRow*> living;
  for (const trace::ProcessRow& row : rows) {
    if (!lives(row)) {
      to.ended++;
      continue;
    }
    const trace::ProcessRow*& newest = living[row.pid];
    if (newest == nullptr || newest->start <= row.start) newest = &row;
  }
  for (const auto& [pid, row] : living) {
    ProcessNow process;
    process.pid = pid;
    if (row->rank != trace::kNull) process.rank = row->rank;
    process.program = row->name;
    process.command = row->command;
    process.start_ns = row->start == trace::kNull ? 0 : row->start;
    to.processes.push_back(std::move(process));
  }
}

void LiveRecording::State::tell_threads(const trace::SegmentCopies& copies, Activity& to) {
  for (const trace::SegmentCopy& segment : copies.segments) {
    if (!segment.call) continue;
    const trace::Process* process = drained_.definitions().find(segment.call->key);
    to.threads.push_back(
        {process != nullptr ? process->pid : segment.call->pid, segment.call->tid,
         trace::call_name(spool_, *segment.call),
         std::max<std::int64_t>(0, minus(now_, clock_.ns(segment.call->since_tick)))});
  }
}

void LiveRecording::State::tell_counters(Activity& to) const {
  for (const auto& [name, last] : sums_.host_counters().values())
    to.counters.push_back({name, last.unit, last.value});
  for (const auto& [name, last] : told_.values())
    to.app_counters.push_back({name, last.unit, last.value});
  to.app_counters_left_out = told_.left_out();
}

void LiveRecording::State::tell_rates(Activity& to) {
  const trace::Strings& names = sums_.names();
  add_rates(*program_, program_before_ ? &*program_before_ : nullptr, names, to);
  const bool stale = minus(now_, host_->tally.until()) > kStaleNs;
  const Moment* before = host_before_ && !stale ? &*host_before_ : nullptr;
  add_rates(host_->tally, before != nullptr ? &before->tally : nullptr, names, to);
  add_usage(*host_, before, to);
  to.has_rates = program_before_ && (host_before_ || stale);
}

Result<Activity> LiveRecording::State::look() {
  Activity activity;
  activity.writers = trace::writers_of(directory_.path());
  const trace::SegmentCopies copies = copy_segments(spool_);
  read_clock();
  FATHOM_TRY(read_definitions(copies));
  FATHOM_TRY(read_packed());
  FATHOM_TRY(read_logs());
  keep_moments(with_living(copies));
  activity.elapsed_ns = now_;
  activity.lost = copies.lost;
  activity.left_out = copies.left_out;
  activity.sampled = sums_.sampled();
  tell_processes(activity);
  tell_threads(copies, activity);
  tell_counters(activity);
  tell_rates(activity);
  return activity;
}

LiveRecording::LiveRecording(std::unique_ptr<State> state) : state_(std::move(state)) {}
LiveRecording::LiveRecording(LiveRecording&&) noexcept = default;
LiveRecording& LiveRecording::operator=(LiveRecording&&) noexcept = default;
LiveRecording::~LiveRecording() = default;

Result<LiveRecording> LiveRecording::open(const std::string& directory, trace::NameResolver names) {
  FATHOM_ASSIGN(const Directory recording, Directory::open(directory));
  FATHOM_ASSIGN(const Directory files, recording.directory(trace::kSpoolDirectory));
  FATHOM_ASSIGN(trace::Spool spool, trace::Spool::open(files));
  return LiveRecording(std::make_unique<State>(recording, std::move(spool), std::move(names)));
}

Result<Activity> LiveRecording::look() { return state_->look(); }

}  // namespace fathom::analysis
