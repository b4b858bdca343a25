// SPDX-License-Identifier: MIT
// A call whose fields are read: what it returned, its row, and what it adds to the sums. Sums are
// kept while decoding so that reports of a recording that is not packed yet need no rows.
#include <algorithm>

#include "base/os_error.h"
#include "trace/decode/row_decoder.h"

namespace fathom::trace {
namespace {

constexpr unsigned kDeepest = 255;  // a record has one byte for its depth

}  // namespace

// Work of a device (a kernel on a GPU): it ended `lag` before its record was written, and has no
// place among the calls of the thread that wrote it.
bool Decoder::Rows::settle_threadless(const RecordHead& head, Call& call) {
  const std::uint64_t end = head.end - std::min(call.lag, head.end);
  call.ts = decoder_.clock_.ns(end - std::min(head.duration, end));
  call.dur = decoder_.clock_.ns(end) - call.ts;
  call.self = call.dur;
  return call.ts >= -kLongest && call.dur >= 0;
}

// A kind with a set of names in its schema returns a number of a library; all others fail with
// errno.
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

// Records come when calls end, so those inside are known by now: what is left is the call's own.
void Decoder::Rows::end(unsigned depth, Call& call) {
  const int shift = timeline.shift_at(call.ts + call.dur);
  call.inner = run_.thread->inside.end(std::min(depth, kDeepest), call.ts, call.dur, shift);
  call.self = std::max<std::int64_t>(call.dur - call.inner.time, 0);
}

void Decoder::Rows::push_call(const Plan& plan, unsigned depth, const Call& call) {
  EventRow row;
  row.ts = call.ts;
  row.dur = call.dur;
  row.pid = run_.pid;
  row.tid = plan.threadless ? kNull32 : run_.tid;
  row.rank = run_.rank;
  row.program = run_.program;
  row.depth = plan.threadless ? kNull32 : static_cast<std::int32_t>(depth);
  row.layer = plan.layer;
  row.name = plan.named_by_site ? call.site.name : plan.threadless ? call.name : plan.name;
  row.category = plan.named_by_site ? call.site.category : plan.category;
  row.file = call.file;
  row.error = call.error;
  row.entry = plan.entry;
  if (call.has_file) row.fd = as_fd(run_.last.fd);
  row.offset = call.offset;
  row.size = call.size;
  row.bytes = call.bytes;
  row.ret = call.ret;
  row.device = call.device;
  row.stream = call.stream;
  row.correlation = call.correlation;
  if (call.self != call.dur) row.self = call.self;
  if (plan.takes_arguments && !run_.thread->pending.empty()) take_arguments(depth);
  run_.events->push(row);
}

void Decoder::Rows::push_region(const RecordHead& head, const Site& site, const Call& call) {
  EventRow row;
  row.ts = call.ts;
  row.dur = call.dur;
  if (call.self != call.dur) row.self = call.self;
  row.pid = run_.pid;
  row.tid = run_.tid;
  row.rank = run_.rank;
  row.program = run_.program;
  row.depth = head.depth;
  row.layer = app_layer_;
  row.name = site.name;
  row.category = site.category;
  if (head.kind == FATHOM_KIND_REGION && !run_.thread->pending.empty()) take_arguments(head.depth);
  run_.events->push(row);
}

std::uint32_t Decoder::Rows::error_code(std::uint64_t number) {
  if (number >= errors_.size()) number = errors_.size() - 1;
  std::uint32_t& code = errors_[number];
  if (code == kNoString) code = strings_.code(errno_name(static_cast<int>(number)));
  return code;
}

bool Decoder::Rows::keeps(const Plan& plan, const Call& call) {
  return keeps(call.file) || (plan.copies && call.target != kNoString && keeps(call.target));
}

// Asked once for each file: a filter compares a path with every pattern.
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
  return {.process = run_.thread->process_key,
          .thread = run_.thread->ordinal,
          .fd = as_fd(run_.last.fd),
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
