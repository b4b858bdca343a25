// SPDX-License-Identifier: MIT
// Importers have whole events, but no own times and no sums: both are computed here, by a stack
// over sorted rows, before the files are written.
#include "trace/recording/recording_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <unordered_map>

#include "base/directory.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/private_files.h"
#include "base/scratch.h"
#include "base/sum.h"
#include "base/text.h"
#include "sql/parquet_writer.h"
#include "trace/recording/parquet_file.h"
#include "trace/recording/parquet_tables.h"
#include "trace/rows/copies.h"
#include "trace/rows/layers.h"
#include "trace/rows/loss_reasons.h"

namespace fathom::trace {
namespace {

struct OwnTimes {
  Column<std::int64_t> self;
  std::vector<std::size_t> parent;  // a row; rows(): none
};

// Rows are in order of their begin here, outer before inner, so a stack of open events tells the
// parent.
OwnTimes own_times(const EventBatch& events) {
  struct Open {
    std::int64_t end;
    std::size_t row;
  };
  OwnTimes own{events.dur, std::vector<std::size_t>(events.rows(), events.rows())};
  std::vector<Open> open;
  for (std::size_t at = 0; at < events.rows(); at++) {
    const bool same =
        at > 0 && events.pid[at] == events.pid[at - 1] && events.tid[at] == events.tid[at - 1];
    if (!same) open.clear();
    while (!open.empty() && open.back().end <= events.ts[at]) open.pop_back();
    const std::int64_t end = events.ts[at] + events.dur[at];
    // An event that reaches beyond the one around it is none of its children: such recordings
    // exist.
    if (!open.empty() && end <= open.back().end) {
      own.parent[at] = open.back().row;
      std::int64_t& self = own.self[open.back().row];
      self = std::max<std::int64_t>(0, self - events.dur[at]);
    }
    if (events.dur[at] > 0) open.push_back({end, at});
  }
  return own;
}

// The last value of an argument as a code; kNoString where there is none.
std::uint32_t argument_of(const EventBatch& events, std::size_t at, std::string_view key,
                          Strings& strings) {
  std::uint32_t value = kNoString;
  for (std::size_t entry = events.args.begin(at); entry < events.args.end(at); entry++) {
    if (strings.view(events.args.key(entry)) == key) value = strings.code(events.args.value(entry));
  }
  return value;
}

SummaryKey key_of(const EventBatch& events, std::size_t at, Strings& strings) {
  return {events.layer[at],
          events.name[at],
          events.category[at],
          events.file[at],
          events.pid[at],
          events.program.empty() ? kNoString : events.program[at],
          0,
          argument_of(events, at, kPeerKey, strings)};
}

}  // namespace

class RecordingWriter::State {
 public:
  State(std::string directory, Manifest first_manifest, const Limits& limits)
      : manifest(std::move(first_manifest)),
        rows_per_file_(limits.rows_per_file),
        directory_(std::move(directory)),
        max_bytes_(limits.max_bytes),
        unfinished_(directory_ + ".unfinished-" + std::to_string(::getpid())) {}
  Status start() {
    if (path_exists(directory_))
      return Error{Code::kInvalid, directory_ + " exists already",
                   "choose another name, or remove it"};
    FATHOM_TRY(remove_tree(unfinished_));
    FATHOM_TRY(make_dirs(std::string(dir_name(unfinished_))));
    FATHOM_ASSIGN(made_, ScratchDirectory::make(unfinished_));
    if (max_bytes_ != 0) return {};
    FATHOM_ASSIGN(const std::uint64_t free, free_space(unfinished_));
    max_bytes_ = free / 2;
    of_free_space_ = true;
    return {};
  }

  Status add_events(EventBatch& events);
  Status add_counters(CounterBatch& counters);
  Status add_intervals(IntervalBatch& intervals);
  Status add_samples(SampleBatch& samples);
  void add_sums(const SummaryRow& sums) {
    hosts_[kNoString].summary.add(sums);
    layer_events_[sums.key.layer]++;
  }
  Status finish();

  Manifest manifest;
  Strings strings;
  StackTable stacks;
  std::vector<ProcessRow> processes;
  std::vector<ThreadRow> threads;

