// SPDX-License-Identifier: MIT
// Drives the two passes over chunks: definitions (definer.cc), then rows (row_decoder.cc). Runs are
// sorted by thread, so that the state of one thread is used up before the next begins.
#include "trace/decode/decoder.h"

#include <algorithm>
#include <tuple>

#include "base/sum.h"
#include "trace/decode/definer.h"
#include "trace/decode/host_rows.h"
#include "trace/decode/row_decoder.h"

namespace fathom::trace {

Decoder::Decoder(Strings& strings, Clock clock, DecoderOptions options)
    : strings_(&strings),
      clock_(std::move(clock)),
      options_(std::move(options)),
      definitions_(strings, options_.resolver, options_.directory, options_.local),
      rows_(std::make_unique<Rows>(*this, strings)) {}

Decoder::~Decoder() = default;

void Decoder::set_clock(Clock clock) { clock_ = std::move(clock); }

void Decoder::renew_strings() {
  // Of a thread's state codes are the old strings': as bytes it has texts.
  const std::string carried = carry();
  strings_->clear();
  definitions_.forget_codes();
  rows_ = std::make_unique<Rows>(*this, *strings_);
  restore(carried);
}

void Decoder::define(const Chunk& chunk) { define_chunk(chunk, definitions_, nullptr); }

void Decoder::decode(std::span<const Chunk> chunks, EventBatch& events, CounterBatch& counters) {
  decode_runs(chunks, &events, counters);
}

void Decoder::sum(std::span<const Chunk> chunks, CounterBatch& counters) {
  decode_runs(chunks, nullptr, counters);
}

void Decoder::decode_runs(std::span<const Chunk> chunks, EventBatch* events,
                          CounterBatch& counters) {
  std::vector<Run> runs;
  for (const Chunk& chunk : chunks) {
    if (!define_chunk(chunk, definitions_, &runs)) count_loss("damaged chunk");
  }
  if (events != nullptr) {
    // Records take eight bytes and more: room for them at once costs less than growing.
    constexpr std::size_t kBytesPerRow = 10;
    std::size_t bytes = 0;
    for (const Run& run : runs) bytes += run.bytes.size();
    events->reserve(events->rows() + bytes / kBytesPerRow);
  }
  const auto order = [](const Run& run) {
    // Of a thread cursor by cursor: those of signal handlers have states of their own.
    return std::tie(run.head.pid, run.head.key, run.head.thread, run.head.cursor, run.head.run);
  };
  std::sort(runs.begin(), runs.end(),
            [&](const Run& a, const Run& b) { return order(a) < order(b); });
  for (const Run& run : runs) {
    Thread& owner = thread(run.head.key, static_cast<std::uint32_t>(run.head.thread),
                           static_cast<std::uint32_t>(run.head.cursor));
    if (rows_->decode(run, owner, events, counters)) continue;
    if (events != nullptr) events->args.drop_open();
    count_loss("damaged chunk");
  }
  if (rows_->unknown_names > 0)
    count_loss("name not found", std::exchange(rows_->unknown_names, 0));
}

Decoder::Thread& Decoder::thread(std::uint64_t process_key, std::uint32_t ordinal,
                                 std::uint32_t cursor) {
  auto& threads = threads_[(process_key * UINT64_C(0x9e3779b97f4a7c15)) ^ ordinal];
  for (const auto& known : threads) {
    if (known->process_key == process_key && known->ordinal == ordinal && known->cursor == cursor)
      return *known;
  }
  threads.push_back(std::make_unique<Thread>());
  threads.back()->process_key = process_key;
  threads.back()->ordinal = ordinal;
  threads.back()->cursor = cursor;
  return *threads.back();
}

void Decoder::count_loss(const std::string& reason, std::int64_t count) {
  add_to(losses_[reason], count);
}

void Decoder::Sums::add(const Sums& other) {
  for (const SummaryRow& row : other.summary.rows()) summary.add(row);
  for (const Timeline::Row& row : other.timeline.rows()) timeline.add(row);
  coverage.add(other.coverage);
  for (const auto& [layer, count] : other.events_by_layer) add_to(events_by_layer[layer], count);
  losses.insert(losses.end(), other.losses.begin(), other.losses.end());
  intervals.rows.insert(intervals.rows.end(), other.intervals.rows.begin(),
                        other.intervals.rows.end());
}

Decoder::Sums Decoder::take_sums() {
  Sums sums;
  sums.summary = std::exchange(rows_->summary, {});
  rows_->summary.bound(*strings_);
  sums.timeline = std::exchange(rows_->timeline, {});
  // Where the last row of the summary was found is another table's place now.
  rows_->forget_last();
  sums.coverage = std::exchange(rows_->coverage, {});
  for (const SummaryRow& row : sums.summary.rows()) {
    sums.events_by_layer[std::string(strings_->view(row.key.layer))] += row.calls;
  }
  if (rows_->app_counters > 0) sums.events_by_layer["app"] += std::exchange(rows_->app_counters, 0);
  for (const auto& [reason, count] : losses_) sums.losses.push_back({"", reason, count});
  losses_.clear();
  HostRows summed;
  summed.intervals = rows_->summed.take();
  add_sums(summed, *strings_, sums);
  sums.intervals = std::move(summed.intervals);
  return sums;
}

}  // namespace fathom::trace
