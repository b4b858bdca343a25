// SPDX-License-Identifier: MIT
// The hot loop of decoding. Each kind is compiled into a plan (which field goes where) once per
// schema, so that a record costs no look-up by name.
#include "trace/decode/row_decoder.h"

#include <algorithm>
#include <charconv>

#include "base/os_error.h"
#include "base/utf8.h"
#include "trace/rows/copies.h"
#include "trace/rows/layers.h"

namespace fathom::trace {
namespace {

constexpr std::int64_t kLongest = std::int64_t{1} << 56;  // ns, two years: beyond that it is damage
constexpr std::uint64_t kErrnos = 4096;
constexpr unsigned kDeepest = 255;

// What a guest cannot mean stays NULL, and sums cannot overflow by single values.
std::int64_t as_amount(std::uint64_t value) {
  return value > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(value);
}

std::int32_t as_fd(std::int64_t fd) {
  return fd < 0 || fd > INT32_MAX ? kNull32 : static_cast<std::int32_t>(fd);
}

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
  run_plans_ = &plans(run.schema);
  process_ = &decoder_.definitions_.process(run.head.key);
  if (thread_ != &thread) settle_coverage();
  thread_ = &thread;
  events_ = events;
  counters_ = &counters;
  pid_ = static_cast<std::int32_t>(run.head.pid);
  tid_ = static_cast<std::int32_t>(run.head.tid);
  rank_ = decoder_.definitions_.rank(*process_);
  program_ = decoder_.definitions_.program(*process_);
  fd_ = -1;
  file_id_ = 0;
  file_ = kNoString;
  peer_ = kNoString;
  stop_ = 0;
  last_end_ = run.head.tick;
  RecordWalker walker(run.bytes);
  RecordHead head;
  RecordWalker::Step read = RecordWalker::Step::kEnd;
  bool sound = true;
  while (sound && (read = walker.next(head)) == RecordWalker::Step::kRecord) {
    if (head.kind == FATHOM_KIND_SWITCH) continue;
    const bool ours = head.kind >= FATHOM_KIND_FIRST || head.kind == FATHOM_KIND_SUMS ||
                      (head.kind >= FATHOM_KIND_ARG_INT && head.kind <= FATHOM_KIND_COUNTER_DOUBLE);
    sound = ours ? step(head, walker.fields()) : skip_fields(walker, head, run.schema);
  }
  process_->first_tick = std::min(process_->first_tick, run.head.tick);
  process_->last_tick = std::max(process_->last_tick, last_end_);
  ThreadFacts& facts = process_->threads[static_cast<std::uint32_t>(run.head.thread)];
  facts.last_tick = std::max(facts.last_tick, last_end_);
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
      return argument(head.kind, fields);
  }
}

bool Decoder::Rows::times(const RecordHead& head, std::int64_t& ts, std::int64_t& dur) {
  const std::int64_t end = decoder_.clock_.ns(head.end);
  ts = head.duration == 0 ? end : decoder_.clock_.ns(head.end - head.duration);
  if (end > kLongest || ts < -kLongest || ts > end) return false;
  dur = end - ts;
  last_end_ = head.end;
  return true;
}

bool Decoder::Rows::call(const RecordHead& head, ByteReader& fields) {
  const Plan& plan = run_plans_->kinds[head.kind];
  if (!plan.known) return false;
  Call call;
  std::uint64_t error = 0;
  if (!times(head, call.ts, call.dur)) return false;
  const bool failed = (head.flags & FATHOM_FLAG_ERROR) != 0;
  if (failed && !fields.number(error)) return false;
  if (!read_call(plan, head.flags, fields, call)) return false;
  call.elsewhere = (head.flags & FATHOM_FLAG_ELSEWHERE) != 0 && call.offset > 0;
  if (call.has_file) {
    call.file = file_;
    call.peer = peer_;
  }
  if (plan.filtered && !keeps(plan, call)) {
    if (events_ != nullptr) events_->args.drop_open();
    return true;
  }
  if (call.peer != kNoString) add_arg(peer_key_, strings_.view(call.peer));
  if (call.elsewhere) add_arg(position_key_, kMovedElsewhere);
  settle_result(plan, failed, error, call);
  if (plan.threadless) {
    if (!settle_threadless(head, call)) return false;
    if (events_ != nullptr) push_call(plan, 0, call);
    sum_threadless(key_of(plan.layer, call.name, plan.category, call.file), call);
    return true;
  }
  if (plan.opens && !failed) places_.open(place_of(call.file, false));
  end(head.depth, call);
  if (events_ != nullptr) push_call(plan, head.depth, call);
  if (plan.named_by_site) {
    sum(key_of(plan.layer, call.site.name, call.site.category, call.file), call);
  } else {
    sum(key_of(plan.layer, plan.name, plan.category, call.file, call.peer), call);
  }
  if (plan.copies && call.bytes > 0) sum_target(plan, call);
  if (plan.maps && !failed && call.file != kNoString)
    summary.at(last_row_).access.reach(call.offset, call.size);
  return true;
}

