// SPDX-License-Identifier: MIT
// The second pass: the records of a thread's run into rows of events and counters, and into the
// sums that go with them. Hot: no allocation and no lookup in a tree per record. Included by .cc
// files of this room only.
//
//   row_decoder.cc   the loop over records, and the plan of each kind
//   record_fields.cc the fields of a record, read one after the other
//   settled_calls.cc what a call means once its fields are read: its row, its sums
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/decode/decoder.h"
#include "trace/decode/definer.h"
#include "trace/decode/summed_calls.h"

namespace fathom::trace {

// What a thread's cursor carries from one run to the next.
struct Decoder::Thread {
  std::uint64_t process_key = 0;
  std::uint32_t ordinal = 0;
  std::uint32_t cursor = 0;

  struct PendingArg {
    std::uint64_t depth;
    std::uint32_t key;
    std::size_t begin;
    std::size_t length;
  };
  std::vector<PendingArg> pending;  // arguments of regions that are still open
  std::string pending_text;

  Inside inside;

  // For Decoder::carry() and restore().
  [[nodiscard]] bool carries() const;
  void write(std::string& out, const Strings& strings) const;
  bool read_inside(ByteReader& reader);
  bool read_pending(ByteReader& reader, Strings& strings);
};

// One thread at a time: that of its Decoder, which outlives it, as do the strings. Rows go into
// batches of the caller; sums stay here until they are taken.
class Decoder::Rows {
 public:
  Rows(Decoder& decoder, Strings& strings);

  // False where the run turned out damaged half way. `events` is nullptr where only sums are
  // wanted.
  bool decode(const Run& run, Thread& thread, EventBatch* events, CounterBatch& counters);

  // After `summary` was taken away.
  void forget_last() {
    last_known_ = false;
    settle_coverage();
  }

  SummaryTable summary;
  Timeline timeline;
  LayerCoverage coverage;
  std::int64_t app_counters = 0;
  std::int64_t unknown_names = 0;
  SummedCalls summed;

 private:
  // Names of the numbers of a set; kNoString for one that is no error.
  using ErrorNames = std::unordered_map<std::uint64_t, std::uint32_t>;

  // A declared kind with its texts as codes.
  struct Plan {
    bool known = false;
    bool ret_is_bytes = false;
    bool has_ret = false;
    bool filtered = false;
    bool named_by_site = false;
    bool moves = false;
    bool threadless = false;
    bool takes_arguments = false;
    bool opens = false;
    bool copies = false;
    bool maps = false;
    const ErrorNames* errors = nullptr;  // of a kind whose result is a number of a set
    std::uint32_t layer = kNoString;
    std::uint32_t name = kNoString;
    std::uint32_t category = kNoString;
    std::uint32_t entry = kNoString;
    struct Op {
      FieldKind kind;
      std::uint32_t key;
      std::vector<std::string> choices;
    };
    std::vector<Op> ops;
  };
  struct Plans {
    std::vector<Plan> kinds;  // by kind
    std::map<std::string, ErrorNames, std::less<>> errors;
  };

  // Fields of a call while they are read; args go to the batch at once.
  struct Call {
    std::int64_t ts = 0;
    std::int64_t dur = 0;
    std::int64_t self = 0;
    Inside::Inner inner;  // until the next one ends
    std::uint32_t file = kNoString;
    std::uint32_t peer = kNoString;    // what the descriptor leads to that is no file
    std::uint32_t target = kNoString;  // the other file
    std::uint32_t target_peer = kNoString;
    std::uint32_t error = kNoString;
    std::int64_t offset = kNull;
    std::int64_t size = kNull;
    std::int64_t item = 1;
    std::int64_t ret = kNull;
    std::int64_t bytes = kNull;
    std::int32_t device = kNull32;
    std::int64_t stream = kNull;
    std::int64_t correlation = kNull;
    std::uint64_t lag = 0;
    std::uint32_t name = kNoString;  // of a kind whose name stands in its record, as a text
    bool has_file = false;
    bool elsewhere = false;  // FATHOM_FLAG_ELSEWHERE
    Site site;               // of a kind whose name stands in its record
  };

  // What calls on descriptors leave out when it is as in the record before (FATHOM_FLAG_SAME).
  // Fields of a call change it while they are read, in the order of the schema: the descriptor and
  // the file come before the offset, which is relative to `stop`.
  struct LastFile {
    std::int64_t fd = -1;
    std::uint64_t id = 0;  // the guest's number of the file; 0: it knew none
    std::uint32_t file = kNoString;
    std::uint32_t peer = kNoString;  // where it is no file
    std::int64_t stop = 0;           // the offset at which the last such call ended
  };