 private:
  Status write(const std::string& name, const SqlBatch& batch) {
    count(name);
    FATHOM_ASSIGN(File file, open_private(join_path(unfinished_, name), O_WRONLY | O_EXCL));
    FATHOM_TRY(sql::write_parquet(std::move(file), batch.batch()));
    return book(name);
  }
  // Adds a file that was written to what the recording takes.
  Status book(const std::string& name) {
    FATHOM_ASSIGN(const Directory folder, Directory::open(unfinished_));
    FATHOM_ASSIGN(const File file, folder.read(name));
    FATHOM_ASSIGN(const std::uint64_t size, file.size());
    bytes_ += size;
    if (bytes_ <= max_bytes_) return {};
    const std::string most = human_bytes(static_cast<double>(max_bytes_));
    return Error{
        Code::kIo,
        directory_ + " would take more than " + most +
            (of_free_space_ ? ", half of the free space there" : ""),
        "if the files are what you expect, use fathom import with another disk or --max-size SIZE"};
  }
  // The manifest says how many files there are.
  void count(const std::string& name) {
    if (const auto parsed = parse_parquet_name(name)) manifest.files[parsed->table]++;
  }
  // What belongs to one host: pids and tids tell threads apart on it alone.
  struct Host {
    EventBatch events;
    SummaryTable summary;
    Timeline timeline;
    LayerCoverage coverage;
    FilePlaces places;
  };

  Status flush_events();
  Status flush_events(std::uint32_t code, Host& host);
  Status write_sums();
  Status flush_counters();
  Status flush_intervals();
  Status flush_samples();
  std::int64_t length_from(std::int64_t ts, std::int64_t length);
  void summarise(Host& host);
  void place(Host& host, std::size_t at, SummaryRow& row);
  void sum_target(Host& host, std::size_t at);
  // A row of host kNoString is the manifest's.
  [[nodiscard]] std::string host_name(std::uint32_t code) const {
    return code == kNoString ? manifest.host.hostname : std::string(strings.view(code));
  }

