// SPDX-License-Identifier: MIT
// An entry: its texts, then rows of one kind that name them by their place (0 is NULL).
#include "trace/decode/host_rows.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <unordered_map>

#include "trace/decode/record_walker.h"
#include "trace/rows/byte_writer.h"
#include "trace/rows/layers.h"

namespace fathom::trace {
namespace {

constexpr std::size_t kRowsPerEntry = 4096;
constexpr std::size_t kMostBuckets = 64;
constexpr std::int64_t kMostArgs = 256;

enum Kind : std::uint64_t {
  kEvents = 1,
  kIntervals = 2,
  kLosses = 3,
  kCounters = 4,
  kTargets = 5,
  kEventsWithArgs = 6,
  kIntervalsWithPeers = 7,
  kTargetsWithPeers = 8,
  kSamples = 9,
  kFrames = 10,
};

class EntryWriter {
 public:
  explicit EntryWriter(const Strings& strings) : strings_(&strings) {}

  void number(std::int64_t value) { put_signed(rows_, value); }
  void number(std::int32_t value) { put_signed(rows_, value); }
  void number(double value) { number(std::bit_cast<std::int64_t>(value)); }
  void code(std::uint32_t code) {
    if (code == kNoString) return put_number(rows_, 0);
    const auto [at, is_new] = places_.try_emplace(code, places_.size() + 1);
    if (is_new) put_text(texts_, strings_->view(code));
    put_number(rows_, at->second);
  }
  void text(std::string_view text) { put_text(rows_, text); }

  [[nodiscard]] std::string finish(Kind kind) const {
    std::string out;
    put_number(out, kind);
    put_number(out, places_.size());
    return out + texts_ + rows_;
  }

 private:
  const Strings* strings_;
  std::unordered_map<std::uint32_t, std::uint64_t> places_;
  std::string texts_;
  std::string rows_;
};

class EntryReader {
 public:
  EntryReader(std::span<const std::uint8_t> bytes, Strings& strings)
      : reader_(bytes.data(), bytes.data() + bytes.size()), strings_(&strings) {}

  // The kind of its rows; 0 where damaged.
  std::uint64_t begin() {
    std::uint64_t kind = 0;
    std::uint64_t count = 0;
    if (!reader_.number(kind) || !reader_.number(count)) return 0;
    for (std::uint64_t i = 0; i < count; i++) {
      std::string_view text;
      if (!reader_.text(text)) return 0;
      codes_.push_back(strings_->code(text));
    }
    return kind;
  }
  bool number(std::int64_t& value) { return reader_.signed_number(value); }
  bool number(double& value) {
    std::int64_t bits = 0;
    if (!reader_.signed_number(bits)) return false;
    value = std::bit_cast<double>(bits);
    return true;
  }
  bool number(std::int32_t& value) {
    std::int64_t wide = 0;
    if (!reader_.signed_number(wide)) return false;
    value = static_cast<std::int32_t>(wide);
    return wide == value;
  }
  bool code(std::uint32_t& code) {
    std::uint64_t place = 0;
    if (!reader_.number(place) || place > codes_.size()) return false;
    code = place == 0 ? kNoString : codes_[place - 1];
    return true;
  }
  bool text(std::string_view& text) { return reader_.text(text); }
  [[nodiscard]] bool at_end() const { return reader_.at_end(); }