// Its time is not that of the record.
bool Decoder::Rows::settle_threadless(const RecordHead& head, Call& call) {
  const std::uint64_t end = head.end - std::min(call.lag, head.end);
  call.ts = decoder_.clock_.ns(end - std::min(head.duration, end));
  call.dur = decoder_.clock_.ns(end) - call.ts;
  call.self = call.dur;
  return call.ts >= -kLongest && call.dur >= 0;
}

void Decoder::Rows::settle_result(const Plan& plan, bool failed, std::uint64_t number, Call& call) {
  if (plan.errors == nullptr) {
    if (failed) call.error = error_code(number);
    return;
  }
  call.ret = failed ? as_amount(number) : 0;
  if (!failed) return;
  const auto known = plan.errors->find(number);
  call.error = known != plan.errors->end() ? known->second
                                           : strings_.code("error " + std::to_string(number));
}

void Decoder::Rows::end(unsigned depth, Call& call) {
  const int shift = timeline.shift_at(call.ts + call.dur);
  call.inner = thread_->inside.end(std::min(depth, kDeepest), call.ts, call.dur, shift);
  call.self = std::max<std::int64_t>(call.dur - call.inner.time, 0);
}

void Decoder::Rows::push_call(const Plan& plan, unsigned depth, const Call& call) {
  EventRow row;
  row.ts = call.ts;
  row.dur = call.dur;
  row.pid = pid_;
  row.tid = plan.threadless ? kNull32 : tid_;
  row.rank = rank_;
  row.program = program_;
  row.depth = plan.threadless ? kNull32 : static_cast<std::int32_t>(depth);
  row.layer = plan.layer;
  row.name = plan.named_by_site ? call.site.name : plan.threadless ? call.name : plan.name;
  row.category = plan.named_by_site ? call.site.category : plan.category;
  row.file = call.file;
  row.error = call.error;
  row.entry = plan.entry;
  if (call.has_file) row.fd = as_fd(fd_);
  row.offset = call.offset;
  row.size = call.size;
  row.bytes = call.bytes;
  row.ret = call.ret;
  row.device = call.device;
  row.stream = call.stream;
  row.correlation = call.correlation;
  if (call.self != call.dur) row.self = call.self;
  if (plan.takes_arguments && !thread_->pending.empty()) take_arguments(depth);
  events_->push(row);
}

void Decoder::Rows::add_arg(std::uint32_t key, std::string_view value) {
  if (events_ != nullptr) events_->args.add(key, value);
}

bool Decoder::Rows::read_call(const Plan& plan, unsigned flags, ByteReader& fields, Call& call) {
  for (const Plan::Op& op : plan.ops) {
    if (!read_field(op, flags, fields, call)) return false;
  }
  const bool failed = (flags & FATHOM_FLAG_ERROR) != 0;
  if (plan.has_ret) {
    if (failed) {
      call.ret = -1;
    } else if ((flags & FATHOM_FLAG_FULL) != 0) {
      call.ret = call.size == kNull ? kNull : call.size / call.item;
    }
  }
  if (plan.ret_is_bytes) {
    std::int64_t moved = 0;
    if (!failed && call.ret > 0 && __builtin_mul_overflow(call.ret, call.item, &moved))
      moved = INT64_MAX;
    call.bytes = moved;
  }
  if (plan.moves)
    call.bytes = (flags & FATHOM_FLAG_FULL) != 0 && call.size != kNull ? call.size : 0;
  if (call.offset != kNull) {
    const std::int64_t moved = failed || call.ret < 0 ? 0 : call.ret;
    if (__builtin_add_overflow(call.offset, moved, &stop_)) stop_ = 0;
  }
  if (call.has_file && file_ == kNoString && file_id_ != 0) {
    bool known = false;
    decoder_.definitions_.file(*process_, file_id_, known);
    if (!known) unknown_names++;
  }
  return true;
}

