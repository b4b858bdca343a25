// SPDX-License-Identifier: MIT
#include "trace/tail.h"

#include "trace/processes.h"

namespace fathom::trace {
namespace {

Clock clock_of(const Spool& spool, const Manifest& manifest) {
  Clock clock = manifest.clock.pairs().empty() ? Clock::of(spool.header()) : manifest.clock;
  if (spool.same_boot()) clock.add(clock.read());
  return clock;
}

void list_calls(Spool& spool, const Clock& clock, const Snapshot& snapshot, Decoder& decoder,
                Tail& tail) {
  for (const CallInFlight& call : snapshot.in_flight) {
    const Process* process = decoder.definitions().find(call.key);
    if (process != nullptr && ended_in_order(*process)) continue;
    tail.in_flight.push_back(
        {call.pid, call.tid, call_name(spool, call), clock.ns(call.since_tick)});
  }
}

}  // namespace

Result<std::unique_ptr<Tail>> read_tail(Spool& spool, const Manifest& manifest,
                                        const DecoderOptions& options,
                                        const std::vector<std::uint64_t>& replaced_logs,
                                        TailFacts& facts) {
  auto tail = std::make_unique<Tail>();
  Clock clock = clock_of(spool, manifest);
  FATHOM_ASSIGN(const Snapshot snapshot, spool.snapshot(clock, replaced_logs));
  if (spool.same_boot()) clock.add(clock.read());
  DecoderOptions chosen = options;
  if (chosen.paths.keeps_all()) chosen.paths = PathFilter(manifest.path_filter);
  Decoder decoder(tail->strings, clock, chosen);
  for (const auto& chunk : snapshot.definitions) decoder.define({chunk, nullptr});
  std::vector<Chunk> chunks;
  for (const Snapshot::Piece& piece : snapshot.pieces) {
    const Schema* schema = spool.schema(piece.schema);
    decoder.define({piece.bytes, schema});
    if (piece.rows_bytes > 0)
      chunks.push_back({std::span(piece.bytes).first(piece.rows_bytes), schema});
  }
  bool sound = true;
  for (const auto& entry : snapshot.counters)
    sound &= decode_counters(entry, tail->counters, tail->strings);
  for (const CounterRow& row : tail->counters.rows) {
    facts.events_by_layer[std::string(tail->strings.view(row.layer))]++;
  }
  decoder.decode(chunks, tail->events, tail->counters);
  Decoder::Sums sums = decoder.take_sums();
  for (const auto& [layer, count] : sums.events_by_layer) facts.events_by_layer[layer] += count;
  facts.losses = std::move(sums.losses);
  facts.losses.insert(facts.losses.end(), snapshot.losses.begin(), snapshot.losses.end());
  if (!sound) facts.losses.push_back({"", "damaged log", 1});
  facts.owners_alive = snapshot.owners_alive;
  facts.not_covered = not_covered(decoder.definitions(), "");
  tail->summary = std::move(sums.summary);
  tail->timeline = std::move(sums.timeline);
  tail->processes = process_rows(decoder.definitions(), clock, {}, manifest.host.hostname);
  tail->threads = thread_rows(decoder.definitions(), clock, manifest.host.hostname);
  list_calls(spool, clock, snapshot, decoder, *tail);
  return tail;
}

}  // namespace fathom::trace
