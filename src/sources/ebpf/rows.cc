// SPDX-License-Identifier: MIT
// Turns records and sums of the kernel into rows. Calls come before the path of their file does:
// the kernel's half sends a path once for all calls on a file, by a ring that others fill too. So
// rows wait here for paths, within limits: what is beyond them is counted.
#include "sources/ebpf/rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/os_error.h"
#include "sources/ebpf/calls.h"
#include "sources/ebpf/record_paths.h"
#include "trace/rows/channels.h"
#include "trace/rows/loss_reasons.h"

namespace fathom::sources::ebpf {
namespace {

// What waits here until it is taken, which happens every second.
constexpr std::size_t kMostCalls = 1U << 21U;
constexpr std::size_t kMostSums = 1U << 18U;
constexpr std::size_t kMostPaths = 256U << 20U;  // bytes
constexpr std::size_t kMostPathsOfUser = 16U << 20U;
constexpr std::int64_t kPatienceNs = 3'000'000'000;
constexpr std::uint64_t kNotGiven = ~std::uint64_t{0};

constexpr const char* kMetInside =
    "met inside of our own programs, perhaps by others than the recorded processes";
constexpr const char* kLossReasons[FATHOM_BPF_LOSSES] = {"no room in the ring of single calls",
                                                         "no room for sums",
                                                         trace::kLatePath,
                                                         "a process's begin or end did not arrive",
                                                         "a task could not be followed",
                                                         "too many requests at once",
                                                         trace::kNoRoomForFiles,
                                                         "a user had no room for more sums",
                                                         kMetInside,
                                                         trace::kFilteredByCall,
                                                         trace::kFilteredByPath,
                                                         trace::kFilteredByTime,
                                                         trace::kFilteredByNumber};

// Copies what is there of a record whose end may be cut.
template <class Record>
bool read_record(std::span<const std::byte> bytes, std::size_t least, Record& record) {
  if (bytes.size() < least) return false;
  std::memcpy(&record, bytes.data(), std::min(bytes.size(), sizeof record));
  return true;
}

// One that was named: `functions` of the options has it.
bool is_of_function(std::uint32_t call) {
  const std::uint32_t layer = FATHOM_BPF_LAYER_OF(call);
  return layer == FATHOM_BPF_USER || layer == FATHOM_BPF_KERNEL;
}

// A call whose return was not probed: nobody knows how long it took.
bool is_untimed(std::uint32_t call) {
  return is_of_function(call) && (call & FATHOM_BPF_UNTIMED) != 0;
}
std::uint32_t function_of(std::uint32_t call) {
  return FATHOM_BPF_NUMBER_OF(call) & ~std::uint32_t{FATHOM_BPF_UNTIMED};
}

bool is_request(std::uint32_t call) { return FATHOM_BPF_LAYER_OF(call) == FATHOM_BPF_BLOCK; }

// A request waits in a queue, and then for the device.
void add_args(const fathom_call_record& call, trace::Strings& strings, trace::Args& args) {
  if (!is_request(call.call) || call.offset == kNotGiven) return;
  const std::uint64_t queued = std::min(call.offset, call.end - call.begin);
  args.add(strings.code("queue"), std::to_string(queued));
  args.add(strings.code("device"), std::to_string(call.end - call.begin - queued));
}

bool failed(std::int64_t ret) { return ret < 0 && ret >= -4095; }

// The calls themselves are counted where they took the bytes from.
trace::IntervalRow bytes_alone(trace::IntervalRow row) {
  row.calls = row.errors = row.dur = row.dur_min = row.dur_max = 0;
  row.hist.clear();
  return row;
}

}  // namespace

void RowMaker::add(std::span<const std::byte> bytes) {
  std::uint32_t kind = 0;
  if (!read_record(bytes, sizeof kind, kind)) return;
  fathom_call_record call{};
  fathom_process_record process{};
  if (kind == FATHOM_RECORD_FILE) {
    fathom_file_record file{};
    if (read_record(bytes, offsetof(fathom_file_record, path), file)) add_file(file);
  } else if (kind == FATHOM_RECORD_CALL || kind == FATHOM_RECORD_SUM) {
    if (!read_record(bytes, sizeof call, call)) return;
    if (kind == FATHOM_RECORD_SUM) return add_spilled(call);
    if (has_room(calls_, kMostCalls, 1)) calls_.push_back(call);
  } else if (read_record(bytes, offsetof(fathom_process_record, command), process)) {
    if (kind == FATHOM_RECORD_FORK) lives_.forked(process);
    if (kind == FATHOM_RECORD_EXEC) lives_.execed(process);
    if (kind == FATHOM_RECORD_EXIT) lives_.exited(process);
    if (kind == FATHOM_RECORD_JOIN) lives_.joined(process);
  }
}

RowMaker::RowMaker(const ProbeOptions& options)
    : options_(options),
      files_(kMostPaths, options.joins ? kMostPathsOfUser : kMostPaths),
      lives_(options.start_monotonic_ns, options.no_command) {}

// Whether the rows that wait may be more. What is beyond is counted.
template <class Row>
bool RowMaker::has_room(const std::vector<Row>& rows, std::size_t most, std::uint64_t calls) {
  if (rows.size() < most) return true;
  overflow_ += static_cast<std::int64_t>(calls);
  return false;
}

void RowMaker::tell_overflow() {
  overflow_ += lives_.take_overflow();
  if (overflow_ > 0)
    losses_.push_back({layer_of_loss(FATHOM_BPF_LAYERS), "no room in the recorder's queue",
                       std::exchange(overflow_, 0)});
  if (const std::int64_t nameless = files_.take_nameless(); nameless > 0)
    losses_.push_back({layer_of_loss(FATHOM_BPF_LAYERS), trace::kNoRoomForPaths, nameless});
}

void RowMaker::add_file(const fathom_file_record& record) {
  std::string path = path_of(record);
  if (record.inside != 0 && path.starts_with('/')) {
    const Result<std::string> mounts = read_file("/proc/self/mountinfo");
    if (mounts) path.insert(0, mount_point(record.device, *mounts));
  }
  files_.add(record.id, std::move(path), record.user,
             record.before & ~std::uint32_t{FATHOM_BPF_ELSEWHERE});
}

void RowMaker::forget_files(std::vector<std::uint32_t> numbers) {
  files_.forget(std::move(numbers));
}

// What found no room in the kernel's map is a row of one call.
void RowMaker::add_spilled(const fathom_call_record& call) {
  const std::uint64_t ns = call.end - call.begin;
  const auto interval =
      static_cast<std::uint32_t>((time(call.end) + shift_) / options_.interval_ns);
  SumOfCalls one{.key = {interval, call.pid, call.tid, call.call, call.file, 0}, .sums = {}};
  one.sums.calls = 1;
  one.sums.errors = failed(call.ret) ? 1 : 0;
  if (moves_bytes(call.call) && call.ret > 0) one.sums.bytes = static_cast<std::uint64_t>(call.ret);
  one.sums.ns = one.sums.least_ns = one.sums.most_ns = ns;
  const auto bucket = static_cast<unsigned>(std::bit_width(ns | 1)) - 1;
  one.sums.hist[std::min<unsigned>(bucket, FATHOM_BPF_HIST - 1)] = 1;
  if (has_room(sums_, kMostSums, 1)) sums_.push_back(one);
}

void RowMaker::add(const std::vector<SumOfCalls>& sums) {
  for (const SumOfCalls& one : sums) {
    if (has_room(sums_, kMostSums, one.sums.calls)) sums_.push_back(one);
  }
  kernel_worked_ |=
      std::ranges::any_of(sums, [](const SumOfCalls& one) { return one.key.pid == 0; });
}

void RowMaker::add_losses(std::span<const std::uint64_t> counts) {
  if (counts.size() != told_losses_.size()) return;
  for (std::uint32_t layer = 0; layer < FATHOM_BPF_LAYERS; ++layer) {
    const std::uint64_t entered = counts[FATHOM_BPF_COUNTER(layer, FATHOM_ENTERED)];
    const std::uint64_t returned = counts[FATHOM_BPF_COUNTER(layer, FATHOM_RETURNED)];
    // Calls that began and did not end: what is left of them at finish() is a loss.
    unreturned_[layer] = entered - std::min(entered, returned);
  }
  for (std::uint32_t layer = 0; layer <= FATHOM_BPF_LAYERS; ++layer) {
    for (std::uint32_t reason = 0; reason < FATHOM_BPF_LOSSES; ++reason) {
      const std::uint32_t at = FATHOM_BPF_COUNTER(layer, reason);
      const std::uint64_t more = counts[at] - told_losses_[at];
      if (more == 0) continue;
      losses_.push_back(
          {layer_of_loss(layer), kLossReasons[reason], static_cast<std::int64_t>(more)});
      told_losses_[at] = counts[at];
    }
  }
}

void RowMaker::add_losses(std::vector<trace::Loss> losses) {
  std::ranges::move(losses, std::back_inserter(losses_));
}

// What no layer owns is of the first one that is recorded.
std::string RowMaker::layer_of_loss(std::uint32_t layer) const {
  if (layer < FATHOM_BPF_LAYERS)
    return std::string(name_of_layer(static_cast<fathom_bpf_layer>(layer)));
  return std::string(
      name_of_layer(options_.layers.empty() ? FATHOM_BPF_SYSCALL : options_.layers.front()));
}

void RowMaker::begin_anew(std::int64_t shift, trace::Strings& strings, trace::HostRows& last) {
  lives_.tell_of_all();
  finished_ = true;  // nothing waits: later it would be told at another time
  take(strings, last);
  finished_ = false;
  lives_.begin_anew(shift);
  shift_ = shift;
}

void RowMaker::finish() {
  finished_ = true;
  for (std::uint32_t layer = 0; layer < FATHOM_BPF_LAYERS; ++layer) {
    if (unreturned_[layer] == 0) continue;
    losses_.push_back({layer_of_loss(layer),
                       layer == FATHOM_BPF_SYSCALL
                           ? "results of io_submit that no system call fetched"
                           : "calls of functions whose return was not seen",
                       static_cast<std::int64_t>(unreturned_[layer])});
  }
  lives_.finish();
  if (kernel_worked_) {
    trace::ProcessRow kernel;
    kernel.pid = 0;
    kernel.name = kernel.command = "[kernel]";
    lives_.add(std::move(kernel));
  }
}

std::uint32_t RowMaker::code_of_file(std::uint32_t file, trace::Strings& strings) const {
  const std::string* path = files_.find(file);
  return path == nullptr || is_channel(*path) ? trace::kNoString : strings.code(*path);
}

std::uint32_t RowMaker::code_of_peer(std::uint32_t file, trace::Strings& strings) const {
  const std::string* path = files_.find(file);
  return path != nullptr && is_channel(*path) ? strings.code(*path) : trace::kNoString;
}

std::string RowMaker::name_of(std::uint32_t call) const {
  if (!is_of_function(call)) return name_of_call(call);
  const std::uint32_t number = function_of(call);
  return number < options_.functions.size() ? options_.functions[number].name : "[unknown]";
}

std::uint32_t RowMaker::code_of_layer(std::uint32_t call, trace::Strings& strings) const {
  return strings.code(name_of_layer(static_cast<fathom_bpf_layer>(FATHOM_BPF_LAYER_OF(call))));
}

std::uint32_t RowMaker::code_of_category(std::uint32_t call, trace::Strings& strings) const {
  const std::uint32_t number = function_of(call);
  const bool is_function = is_of_function(call) && number < options_.functions.size();
  const std::string_view category =
      is_function ? options_.functions[number].category : category_of_call(call);
  return category.empty() ? trace::kNoString : strings.code(category);
}

trace::EventRow RowMaker::event_of(const fathom_call_record& call, trace::Strings& strings) const {
  trace::EventRow row;
  row.ts = time(call.begin);
  row.dur = static_cast<std::int64_t>(call.end - call.begin);
  row.pid = static_cast<std::int32_t>(call.pid);
  row.tid = static_cast<std::int32_t>(call.tid);
  row.layer = code_of_layer(call.call, strings);
  row.name = strings.code(name_of(call.call));
  row.category = code_of_category(call.call, strings);
  row.file = code_of_file(call.file, strings);
  if (call.fd >= 0) row.fd = call.fd;
  if (call.size != kNotGiven) row.size = static_cast<std::int64_t>(call.size);
  if (call.offset != kNotGiven && !is_request(call.call))
    row.offset = static_cast<std::int64_t>(call.offset);
  if (failed(call.ret)) {
    row.ret = -1;
    row.error = strings.code(errno_name(static_cast<int>(-call.ret)));
  } else {
    row.ret = call.ret;
    if (moves_bytes(call.call)) row.bytes = call.ret;
  }
  return row;
}

trace::IntervalRow RowMaker::interval_of(const SumOfCalls& one, trace::Strings& strings) const {
  trace::IntervalRow row;
  // Intervals count from when the kernel's half was loaded.
  row.ts = static_cast<std::int64_t>(one.key.interval) * options_.interval_ns - shift_;
  row.width = options_.interval_ns;
  row.pid = static_cast<std::int32_t>(one.key.pid);
  row.tid = static_cast<std::int32_t>(one.key.tid);
  row.layer = code_of_layer(one.key.call, strings);
  row.name = strings.code(name_of(one.key.call));
  row.category = code_of_category(one.key.call, strings);
  row.file = code_of_file(one.key.file, strings);
  row.peer = code_of_peer(one.key.file, strings);
  row.calls = static_cast<std::int64_t>(one.sums.calls);
  row.errors = static_cast<std::int64_t>(one.sums.errors);
  row.dur = static_cast<std::int64_t>(one.sums.ns);
  row.dur_min = static_cast<std::int64_t>(one.sums.least_ns);
  row.dur_max = static_cast<std::int64_t>(one.sums.most_ns);
  if (moves_bytes(one.key.call)) row.bytes = static_cast<std::int64_t>(one.sums.bytes);
  if (is_untimed(one.key.call)) {
    row.dur_min = row.dur_max = trace::kNull;
    return row;
  }
  for (const std::uint32_t count : one.sums.hist) row.hist.push_back(count);
  while (!row.hist.empty() && row.hist.back() == 0) row.hist.pop_back();
  return row;
}

void RowMaker::take(trace::Strings& strings, trace::HostRows& rows, std::int64_t now_ns) {
  lives_.tell_of_long_lived();
  tell_overflow();
  // A path that is lost never comes, and the kernel's half has counted it.
  const std::int64_t late = now_ns - kPatienceNs - options_.interval_ns;
  const auto is_ready = [&](std::uint32_t file, std::int64_t end_ns) {
    return finished_ || end_ns < late || knows(file);
  };
  std::erase_if(calls_, [&](const fathom_call_record& call) {
    if (!is_ready(call.file, static_cast<std::int64_t>(call.end))) return false;
    add_args(call, strings, rows.events.args);
    const std::uint32_t peer = code_of_peer(call.file, strings);
    if (peer != trace::kNoString)
      rows.events.args.add(strings.code(trace::kPeerKey), strings.view(peer));
    rows.events.push(event_of(call, strings));
    return true;
  });
  std::erase_if(sums_, [&](const SumOfCalls& one) {
    const std::int64_t begin = std::int64_t{one.key.interval} * options_.interval_ns;
    if (!is_ready(one.key.file, options_.start_monotonic_ns + begin)) return false;
    trace::IntervalRow row = interval_of(one, strings);
    if (is_target(one.key.call)) {
      rows.targets.rows.push_back(bytes_alone(std::move(row)));
    } else {
      rows.intervals.rows.push_back(std::move(row));
    }
    return true;
  });
  lives_.take(rows.lives);
  std::ranges::move(losses_, std::back_inserter(rows.losses));
  losses_.clear();
  files_.forget_replaced(now_ns, kPatienceNs + 2 * options_.interval_ns);
}

}  // namespace fathom::sources::ebpf
