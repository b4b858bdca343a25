// SPDX-License-Identifier: MIT
// The hot loop of decoding. Each kind is compiled into a plan (which field goes where) once per
// schema, so that a record costs no look-up by name.
#include "trace/decode/row_decoder.h"

#include <algorithm>

#include "trace/rows/copies.h"
#include "trace/rows/layers.h"

namespace fathom::trace {
namespace {

constexpr std::uint64_t kErrnos = 4096;

}  // namespace

Decoder::Rows::Rows(Decoder& decoder, Strings& strings)
    : decoder_(decoder),
      strings_(strings),
      errors_(kErrnos, kNoString),
      app_layer_(strings.code("app")),
      file_key_(strings.code("file")),
      line_key_(strings.code("line")),
      peer_key_(strings.code(kPeerKey)),
      target_peer_key_(strings.code(kTargetPeerKey)),
      position_key_(strings.code(kPositionKey)),
      write_(strings.code(kWriteCategory)) {
  summary.bound(strings);
}

// One set for each schema, by its address: schemas live as long as their spool. Without a schema
// only kinds of the format itself are known.
const Decoder::Rows::Plans& Decoder::Rows::plans(const Schema* schema) {
  const auto known = plans_.find(schema);
  if (known != plans_.end()) return known->second;
  Plans& plans = plans_[schema];
  plans.kinds.resize(FATHOM_KIND_MASK + 1);
  if (schema == nullptr) return plans;
  for (const ErrorName& error : schema->errors()) {
    plans.errors[error.set][error.number] =
        error.name == "-" ? kNoString : strings_.code(error.name);
  }
  for (const EventKind& kind : schema->kinds()) {
    Plan& plan = plans.kinds[kind.kind];
    if (!kind.errors.empty()) plan.errors = &plans.errors[kind.errors];
    plan.moves = kind.moves;
    plan.threadless = kind.threadless;
    plan.takes_arguments = kind.takes_arguments;
    plan.opens = kind.category == "open";
    plan.copies = is_copy(kind.name) && is_io(kind.layer);
    plan.maps = kind.name == kMapping && is_io(kind.layer);
    plan.known = true;
    plan.ret_is_bytes = kind.ret_is_bytes;
    plan.filtered = !decoder_.options_.paths.keeps_all() && is_io(kind.layer);
    plan.layer = strings_.code(kind.layer);
    plan.name = strings_.code(kind.name);
    plan.category = strings_.code_or_null(kind.category);
    plan.entry = strings_.code_or_null(kind.entry);
    for (const Field& field : kind.fields) {
      if (field.kind == FieldKind::kRet) plan.has_ret = true;
      if (field.kind == FieldKind::kSite) plan.named_by_site = true;
      plan.ops.push_back({field.kind, strings_.code_or_null(field.key), field.choices});
    }
  }
  return plans;
}

bool Decoder::Rows::decode(const Run& run, Thread& thread, EventBatch* events,
                           CounterBatch& counters) {
  // Coverage is gathered by thread: its events come in order, so that spans can be joined as they
  // come. Those of another thread begin before.
  if (run_.thread != &thread) settle_coverage();
  Process& process = decoder_.definitions_.process(run.head.key);
  run_ = {.plans = &plans(run.schema),
          .process = &process,
          .thread = &thread,
          .events = events,
          .counters = &counters,
          .pid = static_cast<std::int32_t>(run.head.pid),
          .tid = static_cast<std::int32_t>(run.head.tid),
          .rank = decoder_.definitions_.rank(process),
          .program = decoder_.definitions_.program(process),
          .last = {},
          .last_tick = run.head.tick};
  RecordWalker walker(run.bytes);
  RecordHead head;
  RecordWalker::Step read = RecordWalker::Step::kEnd;
  bool sound = true;
  while (sound && (read = walker.next(head)) == RecordWalker::Step::kRecord) {
    if (head.kind == FATHOM_KIND_SWITCH) continue;
    // All others are definitions, which the first pass has taken.
    const bool ours = head.kind >= FATHOM_KIND_FIRST || head.kind == FATHOM_KIND_SUMS ||
                      (head.kind >= FATHOM_KIND_ARG_INT && head.kind <= FATHOM_KIND_COUNTER_DOUBLE);
    sound = ours ? step(head, walker.fields()) : skip_fields(walker, head, run.schema);
  }
  process.first_tick = std::min(process.first_tick, run.head.tick);
  process.last_tick = std::max(process.last_tick, run_.last_tick);
  ThreadFacts& facts = process.threads[static_cast<std::uint32_t>(run.head.thread)];
  facts.last_tick = std::max(facts.last_tick, run_.last_tick);
  return sound && read != RecordWalker::Step::kDamaged;
}

bool Decoder::Rows::step(const RecordHead& head, ByteReader& fields) {
  if (head.kind >= FATHOM_KIND_FIRST) return call(head, fields);
  switch (head.kind) {
    case FATHOM_KIND_REGION:
    case FATHOM_KIND_INSTANT:
      return region(head, fields);
    case FATHOM_KIND_COUNTER_INT:
    case FATHOM_KIND_COUNTER_DOUBLE:
      return counter(head, fields);
    case FATHOM_KIND_SUMS:
      return sums(fields);
    default:
      return read_pending_argument(head.kind, fields);
  }
}

// Damaged times end the run: sums of them would be nonsense that nobody notices.
bool Decoder::Rows::times(const RecordHead& head, std::int64_t& ts, std::int64_t& dur) {
  const std::int64_t end = decoder_.clock_.ns(head.end);
  ts = head.duration == 0 ? end : decoder_.clock_.ns(head.end - head.duration);
  if (end > kLongest || ts < -kLongest || ts > end) return false;
  dur = end - ts;
  run_.last_tick = head.end;
  return true;
}

// Reads all of a record first: what follows it begins where its fields end, also if it is left out.
bool Decoder::Rows::call(const RecordHead& head, ByteReader& fields) {
  const Plan& plan = run_.plans->kinds[head.kind];
  if (!plan.known) return false;
  Call call;
  std::uint64_t error = 0;
  if (!times(head, call.ts, call.dur)) return false;
  const bool failed = (head.flags & FATHOM_FLAG_ERROR) != 0;
  if (failed && !fields.number(error)) return false;
  if (!read_call(plan, head.flags, fields, call)) return false;
  call.elsewhere = (head.flags & FATHOM_FLAG_ELSEWHERE) != 0 && call.offset > 0;
  if (call.has_file) {
    call.file = run_.last.file;
    call.peer = run_.last.peer;
  }
  if (plan.filtered && !keeps(plan, call)) {
    if (run_.events != nullptr) run_.events->args.drop_open();
    return true;
  }
  if (call.peer != kNoString) add_arg(peer_key_, strings_.view(call.peer));
  if (call.elsewhere) add_arg(position_key_, kMovedElsewhere);
  settle_result(plan, failed, error, call);
  if (plan.threadless) {
    if (!settle_threadless(head, call)) return false;
    if (run_.events != nullptr) push_call(plan, 0, call);
    sum_threadless(key_of(plan.layer, call.name, plan.category, call.file), call);
    return true;
  }
  // A file that is opened is read from its beginning, which is no jump back.
  if (plan.opens && !failed) places_.open(place_of(call.file, false));
  end(head.depth, call);
  if (run_.events != nullptr) push_call(plan, head.depth, call);
  if (plan.named_by_site) {
    sum(key_of(plan.layer, call.site.name, call.site.category, call.file), call);
  } else {
    sum(key_of(plan.layer, plan.name, plan.category, call.file, call.peer), call);
  }
  if (plan.copies && call.bytes > 0) sum_target(plan, call);
  // last_row_ is this call's since sum().
  if (plan.maps && !failed && call.file != kNoString)
    summary.at(last_row_).access.reach(call.offset, call.size);
  return true;
}

bool Decoder::Rows::region(const RecordHead& head, ByteReader& fields) {
  std::uint64_t id = 0;
  Call call;
  if (!fields.number(id) || !times(head, call.ts, call.dur)) return false;
  const Site* known = find_site(id);
  const Site site = known != nullptr ? *known : Site();
  end(head.depth, call);
  if (run_.events != nullptr) push_region(head, site, call);
  sum(key_of(app_layer_, site.name, site.category, kNoString), call);
  return true;
}

bool Decoder::Rows::counter(const RecordHead& head, ByteReader& fields) {
  CounterRow row;
  std::int64_t dur = 0;
  std::uint64_t id = 0;
  if (!fields.number(id) || !times(head, row.ts, dur)) return false;
  if (head.kind == FATHOM_KIND_COUNTER_INT) {
    std::int64_t value = 0;
    if (!fields.signed_number(value)) return false;
    row.value = static_cast<double>(value);
  } else if (!fields.raw(row.value)) {
    return false;
  }
  const Site* site = find_site(id);
  row.name = site != nullptr ? site->name : kNoString;
  row.layer = app_layer_;
  row.pid = run_.pid;
  row.tid = run_.tid;
  run_.counters->rows.push_back(row);
  app_counters++;
  return true;
}

// Calls that a thread added up itself (guest/sums.h): rows of intervals, and no events.
bool Decoder::Rows::sums(ByteReader& fields) {
  std::uint16_t kind = 0;
  fathom_sums read{};
  if (!read_sums(fields, kind, read) || kind >= run_.plans->kinds.size()) return false;
  const Plan& plan = run_.plans->kinds[kind];
  if (!plan.known || decoder_.clock_.ns(read.last_end) > kLongest) return false;
  IntervalRow row = row_of(read, decoder_.clock_);
  if (row.calls == 0) return true;
  row.pid = run_.pid;
  row.tid = run_.tid;
  row.program = run_.program;
  row.process = run_.process->key;
  row.layer = plan.layer;
  row.name = plan.name;
  if (!plan.ret_is_bytes) row.bytes = kNull;
  summed.add(row);
  run_.last_tick = std::max(run_.last_tick, read.last_end);
  return true;
}

}  // namespace fathom::trace
