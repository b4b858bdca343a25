// SPDX-License-Identifier: MIT
// Decodes what is not packed yet for one reader, who writes nothing where the recording lies and
// holds up nobody. A packer may publish meanwhile: `changed` says so, and the reader begins again.
// Rows beyond a limit go into Parquet files without a name, so that a long tail does not fill
// memory.
#include "trace/recording/tail.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sql/parquet_writer.h"
#include "trace/decode/host_rows.h"
#include "trace/recording/parquet_tables.h"
#include "trace/recording/processes.h"
#include "trace/recording/refused.h"
#include "trace/recording/seen_from_outside.h"
#include "trace/recording/uncovered.h"
#include "trace/recording/unseen.h"
#include "trace/rows/frame_names.h"
#include "trace/spool/snapshot.h"

namespace fathom::trace {
namespace {

// The manifest's clock has the pairs by which earlier parts were packed: with another one their
// rows and ours would not fit together. What is read now only makes later times truer.
Clock clock_of(const Spool& spool, const Manifest& manifest) {
  Clock clock = manifest.clock.pairs().empty() ? Clock::of(spool.header()) : manifest.clock;
  clock.add_left(spool.header());
  if (spool.same_boot()) clock.add(clock.read());
  return clock;
}

void list_calls(Spool& spool, const Clock& clock, const Snapshot& snapshot, Decoder& decoder,
                Tail& tail) {
  for (const CallInFlight& call : snapshot.in_flight) {
    const Process* process = decoder.definitions().find(call.key);
    // It was cut by its own process's end, which is no hang.
    if (process != nullptr && ended_in_order(*process)) continue;
    tail.in_flight.push_back({process != nullptr ? process->pid : call.pid, call.tid,
                              call_name(spool, call), clock.ns(call.since_tick)});
  }
}

// Rows, batch by batch; sums and losses in between.
class TailReader {
 public:
  TailReader(const TailOptions& options, std::string host, Decoder& decoder, Tail& tail,
             TailFacts& facts)
      : need_(options.need),
        most_rows_(options.most_rows),
        resolver_(options.decoder.resolver),
        host_(std::move(host)),
        decoder_(decoder),
        tail_(tail),
        facts_(facts) {}

  void read(const Snapshot::Batch& batch) {
    if (!failure_) return;
    HostRows host;
    for (const auto& entry : batch.rows) sound_ &= decode_rows(entry, host, tail_.strings);
    add_sums(host, tail_.strings, of_host_);
    if (need_ == Need::kEvents) {
      decoder_.decode(batch.chunks, tail_.events, tail_.counters);
      tail_.events.append(host.events);
      std::ranges::move(host.intervals.rows, std::back_inserter(tail_.intervals.rows));
      std::ranges::move(host.samples.rows, std::back_inserter(tail_.samples.rows));
      std::ranges::move(host.frames.rows, std::back_inserter(tail_.frames.rows));
    } else {
      decoder_.sum(batch.chunks, tail_.counters);
    }
    std::ranges::move(host.counters.rows, std::back_inserter(tail_.counters.rows));
    if (tail_.events.rows() > most_rows_) failure_ = put_events_aside();
    if (failure_ && tail_.samples.rows.size() > most_rows_) failure_ = put_samples_aside();
  }

  // Why not everything could be read: a disk without room for what does not fit into memory.
  [[nodiscard]] const Status& failure() const { return failure_; }

  void finish(std::vector<Loss> losses_of_spool) {
    name_frames(resolver_, tail_.frames, tail_.strings);
    Decoder::Sums sums = decoder_.take_sums();
    if (need_ == Need::kEvents)
      std::ranges::move(sums.intervals.rows, std::back_inserter(tail_.intervals.rows));
    sums.add(of_host_);
    for (const auto& [layer, count] : sums.events_by_layer) facts_.events_by_layer[layer] += count;
    facts_.losses = std::move(sums.losses);
    std::ranges::move(losses_of_spool, std::back_inserter(facts_.losses));
    if (!sound_) facts_.losses.push_back({"", "damaged log", 1});
    tail_.summary = std::move(sums.summary);
    tail_.timeline = std::move(sums.timeline);
    tail_.coverage = std::move(sums.coverage);
  }