bool Decoder::Rows::read_field(const Plan::Op& op, unsigned flags, ByteReader& fields, Call& call) {
  std::uint64_t number = 0;
  switch (op.kind) {
    case FieldKind::kFd:
      call.has_file = true;
      if ((flags & FATHOM_FLAG_SAME) != 0) return true;
      stop_ = 0;
      return fields.signed_number(fd_);
    case FieldKind::kFile: {
      call.has_file = true;
      if ((flags & FATHOM_FLAG_SAME) != 0) return true;
      stop_ = 0;
      if (!fields.number(file_id_)) return false;
      bool known = true;
      file_ = file_id_ == 0 ? kNoString : decoder_.definitions_.file(*process_, file_id_, known);
      peer_ = file_ == kNoString ? decoder_.definitions_.peer(*process_, file_id_) : kNoString;
      return true;
    }
    case FieldKind::kOffset:
      return read_offset(fields, call);
    case FieldKind::kSize:
      if (!fields.number(number)) return false;
      call.size = as_amount(number);
      return true;
    case FieldKind::kItem:
      if (!fields.number(number)) return false;
      call.item = std::max<std::int64_t>(1, as_amount(number));
      return true;
    case FieldKind::kRet:
      return (flags & (FATHOM_FLAG_FULL | FATHOM_FLAG_ERROR)) != 0 ||
             fields.signed_number(call.ret);
    case FieldKind::kBytes:
      if (!fields.number(number)) return false;
      call.bytes = as_amount(number);
      return true;
    case FieldKind::kDevice: {
      std::int64_t device = 0;
      if (!fields.signed_number(device)) return false;
      call.device = as_fd(device);
      return true;
    }
    case FieldKind::kStream:
      if (!fields.number(number)) return false;
      if (number != 0) call.stream = as_amount(number);
      return true;
    case FieldKind::kSite:
      return read_site(fields, call);
    case FieldKind::kCorrelation:
    case FieldKind::kName:
    case FieldKind::kLag:
      return read_work(op.kind, fields, call);
    default:
      return read_argument(op, fields, call);
  }
}

// What stands in records of a device's work.
bool Decoder::Rows::read_work(FieldKind kind, ByteReader& fields, Call& call) {
  std::uint64_t number = 0;
  if (!fields.number(number)) return false;
  if (kind == FieldKind::kLag) call.lag = number;
  if (kind == FieldKind::kCorrelation && number != 0) call.correlation = as_amount(number);
  if (kind != FieldKind::kName || number == 0) return true;
  const std::string_view text = decoder_.definitions_.text(*process_, number);
  if (text.empty()) {
    unknown_names++;
    return true;
  }
  call.name = is_valid_utf8(text) ? strings_.code(text) : strings_.code(escape_invalid_utf8(text));
  return true;
}

bool Decoder::Rows::read_argument(const Plan::Op& op, ByteReader& fields, Call& call) {
  if (op.kind == FieldKind::kArgPath) return read_path_arg(op.key, fields, call);
  if (op.kind == FieldKind::kArgExtent) return read_extent(op.key, fields);
  std::uint64_t number = 0;
  if (!fields.number(number)) return false;
  char digits[24];
  const auto add = [&](auto value) {
    if (events_ != nullptr)
      add_arg(op.key, {digits, std::to_chars(digits, digits + sizeof digits, value).ptr});
  };
  if (op.kind == FieldKind::kArgInt) {
    add(fathom_unzigzag(number));
  } else if (op.kind == FieldKind::kArgFlag) {
    if (number != 0) add(number);
  } else if (op.kind == FieldKind::kArgChoice) {
    if (number != 0 && number <= op.choices.size()) add_arg(op.key, op.choices[number - 1]);
  } else if (number != 0) {
    const std::string_view text = decoder_.definitions_.text(*process_, number);
    if (text.empty()) unknown_names++;
    add_arg(op.key, is_valid_utf8(text) ? text : escape_invalid_utf8(text));
  }
  return true;
}

// Three numbers as "4x2x1".
bool Decoder::Rows::read_extent(std::uint32_t key, ByteReader& fields) {
  char text[72];
  char* end = text;
  for (int i = 0; i < 3; i++) {
    std::uint64_t number = 0;
    if (!fields.number(number)) return false;
    if (i > 0) *end++ = 'x';
    end = std::to_chars(end, text + sizeof text, number).ptr;
  }
  add_arg(key, {text, end});
  return true;
}

