// SPDX-License-Identifier: MIT
// Rows of the recorder as entries of a log, and back. An entry has one kind of row and can be read
// alone: the kind, the number of texts, the texts, then the rows to its end. Rows name a text by
// its place among them, from 1 (0 is NULL), since codes of Strings mean something in one process
// only. An entry of newer fields is a new kind, so that logs of older recorders are read for ever.
#include "trace/decode/host_rows.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "trace/decode/record_walker.h"
#include "trace/rows/byte_writer.h"

namespace fathom::trace {
namespace {

constexpr std::size_t kRowsPerEntry = 4096;
// Beyond these an entry is damaged. A histogram has a bucket for each power of two of a time in ns.
constexpr std::size_t kMostBuckets = 64;
constexpr std::int64_t kMostArgs = 256;

// They stand in logs: a number is never given to another kind.
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

// Gathers the rows of one entry; the texts that they name are written before them.
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

// Reads an entry. Its bytes may be damaged: every read says whether there was something to read,
// and a place beyond the texts is refused.
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

// Both directions of a row in one place: what is written first is read first. Which fields a row
// has is told by one that only its type has (`ret`: an event, `width`: an interval, `unit`: a
// counter, `weight`: a sample, `frame`: a frame). The order is the format.
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

bool read_event(EntryReader& in, HostRows& rows) {
  EventRow row;
  if (!get_row(in, row)) return false;
  rows.events.push(row);
  return true;
}

// Args come before the row is pushed: push() takes those that wait.
bool read_event_with_args(EntryReader& in, HostRows& rows) {
  EventRow row;
  if (!get_row(in, row) || !get_args(in, rows.events.args)) return false;
  rows.events.push(row);
  return true;
}

template <IntervalBatch HostRows::*Batch>
bool read_interval(EntryReader& in, HostRows& rows) {
  IntervalRow row;
  if (!get_row(in, row) || !get_hist(in, row.hist)) return false;
  (rows.*Batch).rows.push_back(std::move(row));
  return true;
}

template <IntervalBatch HostRows::*Batch>
bool read_interval_with_peer(EntryReader& in, HostRows& rows) {
  return read_interval<Batch>(in, rows) && in.code((rows.*Batch).rows.back().peer);
}

// Kinds whose rows are nothing but fields.
template <auto Batch>
bool read_plain(EntryReader& in, HostRows& rows) {
  auto& batch = (rows.*Batch).rows;
  typename std::remove_reference_t<decltype(batch)>::value_type row;
  if (!get_row(in, row)) return false;
  batch.push_back(row);
  return true;
}

bool read_loss(EntryReader& in, HostRows& rows) {
  std::string_view layer;
  std::string_view reason;
  std::int64_t count = 0;
  if (!in.text(layer) || !in.text(reason) || !in.number(count)) return false;
  rows.losses.push_back({std::string(layer), std::string(reason), count});
  return true;
}

// Reads one row behind those that are there; false where damaged.
using RowReader = bool (*)(EntryReader& in, HostRows& rows);

struct KindReader {
  Kind kind;
  RowReader read;
};
constexpr KindReader kReaders[] = {
    {kEvents, read_event},
    {kEventsWithArgs, read_event_with_args},
    {kIntervals, read_interval<&HostRows::intervals>},
    {kIntervalsWithPeers, read_interval_with_peer<&HostRows::intervals>},
    {kTargets, read_interval<&HostRows::targets>},
    {kTargetsWithPeers, read_interval_with_peer<&HostRows::targets>},
    {kCounters, read_plain<&HostRows::counters>},
    {kSamples, read_plain<&HostRows::samples>},
    {kFrames, read_plain<&HostRows::frames>},
    {kLosses, read_loss},
};

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
  const auto* const reader = std::ranges::find(kReaders, kind, &KindReader::kind);
  // A kind of a newer recorder costs its rows, and one without rows costs nothing.
  if (reader == std::end(kReaders)) return in.at_end();
  while (!in.at_end()) {
    if (!reader->read(in, rows)) return false;
  }
  return true;
}

}  // namespace fathom::trace