 private:
  // As a packer would, but into a file of nobody's.
  Status put_aside(const char* table, const SqlBatch& rows) {
    FATHOM_ASSIGN(File file, File::unnamed(scratch_directory()));
    // Writing closes a descriptor; the file is its other one's.
    FATHOM_ASSIGN(File writer, file.duplicate());
    FATHOM_TRY(sql::write_parquet(std::move(writer), rows.batch()));
    facts_.packed[table].push_back(held_file(std::move(file), ""));
    return {};
  }
  Status put_events_aside() {
    tail_.events.sort();
    FATHOM_TRY(put_aside(kEventsTable, SqlBatch::events(tail_.events, tail_.strings, host_)));
    tail_.events.clear();
    return {};
  }
  Status put_samples_aside() {
    tail_.samples.sort();
    FATHOM_TRY(put_aside(kSamplesTable, SqlBatch::samples(tail_.samples, tail_.strings, host_)));
    tail_.samples.rows.clear();
    return {};
  }

  Need need_;
  std::size_t most_rows_;
  NameResolver resolver_;
  std::string host_;
  Status failure_;
  Decoder& decoder_;
  Tail& tail_;
  TailFacts& facts_;
  Decoder::Sums of_host_;
  bool sound_ = true;
};

}  // namespace

Result<std::unique_ptr<Tail>> read_tail(Spool& spool, const Manifest& manifest,
                                        const TailOptions& options, TailFacts& facts) {
  auto tail = std::make_unique<Tail>();
  Clock clock = clock_of(spool, manifest);
  FATHOM_ASSIGN(Snapshot snapshot,
                spool.snapshot(clock, options.replaced_logs, options.undisturbed));
  if (spool.same_boot()) clock.add(clock.read());
  DecoderOptions chosen = options.decoder;
  // What the recording left out of its files it leaves out here, unless the reader has a choice of
  // his own.
  if (chosen.paths.keeps_all()) chosen.paths = PathFilter(manifest.path_filter);
  Decoder decoder(tail->strings, clock, chosen);
  if (options.last_packed) spool.restore_carried(*options.last_packed, decoder);
  // All names first: see definer.h.
  snapshot.visit_definitions([&decoder](const Chunk& chunk) { decoder.define(chunk); });
  TailReader reader(options, manifest.host.hostname, decoder, *tail, facts);
  snapshot.visit_rows([&reader](const Snapshot::Batch& batch) { reader.read(batch); });
  FATHOM_TRY(reader.failure());
  facts.gaps = snapshot.gaps(options.packed_logs, decoder.definitions());
  std::vector<Loss> losses = snapshot.losses();
  losses.insert(losses.end(), facts.gaps.begin(), facts.gaps.end());
  reader.finish(std::move(losses));
  facts.changed = snapshot.changed();
  facts.damaged = snapshot.damaged();
  for (const std::string& name : spool.missing_schemas())
    facts.damaged.push_back({spool.files().path_of(name), "missing or damaged"});
  if (const std::uint64_t last = last_tick_of(decoder.definitions()); last != 0)
    facts.last_ns = clock.ns(last);
  facts.owners_alive = snapshot.owners_alive;
  facts.owners_unknown = snapshot.owners_unknown;
  // From here on facts of processes, which need no rows.
  const Population all(decoder.definitions(), clock, known_exits(manifest));
  facts.not_covered = not_covered(all, "");
  std::ranges::move(left_alone(spool.files()), std::back_inserter(facts.not_covered));
  std::ranges::move(unseen_requests(decoder.definitions(), manifest),
                    std::back_inserter(facts.not_covered));
  std::ranges::move(untraced_interpreters(decoder.definitions()),
                    std::back_inserter(facts.not_covered));
  add_refused_settings(decoder.definitions(), facts.refused);
  Manifest told = manifest;
  for (const auto& process : decoder.definitions().processes())
    take_reasons(decoder.definitions(), *process, told);
  facts.layers = std::move(told.layers);
  tail->processes = process_rows(all, manifest.host.hostname);
  add_seen_from_outside(snapshot.seen.processes, manifest.host.hostname, tail->processes);
  add_program(manifest, spool.header().creator_pid, tail->processes);
  tail->threads = thread_rows(all, manifest.host.hostname);
  add_seen_from_outside(snapshot.seen.threads, manifest.host.hostname, tail->threads);
  facts.last_ns = std::max(facts.last_ns, last_end(snapshot.seen.threads));
  list_calls(spool, clock, snapshot, decoder, *tail);
  return tail;
}

}  // namespace fathom::trace