bool Decoder::Rows::read_offset(ByteReader& fields, Call& call) {
  std::uint64_t number = 0;
  if (!fields.number(number)) return false;
  if (number == 0) return true;
  if (__builtin_add_overflow(stop_, fathom_unzigzag(number - 1), &call.offset) || call.offset < 0) {
    call.offset = kNull;
  }
  return true;
}

bool Decoder::Rows::read_path_arg(std::uint32_t key, ByteReader& fields, Call& call) {
  std::uint64_t id = 0;
  if (!fields.number(id)) return false;
  bool known = true;
  call.target = id == 0 ? kNoString : decoder_.definitions_.file(*process_, id, known);
  if (!known) unknown_names++;
  if (call.target != kNoString) {
    add_arg(key, strings_.view(call.target));
  } else if (known) {
    call.target_peer = decoder_.definitions_.peer(*process_, id);
    if (call.target_peer != kNoString) add_arg(target_peer_key_, strings_.view(call.target_peer));
  }
  return true;
}

bool Decoder::Rows::read_site(ByteReader& fields, Call& call) {
  std::uint64_t id = 0;
  if (!fields.number(id)) return false;
  const Site* site = find_site(id);
  if (site == nullptr) return true;
  call.site = *site;
  if (site->file != kNoString) add_arg(file_key_, strings_.view(site->file));
  if (site->line != kNoString) add_arg(line_key_, strings_.view(site->line));
  return true;
}

const Site* Decoder::Rows::find_site(std::uint64_t id) {
  const Site* site = id == 0 ? nullptr : decoder_.definitions_.site(*process_, id);
  if (site == nullptr) unknown_names++;
  return site;
}

bool Decoder::Rows::region(const RecordHead& head, ByteReader& fields) {
  std::uint64_t id = 0;
  Call call;
  if (!fields.number(id) || !times(head, call.ts, call.dur)) return false;
  const Site* known = find_site(id);
  const Site site = known != nullptr ? *known : Site();
  end(head.depth, call);
  if (events_ != nullptr) push_region(head, site, call);
  sum(key_of(app_layer_, site.name, site.category, kNoString), call);
  return true;
}

void Decoder::Rows::push_region(const RecordHead& head, const Site& site, const Call& call) {
  EventRow row;
  row.ts = call.ts;
  row.dur = call.dur;
  if (call.self != call.dur) row.self = call.self;
  row.pid = pid_;
  row.tid = tid_;
  row.rank = rank_;
  row.program = program_;
  row.depth = head.depth;
  row.layer = app_layer_;
  row.name = site.name;
  row.category = site.category;
  if (head.kind == FATHOM_KIND_REGION && !thread_->pending.empty()) take_arguments(head.depth);
  events_->push(row);
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
  row.pid = pid_;
  row.tid = tid_;
  counters_->rows.push_back(row);
  app_counters++;
  return true;
}

bool Decoder::Rows::sums(ByteReader& fields) {
  std::uint16_t kind = 0;
  fathom_sums read{};
  if (!read_sums(fields, kind, read) || kind >= run_plans_->kinds.size()) return false;
  const Plan& plan = run_plans_->kinds[kind];
  if (!plan.known || decoder_.clock_.ns(read.last_end) > kLongest) return false;
  IntervalRow row = row_of(read, decoder_.clock_);
  if (row.calls == 0) return true;
  row.pid = pid_;
  row.tid = tid_;
  row.program = program_;
  row.process = process_->key;
  row.layer = plan.layer;
  row.name = plan.name;
  if (!plan.ret_is_bytes) row.bytes = kNull;
  summed.add(row);
  last_end_ = std::max(last_end_, read.last_end);
  return true;
}

bool Decoder::Rows::argument(unsigned kind, ByteReader& fields) {
  std::uint64_t depth = 0;
  std::uint64_t key = 0;
  std::uint64_t number = 0;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text;
  char digits[40];
  char* end = digits;
  if (!fields.number(depth) || !fields.number(key)) return false;
  switch (kind) {
    case FATHOM_KIND_ARG_INT:
      if (!fields.signed_number(integer)) return false;
      end = std::to_chars(digits, digits + sizeof digits, integer).ptr;
      break;
    case FATHOM_KIND_ARG_UINT:
      if (!fields.number(number)) return false;
      end = std::to_chars(digits, digits + sizeof digits, number).ptr;
      break;
    case FATHOM_KIND_ARG_DOUBLE:
      if (!fields.raw(real)) return false;
      end = std::to_chars(digits, digits + sizeof digits, real).ptr;
      break;
    default:
      if (!fields.text(text)) return false;
      hold(depth, key, text);
      return true;
  }
  hold(depth, key, {digits, end});
  return true;
}