  std::size_t rows_per_file_;
  std::string directory_;
  std::uint64_t max_bytes_;
  bool of_free_space_ = false;  // max_bytes_ is a part of it
  std::uint64_t bytes_ = 0;     // in files by now
  std::string unfinished_;
  ScratchDirectory made_;
  std::map<std::uint32_t, Host> hosts_;
  std::size_t event_rows_ = 0;  // of all hosts
  std::int64_t cut_lengths_ = 0;
  CounterBatch counters_;
  IntervalBatch intervals_;
  SampleBatch samples_;
  std::map<std::string, std::uint64_t> next_part_;
  std::unordered_map<std::uint32_t, std::int64_t> layer_events_;
};

// A length that ends at the last moment that there is: files of others may claim any, and whoever
// reads a recording adds begin and length.
std::int64_t RecordingWriter::State::length_from(std::int64_t ts, std::int64_t length) {
  const std::int64_t most = minus(INT64_MAX, ts);
  if (length > most) cut_lengths_++;
  return std::min(length, most);
}

Status RecordingWriter::State::add_events(EventBatch& events) {
  for (std::size_t at = 0; at < events.rows(); at++) {
    EventRow row = events.row(at);
    row.dur = length_from(row.ts, row.dur);
    EventBatch& to = hosts_[row.host].events;
    for (std::size_t entry = events.args.begin(at); entry < events.args.end(at); entry++) {
      to.args.add(events.args.key(entry), events.args.value(entry));
    }
    to.push(row);
    if (++event_rows_ >= rows_per_file_) FATHOM_TRY(flush_events());
  }
  events.clear();
  return {};
}

Status RecordingWriter::State::add_counters(CounterBatch& counters) {
  counters_.rows.insert(counters_.rows.end(), counters.rows.begin(), counters.rows.end());
  counters.rows.clear();
  return counters_.rows.size() >= rows_per_file_ ? flush_counters() : Status();
}

Status RecordingWriter::State::add_intervals(IntervalBatch& intervals) {
  for (IntervalRow& row : intervals.rows) row.width = length_from(row.ts, row.width);
  intervals_.rows.insert(intervals_.rows.end(), std::make_move_iterator(intervals.rows.begin()),
                         std::make_move_iterator(intervals.rows.end()));
  intervals.rows.clear();
  return intervals_.rows.size() >= rows_per_file_ ? flush_intervals() : Status();
}

Status RecordingWriter::State::add_samples(SampleBatch& samples) {
  samples_.rows.insert(samples_.rows.end(), samples.rows.begin(), samples.rows.end());
  samples.rows.clear();
  return samples_.rows.size() >= rows_per_file_ ? flush_samples() : Status();
}

// How the call moved through its file.
void RecordingWriter::State::place(Host& host, std::size_t at, SummaryRow& row) {
  const EventBatch& events = host.events;
  const auto is = [&](std::string_view category) {
    const std::uint32_t code = events.category[at];
    return code != kNoString && strings.view(code) == category;
  };
  const PlaceKey key{.process = static_cast<std::uint32_t>(events.pid[at]),
                     .thread = static_cast<std::uint32_t>(events.tid[at]),
                     .fd = events.fd[at],
                     .file = events.file[at],
                     .writes = is("write")};
  if (events.offset[at] >= 0 && events.bytes[at] > 0) {
    row.access.add(host.places.of(key), events.offset[at], events.bytes[at],
                   argument_of(events, at, kPositionKey, strings) != kNoString);
  } else if (is("open") && events.error[at] == kNoString) {
    host.places.open(key);
  }
}

// What a copy put into the other file.
void RecordingWriter::State::sum_target(Host& host, std::size_t at) {
  const EventBatch& events = host.events;
  if (events.bytes[at] <= 0 || !is_copy(strings.view(events.name[at])) ||
      !is_io(strings.view(events.layer[at])))
    return;
  SummaryKey key = key_of(events, at, strings);
  key.category = strings.code(kWriteCategory);
  key.file = argument_of(events, at, kCopyTarget, strings);
  key.peer = argument_of(events, at, kTargetPeerKey, strings);
  host.summary.at(host.summary.find(key))
      .add_written(events.ts[at], events.dur[at], events.bytes[at]);
}

void RecordingWriter::State::summarise(Host& host) {
  EventBatch& events = host.events;
  OwnTimes own = own_times(events);
  Column<std::int64_t>& self = own.self;
  LayerCoverage thread_coverage;
  for (std::size_t at = 0; at < events.rows(); at++) {
    if (at > 0 && (events.pid[at] != events.pid[at - 1] || events.tid[at] != events.tid[at - 1])) {
      host.coverage.add(thread_coverage);
      thread_coverage.clear();
    }
    SummaryRow& row = host.summary.at(host.summary.find(key_of(events, at, strings)));
    row.add(events.ts[at], events.dur[at], self[at], events.bytes[at],
            events.error[at] != kNoString);
    place(host, at, row);
    sum_target(host, at);
    thread_coverage.of(events.layer[at]).extend(events.ts[at], events.ts[at] + events.dur[at]);
    host.timeline.add(events.layer[at], events.ts[at], events.dur[at], {}, events.bytes[at]);
    if (own.parent[at] < events.rows())
      host.timeline.take(events.layer[own.parent[at]], events.ts[at], events.dur[at],
                         events.dur[at]);
    if (events.layer[at] != kNoString) layer_events_[events.layer[at]]++;
    if (self[at] == events.dur[at]) self[at] = kNull;
  }
  host.coverage.add(thread_coverage);
  events.self = std::move(self);
}

Status RecordingWriter::State::flush_events() {
  for (auto& [code, host] : hosts_) FATHOM_TRY(flush_events(code, host));
  event_rows_ = 0;
  return {};
}

Status RecordingWriter::State::flush_events(std::uint32_t code, Host& host) {
  if (host.events.rows() == 0) return {};
  host.events.sort();
  summarise(host);
  FATHOM_TRY(write(parquet_name(kEventsTable, next_part_[kEventsTable]++),
                   SqlBatch::events(host.events, strings, host_name(code))));
  host.events.clear();
  return {};
}

// A file of each kind for a host; where there is but one, under the plain name.
Status RecordingWriter::State::write_sums() {
  if (hosts_.empty()) hosts_.try_emplace(kNoString);
  std::uint64_t next = 0;
  for (const auto& [code, host] : hosts_) {
    const std::uint64_t n = next++;
    const std::string name = host_name(code);
    const auto file = [&](const char* table) {
      return hosts_.size() == 1 ? parquet_name(table) : parquet_name(table, n);
    };
    FATHOM_TRY(write(file(kSummaryTable), SqlBatch::summary(host.summary, strings, name)));
    FATHOM_TRY(write(file(kTimelineTable), SqlBatch::timeline(host.timeline, strings, name)));
    FATHOM_TRY(write(file(kCoverageTable), SqlBatch::coverage(host.coverage, strings, name)));
  }
  return {};
}

Status RecordingWriter::State::flush_counters() {
  if (counters_.rows.empty()) return {};
  counters_.sort();
  for (const CounterRow& row : counters_.rows) layer_events_[row.layer]++;
  FATHOM_TRY(write(parquet_name(kCountersTable, next_part_[kCountersTable]++),
                   SqlBatch::counters(counters_, strings, manifest.host.hostname)));
  counters_.rows.clear();
  return {};
}

Status RecordingWriter::State::flush_intervals() {
  if (intervals_.rows.empty()) return {};
  for (const IntervalRow& row : intervals_.rows) layer_events_[row.layer]++;
  FATHOM_TRY(write(parquet_name(kIntervalsTable, next_part_[kIntervalsTable]++),
                   SqlBatch::intervals(intervals_, strings, manifest.host.hostname)));
  intervals_.rows.clear();
  return {};
}

Status RecordingWriter::State::flush_samples() {
  if (samples_.rows.empty()) return {};
  samples_.sort();
  layer_events_[strings.code(kSampledLayer)] += static_cast<std::int64_t>(samples_.rows.size());
  FATHOM_TRY(write(parquet_name(kSamplesTable, next_part_[kSamplesTable]++),
                   SqlBatch::samples(samples_, strings, manifest.host.hostname)));
  samples_.rows.clear();
  return {};
}

Status RecordingWriter::State::finish() {
  FATHOM_TRY(flush_events());
  FATHOM_TRY(flush_counters());
  FATHOM_TRY(flush_intervals());
  FATHOM_TRY(flush_samples());
  if (!stacks.frames().rows.empty())
    FATHOM_TRY(write(parquet_name(kFramesTable), SqlBatch::frames(stacks.frames(), strings)));
  FATHOM_TRY(write_sums());
  FATHOM_TRY(write(parquet_name(kProcessesTable), SqlBatch::processes(processes)));
  FATHOM_TRY(write(parquet_name(kThreadsTable), SqlBatch::threads(threads)));
  for (const auto& [layer, count] : layer_events_)
    manifest.layer(strings.view(layer)).events += count;
  if (cut_lengths_ > 0)
    manifest.add_loss({.layer = "", .reason = kCutLengths, .count = cut_lengths_});
  if (manifest.state == RunState::kRunning) manifest.state = RunState::kComplete;
  if (manifest.run_id.empty()) manifest.run_id = random_id();
  FATHOM_TRY(write_manifest(unfinished_, manifest));
  FATHOM_TRY(rename_path(unfinished_, directory_));
  made_.keep();
  return {};
}

Result<RecordingWriter> RecordingWriter::create(const std::string& directory, Manifest manifest,
                                                const Limits& limits) {
  FATHOM_ASSIGN(std::string path, absolute_path(directory));
  auto state = std::make_unique<State>(std::move(path), std::move(manifest), limits);
  FATHOM_TRY(state->start());
  return RecordingWriter(std::move(state));
}

RecordingWriter::RecordingWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
RecordingWriter::RecordingWriter(RecordingWriter&&) noexcept = default;
RecordingWriter& RecordingWriter::operator=(RecordingWriter&&) noexcept = default;
RecordingWriter::~RecordingWriter() = default;

Strings& RecordingWriter::strings() { return state_->strings; }
StackTable& RecordingWriter::stacks() { return state_->stacks; }
Manifest& RecordingWriter::manifest() { return state_->manifest; }
const Manifest& RecordingWriter::manifest() const { return state_->manifest; }
Status RecordingWriter::append(EventBatch& events) { return state_->add_events(events); }
Status RecordingWriter::append(CounterBatch& counters) { return state_->add_counters(counters); }
Status RecordingWriter::append(IntervalBatch& intervals) {
  return state_->add_intervals(intervals);
}
Status RecordingWriter::append(SampleBatch& samples) { return state_->add_samples(samples); }
void RecordingWriter::append(ProcessRow process) {
  state_->processes.push_back(std::move(process));
}
void RecordingWriter::append(ThreadRow thread) { state_->threads.push_back(std::move(thread)); }
void RecordingWriter::append(const SummaryRow& sums) { state_->add_sums(sums); }
Status RecordingWriter::finish() { return state_->finish(); }

}  // namespace fathom::trace