 private:
  ByteReader reader_;
  Strings* strings_;
  std::vector<std::uint32_t> codes_;
};

// Both directions of a row in one place: what is written first is read first.
template <class Entry, class Row>
bool each_field(Entry&& number, auto&& code, Row& row) requires requires {
  row.ret;
}
{
  return number(row.ts) && number(row.dur) && number(row.pid) && number(row.tid) &&
         code(row.layer) && code(row.name) && code(row.category) && code(row.file) &&
         code(row.error) && number(row.fd) && number(row.offset) && number(row.size) &&
         number(row.bytes) && number(row.ret) && number(row.correlation);
}
template <class Entry, class Row>
bool each_field(Entry&& number, auto&& code, Row& row) requires requires {
  row.width;
}
{
  return number(row.ts) && number(row.width) && number(row.pid) && number(row.tid) &&
         code(row.layer) && code(row.name) && code(row.category) && code(row.file) &&
         number(row.calls) && number(row.errors) && number(row.dur) && number(row.dur_min) &&
         number(row.dur_max) && number(row.bytes);
}
template <class Entry, class Row>
bool each_field(Entry&& number, auto&& code, Row& row) requires requires {
  row.unit;
}
{
  return number(row.ts) && number(row.pid) && number(row.tid) && code(row.layer) &&
         code(row.name) && code(row.unit) && code(row.host) && number(row.value);
}

template <class Entry, class Row>
bool each_field(Entry&& number, auto&& code, Row& row) requires requires {
  row.weight;
}
{
  return number(row.ts) && number(row.pid) && number(row.tid) && number(row.cpu) &&
         code(row.event) && code(row.host) && number(row.weight) && number(row.stack) &&
         number(row.ready);
}
template <class Entry, class Row>
bool each_field(Entry&& number, auto&& code, Row& row) requires requires {
  row.frame;
}
{
  auto& frame = row.frame;
  return number(row.stack) && number(row.depth) && code(frame.function) && code(frame.module) &&
         code(frame.file) && number(frame.line) && code(frame.build_id) && number(frame.offset);
}

template <class Row>
void put_row(EntryWriter& out, const Row& row) {
  each_field([&](auto value) { return out.number(value), true; },
             [&](std::uint32_t code) { return out.code(code), true; }, row);
}
template <class Row>
bool get_row(EntryReader& in, Row& row) {
  return each_field([&](auto& value) { return in.number(value); },
                    [&](std::uint32_t& code) { return in.code(code); }, row);
}

void put_hist(EntryWriter& out, const std::vector<std::int64_t>& hist) {
  out.number(static_cast<std::int64_t>(hist.size()));
  for (const std::int64_t count : hist) out.number(count);
}
bool get_hist(EntryReader& in, std::vector<std::int64_t>& hist) {
  std::int64_t size = 0;
  if (!in.number(size) || size < 0 || static_cast<std::size_t>(size) > kMostBuckets) return false;
  hist.resize(static_cast<std::size_t>(size));
  return std::ranges::all_of(hist, [&](std::int64_t& count) { return in.number(count); });
}

void put_args(EntryWriter& out, const Args& args, std::size_t row) {
  out.number(static_cast<std::int64_t>(args.end(row) - args.begin(row)));
  for (std::size_t entry = args.begin(row); entry < args.end(row); entry++) {
    out.code(args.key(entry));
    out.text(args.value(entry));
  }
}
bool get_args(EntryReader& in, Args& args) {
  std::int64_t size = 0;
  if (!in.number(size) || size < 0 || size > kMostArgs) return false;
  for (std::int64_t i = 0; i < size; i++) {
    std::uint32_t key = kNoString;
    std::string_view value;
    if (!in.code(key) || !in.text(value)) {
      args.drop_open();
      return false;
    }
    args.add(key, value);
  }
  return true;
}

template <class PutRow>
void put_entries(std::vector<std::string>& entries, Kind kind, std::size_t rows,
                 const Strings& strings, PutRow put) {
  for (std::size_t from = 0; from < rows; from += kRowsPerEntry) {
    EntryWriter entry(strings);
    for (std::size_t at = from; at < std::min(rows, from + kRowsPerEntry); at++) put(entry, at);
    entries.push_back(entry.finish(kind));
  }
}

bool get_interval(EntryReader& in, bool of_target, HostRows& rows) {
  IntervalRow row;
  if (!get_row(in, row) || !get_hist(in, row.hist)) return false;
  (of_target ? rows.targets : rows.intervals).rows.push_back(std::move(row));
  return true;
}

void put_intervals(std::vector<std::string>& entries, const std::vector<IntervalRow>& rows,
                   bool of_targets, const Strings& strings) {
  const bool has_peers =
      std::ranges::any_of(rows, [](const IntervalRow& row) { return row.peer != kNoString; });
  const Kind plain = of_targets ? kTargets : kIntervals;
  const Kind with_peers = of_targets ? kTargetsWithPeers : kIntervalsWithPeers;
  put_entries(entries, has_peers ? with_peers : plain, rows.size(), strings,
              [&](EntryWriter& out, std::size_t at) {
                put_row(out, rows[at]);
                put_hist(out, rows[at].hist);
                if (has_peers) out.code(rows[at].peer);
              });
}

bool get_one(EntryReader& in, std::uint64_t kind, HostRows& rows) {
  if (kind == kEvents || kind == kEventsWithArgs) {
    EventRow row;
    if (!get_row(in, row)) return false;
    if (kind == kEventsWithArgs && !get_args(in, rows.events.args)) return false;
    rows.events.push(row);
    return true;
  }
  if (kind == kIntervals || kind == kTargets) return get_interval(in, kind == kTargets, rows);
  if (kind == kIntervalsWithPeers || kind == kTargetsWithPeers) {
    if (!get_interval(in, kind == kTargetsWithPeers, rows)) return false;
    return in.code((kind == kTargetsWithPeers ? rows.targets : rows.intervals).rows.back().peer);
  }
  if (kind == kCounters) {
    CounterRow row;
    if (!get_row(in, row)) return false;
    rows.counters.rows.push_back(row);
    return true;
  }
  if (kind == kSamples) {
    SampleRow row;
    if (!get_row(in, row)) return false;
    rows.samples.rows.push_back(row);
    return true;
  }
  if (kind == kFrames) {
    FrameRow row;
    if (!get_row(in, row)) return false;
    rows.frames.rows.push_back(row);
    return true;
  }
  std::string_view layer;
  std::string_view reason;
  std::int64_t count = 0;
  if (kind != kLosses || !in.text(layer) || !in.text(reason) || !in.number(count)) return false;
  rows.losses.push_back({std::string(layer), std::string(reason), count});
  return true;
}

bool get_numbers(ByteReader& reader, std::initializer_list<std::int64_t*> numbers) {
  return std::ranges::all_of(numbers,
                             [&](std::int64_t* number) { return reader.signed_number(*number); });
}

bool get_process(ByteReader& reader, ProcessRow& row) {
  std::string_view name;
  std::string_view command;
  if (!get_numbers(reader, {&row.pid, &row.ppid, &row.start, &row.end, &row.exit, &row.rank}) ||
      !reader.text(name) || !reader.text(command))
    return false;
  row.name = name;
  row.command = command;
  return true;
}

SummaryRow summary_of(const IntervalRow& row) {
  SummaryRow sums;
  sums.key = {row.layer, row.name,    row.category, row.file,
              row.pid,   row.program, row.process,  row.peer};
  sums.calls = row.calls;
  sums.errors = row.errors;
  sums.dur = sums.self = row.dur;
  sums.dur_min = row.dur_min == kNull ? 0 : row.dur_min;
  sums.dur_max = row.dur_max == kNull ? 0 : row.dur_max;
  sums.bytes = row.bytes;
  sums.first = row.ts;
  sums.last = row.ts + row.width;
  sums.hist = row.hist;
  return sums;
}

// Evenly over its interval; a call that took longer began before it.
void add_to_timeline(const IntervalRow& row, Timeline& timeline) {
  const std::int64_t end = row.ts + row.width;
  const std::int64_t begin = std::max<std::int64_t>(0, end - std::max(row.width, row.dur));
  const std::int64_t idle = std::max<std::int64_t>(0, end - begin - row.dur);
  timeline.add(row.layer, begin, end - begin, {.time = idle}, row.bytes, row.calls);
}

}  // namespace

std::vector<std::string> encode_rows(const HostRows& rows, const Strings& strings) {
  std::vector<std::string> entries;
  const bool has_args = rows.events.args.entries() > 0;
  put_entries(entries, has_args ? kEventsWithArgs : kEvents, rows.events.rows(), strings,
              [&](EntryWriter& out, std::size_t at) {
                put_row(out, rows.events.row(at));
                if (has_args) put_args(out, rows.events.args, at);
              });
  put_intervals(entries, rows.intervals.rows, false, strings);
  put_intervals(entries, rows.targets.rows, true, strings);
  put_entries(entries, kCounters, rows.counters.rows.size(), strings,
              [&](EntryWriter& out, std::size_t at) { put_row(out, rows.counters.rows[at]); });
  put_entries(entries, kFrames, rows.frames.rows.size(), strings,
              [&](EntryWriter& out, std::size_t at) { put_row(out, rows.frames.rows[at]); });
  put_entries(entries, kSamples, rows.samples.rows.size(), strings,
              [&](EntryWriter& out, std::size_t at) { put_row(out, rows.samples.rows[at]); });
  put_entries(entries, kLosses, rows.losses.size(), strings, [&](EntryWriter& out, std::size_t at) {
    out.text(rows.losses[at].layer);
    out.text(rows.losses[at].reason);
    out.number(rows.losses[at].count);
  });
  return entries;
}

bool decode_rows(std::span<const std::uint8_t> bytes, HostRows& rows, Strings& strings) {
  EntryReader in(bytes, strings);
  const std::uint64_t kind = in.begin();
  if (kind == 0) return false;
  while (!in.at_end()) {
    if (!get_one(in, kind, rows)) return false;
  }
  return true;
}

bool decode_processes(std::span<const std::uint8_t> bytes, std::vector<ProcessRow>& processes) {
  ByteReader reader(bytes.data(), bytes.data() + bytes.size());
  while (!reader.at_end()) {
    ProcessRow row;
    if (!get_process(reader, row)) return false;
    processes.push_back(std::move(row));
  }
  return true;
}

std::string encode_lives(const Lives& lives) {
  std::string out;
  put_number(out, lives.processes.size());
  for (const ProcessRow& row : lives.processes) {
    for (const std::int64_t number : {row.pid, row.ppid, row.start, row.end, row.exit, row.rank})
      put_signed(out, number);
    for (const std::string* text : {&row.name, &row.command}) put_text(out, *text);
    put_signed(out, row.nspid);
    put_text(out, row.rung);
  }
  for (const ThreadRow& row : lives.threads) {
    for (const std::int64_t number : {row.pid, row.tid, row.start, row.end, row.rank, row.ready})
      put_signed(out, number);
    put_text(out, row.name);
  }
  return out;
}

namespace {

bool decode_lives(std::span<const std::uint8_t> bytes, Lives& lives, bool sampled) {
  ByteReader reader(bytes.data(), bytes.data() + bytes.size());
  std::uint64_t processes = 0;
  if (!reader.number(processes)) return false;
  for (std::uint64_t i = 0; i < processes; i++) {
    ProcessRow row;
    std::string_view rung;
    if (!get_process(reader, row) || !reader.signed_number(row.nspid)) return false;
    if (sampled && !reader.text(rung)) return false;
    row.rung = rung;
    lives.processes.push_back(std::move(row));
  }
  while (!reader.at_end()) {
    ThreadRow row;
    std::string_view name;
    if (!get_numbers(reader, {&row.pid, &row.tid, &row.start, &row.end, &row.rank})) return false;
    if (sampled && !reader.signed_number(row.ready)) return false;
    if (!reader.text(name)) return false;
    row.name = name;
    lives.threads.push_back(std::move(row));
  }
  return true;
}

}  // namespace

bool decode_lives(std::span<const std::uint8_t> bytes, Lives& lives) {
  return decode_lives(bytes, lives, true);
}

bool decode_unsampled_lives(std::span<const std::uint8_t> bytes, Lives& lives) {
  return decode_lives(bytes, lives, false);
}

void add_sums(const HostRows& rows, const Strings& strings, Decoder::Sums& sums) {
  const auto count = [&](std::uint32_t layer, std::size_t many) {
    if (layer != kNoString)
      sums.events_by_layer[std::string(strings.view(layer))] += static_cast<std::int64_t>(many);
  };
  for (const CounterRow& row : rows.counters.rows) count(row.layer, 1);
  if (!rows.samples.rows.empty())
    sums.events_by_layer[std::string(kSampledLayer)] +=
        static_cast<std::int64_t>(rows.samples.rows.size());
  for (std::size_t at = 0; at < rows.events.rows(); at++) {
    count(rows.events.layer[at], 1);
    sums.coverage.of(rows.events.layer[at])
        .extend(rows.events.ts[at], rows.events.ts[at] + rows.events.dur[at]);
  }
  for (const IntervalRow& row : rows.intervals.rows) {
    count(row.layer, 1);
    sums.summary.add(summary_of(row));
    add_to_timeline(row, sums.timeline);
  }
  for (const IntervalRow& row : rows.targets.rows) sums.summary.add(summary_of(row));
  sums.losses.insert(sums.losses.end(), rows.losses.begin(), rows.losses.end());
}

}  // namespace fathom::trace