  // Where decoding stands. decode() begins it anew: a record may refer to those before it in its
  // run, never to another run.
  struct RunState {
    const Plans* plans = nullptr;
    Process* process = nullptr;
    Thread* thread = nullptr;
    EventBatch* events = nullptr;  // nullptr: only sums are wanted
    CounterBatch* counters = nullptr;
    std::int32_t pid = 0;
    std::int32_t tid = 0;
    std::int32_t rank = kNull32;
    std::uint32_t program = kNoString;
    LastFile last;
    std::uint64_t last_tick = 0;  // of the latest end of a record
  };

  // row_decoder.cc
  const Plans& plans(const Schema* schema);
  bool step(const RecordHead& head, ByteReader& fields);
  bool times(const RecordHead& head, std::int64_t& ts, std::int64_t& dur);
  bool call(const RecordHead& head, ByteReader& fields);
  bool region(const RecordHead& head, ByteReader& fields);
  bool counter(const RecordHead& head, ByteReader& fields);
  bool sums(ByteReader& fields);

  // record_fields.cc: each is false where the bytes end too early.
  bool read_call(const Plan& plan, unsigned flags, ByteReader& fields, Call& call);
  bool read_field(const Plan::Op& op, unsigned flags, ByteReader& fields, Call& call);
  bool take_file(ByteReader& fields);
  bool read_work(FieldKind kind, ByteReader& fields, Call& call);
  bool read_offset(ByteReader& fields, Call& call);
  bool read_argument(const Plan::Op& op, ByteReader& fields, Call& call);
  bool read_extent(std::uint32_t key, ByteReader& fields);
  bool read_path_arg(std::uint32_t key, ByteReader& fields, Call& call);
  bool read_site(ByteReader& fields, Call& call);
  bool read_pending_argument(unsigned kind, ByteReader& fields);
  static void settle_moved(const Plan& plan, unsigned flags, Call& call);
  void hold(std::uint64_t depth, std::uint64_t key, std::string_view value);
  void take_arguments(unsigned depth);
  void add_arg(std::uint32_t key, std::string_view value) {
    if (run_.events != nullptr) run_.events->args.add(key, value);
  }
  const Site* find_site(std::uint64_t id);

  // settled_calls.cc
  bool settle_threadless(const RecordHead& head, Call& call);
  void settle_result(const Plan& plan, bool failed, std::uint64_t number, Call& call);
  void end(unsigned depth, Call& call);
  void push_call(const Plan& plan, unsigned depth, const Call& call);
  void push_region(const RecordHead& head, const Site& site, const Call& call);
  [[nodiscard]] SummaryKey key_of(std::uint32_t layer, std::uint32_t name, std::uint32_t category,
                                  std::uint32_t file, std::uint32_t peer = kNoString) const {
    return {layer, name, category, file, run_.pid, run_.program, run_.process->key, peer};
  }
  void sum(const SummaryKey& key, const Call& call);
  void sum_target(const Plan& plan, const Call& call);
  void sum_threadless(const SummaryKey& key, const Call& call);
  [[nodiscard]] PlaceKey place_of(std::uint32_t file, bool writes) const;
  void settle_coverage();
  std::uint32_t error_code(std::uint64_t number);
  bool keeps(const Plan& plan, const Call& call);
  bool keeps(std::uint32_t file);

  Decoder& decoder_;
  Strings& strings_;
  std::unordered_map<const Schema*, Plans> plans_;
  std::vector<std::uint32_t> errors_;  // codes by errno
  std::vector<std::uint8_t> kept_;     // by file code: 0 not asked yet, 1 no, 2 yes
  FilePlaces places_;
  std::uint32_t app_layer_;
  std::uint32_t file_key_;
  std::uint32_t line_key_;
  std::uint32_t peer_key_;
  std::uint32_t target_peer_key_;
  std::uint32_t position_key_;
  std::uint32_t write_;  // the category
  // Calls of one kind on one file follow each other: the row of the last one is found at once.
  SummaryKey last_key_;
  std::size_t last_row_ = 0;
  bool last_known_ = false;
  LayerCoverage thread_coverage_;  // of the thread whose runs are being decoded
  RunState run_;
};

// ns, two years: a time beyond it is damage.
inline constexpr std::int64_t kLongest = std::int64_t{1} << 56;

// What a guest cannot mean stays NULL, and sums cannot overflow by single values.
inline std::int64_t as_amount(std::uint64_t value) {
  return value > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(value);
}

inline std::int32_t as_fd(std::int64_t fd) {
  return fd < 0 || fd > INT32_MAX ? kNull32 : static_cast<std::int32_t>(fd);
}

}  // namespace fathom::trace
