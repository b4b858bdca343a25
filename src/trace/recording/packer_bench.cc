// SPDX-License-Identifier: MIT
// Records into rows, and rows into Parquet: events a second on one core.
#include <benchmark/benchmark.h>

#include "sql/parquet_writer.h"
#include "trace/decode/decoder.h"
#include "trace/recording/parquet_tables.h"
#include "trace/testing/spool_builder.h"

namespace fathom::trace {
namespace {

using testing::RecordWriter;

constexpr std::uint64_t kPerChunk = 2000;

// Reads of a hundred files by four threads inside regions, as segments would hold them.
std::vector<RecordWriter> workload(std::uint64_t chunks) {
  std::vector<RecordWriter> writers(chunks);
  std::uint64_t tick = 1000;
  for (std::uint64_t i = 0; i < chunks; i++) {
    RecordWriter& w = writers[i];
    w.switch_to({0x77, 100, 100 + i % 4, i % 4, i / 4, 0, tick});
    if (i == 0) {
      w.string(1, "step").site(2, 1, 0);
      for (std::uint64_t file = 0; file < 100; file++)
        w.path(10 + file, 0, "/data/part-" + std::to_string(file));
    }
    for (std::uint64_t n = 0; n < kPerChunk; n++) {
      const std::uint64_t spread = (n * 2654435761U) % 5000;
      if (n % 10 == 9) {
        w.region(0, tick - 2000, tick + 10, 2);
        tick += 100;
        continue;
      }
      const std::uint64_t file = 10 + (n / 20 + i) % 100;
      const unsigned same = n % 20 == 0 ? 0 : FATHOM_FLAG_SAME;
      const std::uint64_t offset = 1 + fathom_zigzag(static_cast<std::int64_t>(spread) * 4096);
      if (same != 0) {
        w.call(testing::kPread, 1, tick, tick + 400 + spread, same | FATHOM_FLAG_FULL,
               {offset, 4096});
      } else {
        w.call(testing::kPread, 1, tick, tick + 400 + spread, FATHOM_FLAG_FULL,
               {fathom_zigzag(5), file, offset, 4096});
      }
      tick += 500 + spread;
    }
  }
  return writers;
}

std::vector<Chunk> chunks_of(const std::vector<RecordWriter>& writers, const Schema& schema) {
  std::vector<Chunk> chunks;
  chunks.reserve(writers.size());
  for (const RecordWriter& w : writers) chunks.push_back({w.bytes(), &schema});
  return chunks;
}

void decode(benchmark::State& state) {
  const Schema schema = Schema::parse(testing::kSchemaText).value();
  const std::vector<RecordWriter> writers = workload(500);
  const std::vector<Chunk> chunks = chunks_of(writers, schema);
  std::int64_t rows = 0;
  EventBatch events;  // the packer keeps it too
  for (auto _ : state) {
    Strings strings;
    Decoder decoder(strings, Clock(FATHOM_TICK_COUNTER, {1000, 1000}, 0.4));
    CounterBatch counters;
    events.clear();
    decoder.decode(chunks, events, counters);
    rows += static_cast<std::int64_t>(events.rows());
  }
  state.SetItemsProcessed(rows);
}
BENCHMARK(decode)->Unit(benchmark::kMillisecond);

void sums_alone(benchmark::State& state) {
  const Schema schema = Schema::parse(testing::kSchemaText).value();
  const std::vector<RecordWriter> writers = workload(500);
  const std::vector<Chunk> chunks = chunks_of(writers, schema);
  std::int64_t events = 0;
  for (auto _ : state) {
    Strings strings;
    Decoder decoder(strings, Clock(FATHOM_TICK_COUNTER, {1000, 1000}, 0.4));
    CounterBatch counters;
    decoder.sum(chunks, counters);
    for (const auto& [layer, count] : decoder.take_sums().events_by_layer) events += count;
  }
  state.SetItemsProcessed(events);
}
BENCHMARK(sums_alone)->Unit(benchmark::kMillisecond);

void decode_and_pack(benchmark::State& state) {
  const testing::TempDir directory;
  const Schema schema = Schema::parse(testing::kSchemaText).value();
  const std::vector<RecordWriter> writers = workload(500);
  const std::vector<Chunk> chunks = chunks_of(writers, schema);
  std::int64_t rows = 0;
  EventBatch events;  // the packer keeps it too
  for (auto _ : state) {
    Strings strings;
    Decoder decoder(strings, Clock(FATHOM_TICK_COUNTER, {1000, 1000}, 0.4));
    CounterBatch counters;
    events.clear();
    decoder.decode(chunks, events, counters);
    events.sort();
    const std::string path = join_path(directory.path(), "events.parquet");
    const Status written =
        sql::write_parquet(path, SqlBatch::events(events, strings, "host").batch());
    if (!written) state.SkipWithError(written.error().message.c_str());
    rows += static_cast<std::int64_t>(events.rows());
    state.counters["bytes_per_event"] =
        static_cast<double>(*File::open(path, 0)->size()) / static_cast<double>(events.rows());
  }
  state.SetItemsProcessed(rows);
}
BENCHMARK(decode_and_pack)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fathom::trace