void Decoder::Rows::hold(std::uint64_t depth, std::uint64_t key, std::string_view value) {
  const std::string_view name = decoder_.definitions_.text(*process_, key);
  if (name.empty()) unknown_names++;
  if (events_ == nullptr) return;
  const std::uint32_t code =
      is_valid_utf8(name) ? strings_.code(name) : strings_.code(escape_invalid_utf8(name));
  // The last value of a key holds.
  for (Thread::PendingArg& held : thread_->pending) {
    if (held.depth == depth && held.key == code) held.depth = UINT64_MAX;
  }
  thread_->pending.push_back({depth, code, thread_->pending_text.size(), value.size()});
  thread_->pending_text.append(value);
}

// Arguments of regions further in that never ended here (their end was lost) go too.
void Decoder::Rows::take_arguments(unsigned depth) {
  auto& pending = thread_->pending;
  for (const Thread::PendingArg& held : pending) {
    if (held.depth != depth) continue;
    add_arg(held.key, std::string_view(thread_->pending_text).substr(held.begin, held.length));
  }
  std::erase_if(pending, [depth](const Thread::PendingArg& held) { return held.depth >= depth; });
  if (pending.empty()) thread_->pending_text.clear();
}

std::uint32_t Decoder::Rows::error_code(std::uint64_t number) {
  if (number >= kErrnos) number = kErrnos - 1;
  std::uint32_t& code = errors_[number];
  if (code == kNoString) code = strings_.code(errno_name(static_cast<int>(number)));
  return code;
}

bool Decoder::Rows::keeps(const Plan& plan, const Call& call) {
  return keeps(call.file) || (plan.copies && call.target != kNoString && keeps(call.target));
}

bool Decoder::Rows::keeps(std::uint32_t file) {
  if (file == kNoString) return true;
  if (file >= kept_.size()) kept_.resize(std::max<std::size_t>(strings_.size(), file + 1));
  if (kept_[file] == 0) kept_[file] = decoder_.options_.paths.keeps(strings_.view(file)) ? 2 : 1;
  return kept_[file] == 2;
}

void Decoder::Rows::sum(const SummaryKey& key, const Call& call) {
  if (!last_known_ || !(key == last_key_)) {
    last_row_ = summary.find(key);
    last_key_ = key;
    last_known_ = true;
  }
  SummaryRow& row = summary.at(last_row_);
  row.add(call.ts, call.dur, call.self, call.bytes, call.error != kNoString);
  // Calls on different files tell nothing about how one is read.
  if (call.offset != kNull && call.bytes > 0 && row.key.file == key.file)
    row.access.add(places_.of(place_of(key.file, key.category == write_)), call.offset, call.bytes,
                   call.elsewhere);
  timeline.add(key.layer, call.ts, call.dur, call.inner, call.bytes);
  thread_coverage_.of(key.layer).append(call.ts, call.ts + call.dur);
}

// What a copy put into the other file, or pipe. Where in it is not told.
void Decoder::Rows::sum_target(const Plan& plan, const Call& call) {
  SummaryRow& row = summary.at(
      summary.find(key_of(plan.layer, plan.name, write_, call.target, call.target_peer)));
  row.add_written(call.ts, call.dur, call.bytes);
}

PlaceKey Decoder::Rows::place_of(std::uint32_t file, bool writes) const {
  return {.process = thread_->process_key,
          .thread = thread_->ordinal,
          .fd = as_fd(fd_),
          .file = file,
          .writes = writes};
}

// In any order, and on top of each other.
void Decoder::Rows::sum_threadless(const SummaryKey& key, const Call& call) {
  SummaryRow& row = summary.at(summary.find(key));
  last_known_ = false;
  row.add(call.ts, call.dur, call.self, call.bytes, false);
  timeline.add(key.layer, call.ts, call.dur, {}, call.bytes);
  coverage.of(key.layer).add({call.ts, call.ts + call.dur, call.dur});
}

void Decoder::Rows::settle_coverage() {
  coverage.add(thread_coverage_);
  thread_coverage_.clear();
}

}  // namespace fathom::trace
