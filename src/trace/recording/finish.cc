// SPDX-License-Identifier: MIT
// The end of packing: everything that may be taken is taken, totals are written, and the spool goes
// if nobody needs it. The order keeps a recording whole at any instant: events are in place before
// the sums of all are, those are in place before the parts they are made of are removed, and the
// spool is renamed away before its files go.
#include <algorithm>

#include "base/plural.h"
#include "base/sum.h"
#include "base/utf8.h"
#include "sql/quote.h"
#include "trace/recording/packer_state.h"
#include "trace/recording/refused.h"
#include "trace/recording/seen_from_outside.h"
#include "trace/recording/uncovered.h"
#include "trace/recording/unseen.h"
#include "trace/rows/layers.h"

namespace fathom::trace {
namespace {

std::int64_t integer_of(const Value& value) {
  const auto* number = std::get_if<std::int64_t>(&value.data);
  return number != nullptr ? *number : kNull;
}

std::uint32_t code_of(const Value& value, Strings& strings) {
  const auto* text = std::get_if<std::string>(&value.data);
  return text != nullptr ? strings.code(*text) : kNoString;
}

std::vector<std::int64_t> list_of(const Value& value) {
  std::vector<std::int64_t> items;
  if (const auto* list = std::get_if<List>(&value.data)) {
    for (const Value& item : *list) items.push_back(integer_of(item));
  }
  return items;
}

// In the order of load_summary's columns.
SummaryRow summary_row(const std::vector<Value>& cells, Strings& strings) {
  SummaryRow row;
  row.key = {code_of(cells[0], strings),
             code_of(cells[1], strings),
             code_of(cells[2], strings),
             code_of(cells[3], strings),
             cells[4].is_null() ? kNull32 : static_cast<std::int32_t>(integer_of(cells[4])),
             code_of(cells[22], strings),
             cells[23].is_null() ? 0 : static_cast<std::uint64_t>(integer_of(cells[23])),
             code_of(cells[24], strings)};
  row.calls = integer_of(cells[5]);
  row.errors = integer_of(cells[6]);
  row.dur = integer_of(cells[7]);
  row.self = integer_of(cells[8]);
  row.dur_min = integer_of(cells[9]);
  row.dur_max = integer_of(cells[10]);
  row.bytes = integer_of(cells[11]);
  row.first = integer_of(cells[12]);
  row.last = integer_of(cells[13]);
  row.hist = list_of(cells[14]);
  row.sizes = list_of(cells[15]);
  row.access.positioned = integer_of(cells[16]);
  row.access.consecutive = integer_of(cells[17]);
  row.access.forward = integer_of(cells[18]);
  row.access.strided = integer_of(cells[19]);
  row.access.misaligned = integer_of(cells[20]);
  row.access.extent = integer_of(cells[21]);
  return row;
}

// Calls that became rows of `events`: not those that were only added up.
std::int64_t event_rows(const SummaryTable& summary, const HostRows& host) {
  auto count = static_cast<std::int64_t>(host.events.rows());
  for (const SummaryRow& row : summary.rows()) count += row.calls;
  for (const IntervalRow& row : host.intervals.rows) count -= row.calls;
  return count;
}

void add_counts(const Decoder::Sums& sums, Manifest& manifest) {
  for (const auto& [layer, count] : sums.events_by_layer)
    add_to(manifest.layer(layer).events, count);
  for (const Loss& loss : sums.losses) manifest.add_loss(loss);
}

// Counters of a log, whose texts are codes of another pool.
void add_counters(const CounterBatch& counters, const Strings& from, Strings& to,
                  CounterBatch& sum) {
  const auto code = [&](std::uint32_t old) { return to.code_or_null(from.view(old)); };
  for (CounterRow row : counters.rows) {
    row.layer = code(row.layer);
    row.name = code(row.name);
    row.unit = code(row.unit);
    row.host = code(row.host);
    sum.rows.push_back(row);
  }
}

}  // namespace

Result<Totals> Packer::State::sum_up() {
  FinishResult result;
  std::string trouble;
  FATHOM_TRY(drain_all(result, trouble));
  drainer->roll();
  tick();
  settle_facts(result.owners_alive || result.owners_unknown);
  settle_state(result, "", trouble);
  Totals totals{.manifest = manifest,
                .summary = summary_,
                .timeline = timeline_,
                .coverage = coverage_,
                .counters = {},
                .time = {},
                .processes = {},
                .threads = {},
                .events = static_cast<std::int64_t>(progress().events)};
  const std::string carried = decoder_.carry();  // packing goes on from here
  for (const std::uint64_t n : complete_logs()) {
    if (is_packed(n)) continue;
    Rows rows;
    FATHOM_TRY(read_log(n, rows));
    add_rows(rows, totals);
    for (const SummaryRow& row : rows.sums.summary.rows())
      totals.waiting += static_cast<std::uint64_t>(row.calls);
    decoder_.renew_strings();
  }
  if (result.owners_alive || result.owners_unknown) add_living(totals);
  decoder_.restore(carried);
  for (const auto& process : decoder_.definitions().processes())
    take_reasons(decoder_.definitions(), *process, totals.manifest);
  add_losses_of_spool(totals.manifest);
  tell_of_others(totals.summary, totals.manifest);
  tell_of_unseen(totals.summary, totals.manifest);
  const Population all = population();
  totals.processes = all_processes(all, Detail::kWhole);
  totals.threads = all_threads(all);
  {
    const std::scoped_lock lock(mutex_);
    totals.time =
        sampled_.told(totals.threads, manifest.duration_ns.value_or(0), options_.resolver);
  }
  totals.program_attached = manifest.pid && has_process(decoder_.definitions(), *manifest.pid);
  return totals;
}

void Packer::State::add_rows(const Rows& rows, Totals& totals) {
  totals.summary.add(rows.sums.summary, log_strings_, strings);
  totals.timeline.add(rows.sums.timeline, log_strings_, strings);
  totals.coverage.add(rows.sums.coverage, log_strings_, strings);
  if (!last_packed_) add_counters(rows.host.counters, log_strings_, strings, totals.counters);
  add_counts(rows.sums, totals.manifest);
  add_to(totals.events, event_rows(rows.sums.summary, rows.host));
}

// What lies in segments of those who live on, or was handed on to them, is drained when these are
// full. Readers see it already.
void Packer::State::add_living(Totals& totals) {
  std::vector<Drainer::LiveCopy> copies;
  {
    const std::scoped_lock lock(mutex_);
    copies = drainer->copy_live();
  }
  std::vector<Chunk> chunks;
  for (const Drainer::LiveCopy& copy : copies) {
    if (copy.schema == nullptr) continue;
    chunks.push_back(copy.chunk());
    decoder_.define(chunks.back());
  }
  Rows rows;
  decoder_.sum(chunks, rows.host.counters);
  rows.sums = decoder_.take_sums();
  std::ranges::move(rows.sums.intervals.rows, std::back_inserter(rows.host.intervals.rows));
  add_rows(rows, totals);
  decoder_.renew_strings();
}

Result<FinishResult> Packer::State::finish(const std::string& partial_reason, const GoOn& go_on) {
  FinishResult result;
  std::string trouble;
  FATHOM_TRY(drain_all(result, trouble));
  drainer->roll();
  FATHOM_TRY(pack_complete(go_on));
  tick();
  const bool left = result.owners_alive || result.owners_unknown;
  settle_facts(left);
  if (!left) drainer->remove_copies();
  if (!left && remove_unready_pools() > 0 && trouble.empty()) trouble = "a pool is cut off";
  const Result<std::vector<std::string>> pools = spool_.pool_paths();
  const bool packed = drainer->complete_logs().empty();
  const bool empty = pools && pools->empty() && packed;
  result.interrupted = !packed && go_on;
  if (!left && !empty && !result.interrupted && trouble.empty())
    trouble = "something in the spool is damaged";
  settle_state(result, partial_reason, trouble);
  result.state = manifest.state;
  if (left || !empty) {
    FATHOM_TRY(write_manifest(directory_, manifest));
    return result;
  }
  FATHOM_TRY(load_foreign_parts());
  FATHOM_TRY(write_finals());
  FATHOM_TRY(publish_finals());
  return result;
}

Status Packer::State::drain_all(FinishResult& result, std::string& trouble) {
  constexpr int kPassesOfLiving = 2;  // they may fill segments for as long as we take them
  for (int passes = 1;; passes++) {
    FATHOM_ASSIGN(const DrainResult pass, drain());
    result.owners_alive = pass.owners_alive;
    result.owners_unknown = pass.owners_unknown;
    if (pass.trouble) {
      trouble = pass.trouble->message;
      return {};
    }
    if (pass.chunks == 0 ||
        ((pass.owners_alive || pass.owners_unknown) && passes == kPassesOfLiving))
      return {};
  }
}

// A pool that its maker died over has no magic yet, and nothing in it. One that has not even room
// for it was cut off: how many of those there were. What somebody put in a pool's place goes, too:
// if the pool itself was never read, its runs are missing, and that is told (journal.h).
std::int64_t Packer::State::remove_unready_pools() {
  std::int64_t cut = 0;
  const Result<std::vector<std::string>> pools = spool_.pool_paths();
  if (!pools) return 0;
  for (const std::string& path : *pools) {
    const std::string_view name = base_name(path);
    const bool strange = spool_.files().has(name) && !spool_.files().has_file(name);
    const Result<Pool> pool = Pool::open(spool_.files(), name, false);
    if (!strange && (pool || pool.error().code != Code::kNotFound)) continue;
    const Result<File> file = spool_.files().read(name);
    const Result<std::uint64_t> size = file ? file->size() : Result<std::uint64_t>(file.error());
    if (size && *size < FATHOM_POOL_HEADER_SIZE) cut++;
    (void)spool_.files().remove(name);
  }
  return cut;
}

void Packer::State::settle_facts(bool owners_alive) {
  (void)definitions_.into(decoder_, drainer->definitions_file()).has_value();
  drainer->visit_live([this](const Chunk& chunk) { decoder_.define(chunk); });
  const Population all = population();
  for (const NotCovered& one : not_covered(all, options_.library)) manifest.add_not_covered(one);
  for (const NotCovered& one : left_alone(spool_.files())) manifest.add_not_covered(one);
  add_refused_settings(decoder_.definitions(), manifest.facts);
  for (const CallInFlight& call : died_in_) {
    const Process* process = decoder_.definitions().find(call.key);
    if (process != nullptr && ended_in_order(*process)) continue;
    manifest.in_flight.push_back({process != nullptr ? process->pid : call.pid, call.tid,
                                  call_name(spool_, call), clock.ns(call.since_tick)});
  }
  died_in_.clear();
  for (const auto& process : decoder_.definitions().processes())
    take_reasons(decoder_.definitions(), *process, manifest);
  const std::uint64_t last = last_tick_of(decoder_.definitions());
  // A run lasts as long as what was recorded of it: a daemon goes on when the program has ended.
  // Who waited for a process knows of its end after its last record.
  if (owners_alive || (last == 0 && !manifest.duration_ns)) return;
  std::int64_t end = manifest.duration_ns.value_or(0);
  if (last != 0) end = std::max(end, clock.ns(last));
  end = std::max(end, last_end(process_rows(all, "", Detail::kBare)));
  end = std::max(end, last_end(seen_from_outside_.threads));
  manifest.duration_ns = end;
}

void Packer::State::settle_state(const FinishResult& result, const std::string& partial_reason,
                                 const std::string& trouble) {
  // The first that holds is told: what somebody said, what went wrong here, what was wrong before.
  std::string reason = !partial_reason.empty() ? partial_reason : trouble;
  if (reason.empty() && manifest.state == RunState::kPartial) reason = manifest.state_reason;
  if (reason.empty() && !gaps().empty()) reason = spool_.trouble();  // it could not be written
  if (reason.empty() && !gaps().empty()) reason = kVanished;
  if (reason.empty() && log_damaged_) reason = "a log in the spool was damaged";
  if (reason.empty() && !manifest.in_flight.empty()) {
    reason = "calls were in flight when their process was killed";
  }
  manifest.state_reason = reason;
  if (!reason.empty()) {
    manifest.state = RunState::kPartial;
  } else {
    const bool left = result.owners_alive || result.owners_unknown;
    manifest.state = left ? RunState::kRunning : RunState::kComplete;
  }
}

// Sums that an earlier packer, which did not come to its end, left beside its events.
Status Packer::State::load_foreign_parts() {
  bool foreign = false;
  for (const std::uint64_t n : parquet_parts(directory_, kSummaryTable)) {
    if (own_parts_.contains(n)) continue;
    foreign = true;
    FATHOM_TRY(connect());
    FATHOM_TRY(load_summary(parquet_name(kSummaryTable, n)));
    FATHOM_TRY(load_timeline(parquet_name(kTimelineTable, n)));
    FATHOM_TRY(load_coverage(parquet_name(kCoverageTable, n)));
  }
  return foreign ? recount_layers() : Status();
}

// No rows where the file is damaged.
Result<Table> Packer::State::read_part(const std::string& columns, const std::string& name,
                                       const std::string& behind) {
  Result<File> file = directory_.read(name);
  if (!file || !parquet_damage(*file).empty()) return Table{};
  const DataFile held = held_file(std::move(file).value(), name);
  return connection_->query("SELECT " + columns + " FROM read_parquet(" +
                            sql::quote_literal(held.source) + ")" + behind);
}

Status Packer::State::load_summary(const std::string& name) {
  FATHOM_ASSIGN(const Table table,
                read_part("layer, name, category, file, pid, calls, errors, dur, self, dur_min, "
                          "dur_max, bytes, first, last, hist, sizes, positioned, consecutive, "
                          "forward, strided, misaligned, extent, " +
                              std::string(manifest.schema < 2 ? "NULL, NULL, NULL"
                                                              : "program, process, peer"),
                          name));
  SummaryTable part;
  Strings texts;
  for (const auto& cells : table.rows) part.add(summary_row(cells, texts));
  summary_.add(part, texts, strings);
  return {};
}

Status Packer::State::load_timeline(const std::string& name) {
  FATHOM_ASSIGN(const Table table, read_part("ts, width, layer, busy, calls, bytes", name));
  for (const auto& cells : table.rows) {
    timeline_.add({integer_of(cells[0]),
                   integer_of(cells[1]),
                   code_of(cells[2], strings),
                   {integer_of(cells[3]), integer_of(cells[4]), integer_of(cells[5])}});
  }
  return {};
}

Status Packer::State::load_coverage(const std::string& name) {
  FATHOM_ASSIGN(const Table table, read_part("layer, ts, ts + dur, covered", name));
  for (const auto& cells : table.rows) {
    coverage_.of(code_of(cells[0], strings))
        .add({integer_of(cells[1]), integer_of(cells[2]), integer_of(cells[3])});
  }
  return {};
}

// An earlier packer may have died between publishing rows and counting them.
Status Packer::State::recount_layers() {
  for (LayerState& layer : manifest.layers) layer.events = 0;
  for (const SummaryRow& row : summary_.rows())
    add_to(manifest.layer(strings.view(row.key.layer)).events, row.calls);
  FATHOM_TRY(recount_layers(kCountersTable, "layer"));
  return recount_layers(kSamplesTable, sql::quote_literal(kSampledLayer));
}

Status Packer::State::recount_layers(const char* table, const std::string& layer) {
  for (const std::uint64_t n : parquet_parts(directory_, table)) {
    FATHOM_ASSIGN(const Table rows,
                  read_part(layer + ", count(*)", parquet_name(table, n), " GROUP BY 1"));
    for (const auto& cells : rows.rows) {
      add_to(manifest.layer(strings.view(code_of(cells[0], strings))).events, integer_of(cells[1]));
    }
  }
  return {};
}

Population Packer::State::population() {
  return {decoder_.definitions(), clock, known_exits(manifest)};
}

std::vector<ProcessRow> Packer::State::all_processes(const Population& all, Detail detail) {
  const std::string& host = manifest.host.hostname;
  std::vector<ProcessRow> rows = process_rows(all, host, detail);
  add_seen_from_outside(seen_from_outside_.processes, host, rows);
  add_program(manifest, spool_.header().creator_pid, rows);
  name_container(manifest, rows);
  return rows;
}

std::vector<ThreadRow> Packer::State::all_threads(const Population& all) {
  const std::string& host = manifest.host.hostname;
  std::vector<ThreadRow> rows = thread_rows(all, host);
  add_seen_from_outside(seen_from_outside_.threads, host, rows);
  name_container(manifest, rows);
  return rows;
}

Status Packer::State::write_finals() {
  const std::string& host = manifest.host.hostname;
  const Population all = population();
  FATHOM_TRY(
      write_unpublished(parquet_name(kSummaryTable), SqlBatch::summary(summary_, strings, host)));
  FATHOM_TRY(write_unpublished(parquet_name(kTimelineTable),
                               SqlBatch::timeline(timeline_, strings, host)));
  FATHOM_TRY(write_unpublished(parquet_name(kCoverageTable),
                               SqlBatch::coverage(coverage_, strings, host)));
  FATHOM_TRY(write_unpublished(parquet_name(kProcessesTable),
                               SqlBatch::processes(all_processes(all, Detail::kWhole))));
  return write_unpublished(parquet_name(kThreadsTable), SqlBatch::threads(all_threads(all)));
}

std::vector<Loss> Packer::State::gaps() {
  return drainer->gaps([this](std::uint64_t n) { return is_packed(n); }, decoder_.definitions());
}

// Whoever reads the sums should know that some belong to no file by name.
void Packer::State::tell_of_others(const SummaryTable& summary, Manifest& to) const {
  for (const char* others : {kOtherFiles, kOtherNames}) {
    const std::uint32_t code = strings.find(others);
    std::int64_t calls = 0;
    for (const SummaryRow& row : summary.rows()) {
      if (row.key.file == code || row.key.name == code) add_to(calls, row.calls);
    }
    if (calls > 0)
      to.facts[std::string("summary.") + others] =
          counted(calls, "call") + " on more files or names than the sums have rows for";
  }
}

// After the losses: what is lost is not unseen.
void Packer::State::tell_of_unseen(const SummaryTable& summary, Manifest& to) {
  const Definitions& definitions = decoder_.definitions();
  for (const NotCovered& one : unseen_requests(definitions, to)) to.add_not_covered(one);
  for (const NotCovered& one : untraced_interpreters(definitions)) to.add_not_covered(one);
  for (const NotCovered& one : unseen_bytes(definitions, summary, strings, to))
    to.add_not_covered(one);
}

void Packer::State::add_losses_of_spool(Manifest& to) {
  for (const Loss& loss : drainer->losses()) to.add_loss(loss);
  for (const Loss& loss : gaps()) to.add_loss(loss);
}

// summary.parquet makes the parts superfluous; the manifest is final only now.
Status Packer::State::publish_finals() {
  FATHOM_ASSIGN(const FileLock exclusive,
                FileLock::wait(spool_.files(), kPublishLock, FileLock::Mode::kExclusive));
  for (const char* table :
       {kProcessesTable, kThreadsTable, kTimelineTable, kCoverageTable, kSummaryTable}) {
    const std::string name = parquet_name(table);
    FATHOM_TRY(spool_.files().rename(name, directory_, name));
    manifest.files[table] = 1;
  }
  add_losses_of_spool(manifest);
  tell_of_others(summary_, manifest);
  tell_of_unseen(summary_, manifest);
  FATHOM_TRY(write_manifest(directory_, manifest));
  // The spool goes at one stroke: half of it would look like a recording that has to be recovered.
  FATHOM_TRY(directory_.rename(kSpoolDirectory, directory_, kSpentSpool));
  for (const char* table : kSummedTables) {
    for (const std::uint64_t n : parquet_parts(directory_, table))
      (void)directory_.remove(parquet_name(table, n));
  }
  return remove_tree(directory_.path_of(kSpentSpool));
}

}  // namespace fathom::trace
