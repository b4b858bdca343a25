// SPDX-License-Identifier: MIT
// Layouts as perf_event_open(2) has them. What stands in a record, and in which order, depends on
// the attr of its event: parts that nobody here asks for are passed over, for others may ask for
// them. A cursor that ran over its end stays there and gives zeros; whether it did is asked once,
// at the end.
#include "perf/records.h"

#include <algorithm>
#include <bit>

namespace fathom::perf {
namespace {

// Goes through one record. A copy goes its own way from there.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : left_(bytes), all_(bytes.size()) {}

  template <class T>
  T take() {
    T value{};
    const std::span<const std::byte> bytes = take_bytes(sizeof value);
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::uint32_t u32() { return take<std::uint32_t>(); }
  std::uint64_t u64() { return take<std::uint64_t>(); }

  std::span<const std::byte> take_bytes(std::uint64_t count) {
    if (count > left_.size()) {
      failed_ = true;
      left_ = {};
      return {};
    }
    const std::span<const std::byte> taken = left_.first(static_cast<std::size_t>(count));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  // `count` elements of `size` bytes each; the product may not fit a number.
  std::span<const std::byte> take_many(std::uint64_t count, std::size_t size) {
    return take_bytes(count > left_.size() / size ? left_.size() + 1 : count * size);
  }
  Words words(std::uint64_t count) { return Words(take_many(count, sizeof(std::uint64_t))); }
  // Up to the next multiple of 8 bytes from the beginning.
  void align() { take_bytes(-(all_ - left_.size()) & 7U); }
  // What is left, as a text that ends with its first 0.
  std::string_view text() {
    const std::string_view whole(reinterpret_cast<const char*>(left_.data()), left_.size());
    left_ = {};
    return whole.substr(0, whole.find('\0'));
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::span<const std::byte> left_;
  std::size_t all_;
  bool failed_ = false;
};

// The parts of a sample_type that stand behind records that are no samples.
constexpr std::uint64_t kIdParts = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

// Behind every record that is no sample, if sample_id_all is set: the same parts in another order.
SampleId take_trailer(Cursor cursor, std::uint64_t type) {
  SampleId id;
  if ((type & PERF_SAMPLE_TID) != 0) {
    id.pid = cursor.u32();
    id.tid = cursor.u32();
  }
  if ((type & PERF_SAMPLE_TIME) != 0) id.time = cursor.u64();
  if ((type & PERF_SAMPLE_ID) != 0) id.id = cursor.u64();
  if ((type & PERF_SAMPLE_STREAM_ID) != 0) id.stream_id = cursor.u64();
  if ((type & PERF_SAMPLE_CPU) != 0) {
    id.cpu = cursor.u32();
    cursor.u32();
  }
  if ((type & PERF_SAMPLE_IDENTIFIER) != 0) id.id = cursor.u64();
  return id;
}

void take_head(Cursor& cursor, std::uint64_t type, SampleId& id, Sample& sample) {
  if ((type & PERF_SAMPLE_IDENTIFIER) != 0) id.id = cursor.u64();
  if ((type & PERF_SAMPLE_IP) != 0) sample.ip = cursor.u64();
  if ((type & PERF_SAMPLE_TID) != 0) {
    id.pid = cursor.u32();
    id.tid = cursor.u32();
  }
  if ((type & PERF_SAMPLE_TIME) != 0) id.time = cursor.u64();
  if ((type & PERF_SAMPLE_ADDR) != 0) sample.address = cursor.u64();
  if ((type & PERF_SAMPLE_ID) != 0) id.id = cursor.u64();
  if ((type & PERF_SAMPLE_STREAM_ID) != 0) id.stream_id = cursor.u64();
  if ((type & PERF_SAMPLE_CPU) != 0) {
    id.cpu = cursor.u32();
    cursor.u32();
  }
  if ((type & PERF_SAMPLE_PERIOD) != 0) sample.period = cursor.u64();
}

// Values of counters, which nobody here asks for.
void skip_read(Cursor& cursor, std::uint64_t format) {
  const bool in_group = (format & PERF_FORMAT_GROUP) != 0;
  const std::uint64_t count = in_group ? cursor.u64() : 1;
  const bool enabled = (format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0;
  const bool running = (format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0;
  const std::size_t each = 1 + static_cast<std::size_t>((format & PERF_FORMAT_ID) != 0) +
                           static_cast<std::size_t>((format & PERF_FORMAT_LOST) != 0);
  cursor.words(static_cast<std::uint64_t>(enabled) + static_cast<std::uint64_t>(running));
  cursor.take_many(count, each * sizeof(std::uint64_t));
}

void skip_branches(Cursor& cursor, std::uint64_t branch_type) {
  constexpr std::size_t kEntry = 3 * sizeof(std::uint64_t);
  const std::uint64_t count = cursor.u64();
  if ((branch_type & PERF_SAMPLE_BRANCH_HW_INDEX) != 0) cursor.u64();
  cursor.take_many(count, kEntry);
}

std::span<const std::byte> take_raw(Cursor& cursor) {
  const std::uint32_t size = cursor.u32();
  const std::span<const std::byte> raw = cursor.take_bytes(size);
  cursor.align();
  return raw;
}

// The room is as large as was asked for; the kernel says behind it how much it could copy.
void take_stack(Cursor& cursor, Sample& sample) {
  const std::uint64_t size = cursor.u64();
  const std::span<const std::byte> room = cursor.take_bytes(size);
  if (room.empty()) return;
  // As much of the room is the stack's.
  const std::uint64_t used = cursor.u64();
  sample.stack = room.first(static_cast<std::size_t>(std::min<std::uint64_t>(used, room.size())));
  sample.stack_ends = sample.stack.size() < room.size();
}

Mapping take_mapping(Cursor& cursor, const perf_event_header& header) {
  Mapping mapping;
  mapping.pid = cursor.u32();
  mapping.tid = cursor.u32();
  mapping.address = cursor.u64();
  mapping.length = cursor.u64();
  mapping.offset = cursor.u64();
  mapping.is_data = (header.misc & PERF_RECORD_MISC_MMAP_DATA) != 0;
  if (header.type == PERF_RECORD_MMAP2) {
    if ((header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0) {
      constexpr std::size_t kRoom = 20;
      const auto size = cursor.take<std::uint8_t>();
      cursor.take_bytes(3);
      const std::span<const std::byte> room = cursor.take_bytes(kRoom);
      mapping.build_id = room.first(std::min<std::size_t>(size, room.size()));
    } else {
      mapping.major = cursor.u32();
      mapping.minor = cursor.u32();
      mapping.inode = cursor.u64();
      cursor.u64();  // the inode's generation
    }
    mapping.protection = cursor.u32();
    mapping.flags = cursor.u32();
  }
  mapping.file = cursor.text();
  return mapping;
}

Comm take_comm(Cursor& cursor, const perf_event_header& header) {
  Comm comm;
  comm.pid = cursor.u32();
  comm.tid = cursor.u32();
  comm.is_exec = (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
  comm.name = cursor.text();
  return comm;
}

Task take_task(Cursor& cursor, const perf_event_header& header) {
  Task task;
  task.pid = cursor.u32();
  task.parent = cursor.u32();
  task.tid = cursor.u32();
  task.parent_tid = cursor.u32();
  task.time = cursor.u64();
  task.is_exit = header.type == PERF_RECORD_EXIT;
  return task;
}

Switch take_switch(Cursor& cursor, const perf_event_header& header) {
  Switch change;
  change.is_out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
  change.preempted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
  if (header.type == PERF_RECORD_SWITCH_CPU_WIDE) {
    change.other_pid = cursor.u32();
    change.other_tid = cursor.u32();
  }
  return change;
}

Lost take_lost(Cursor& cursor, const perf_event_header& header) {
  Lost lost;
  lost.samples = header.type == PERF_RECORD_LOST_SAMPLES;
  if (!lost.samples) cursor.u64();  // the event's id
  lost.count = cursor.u64();
  return lost;
}

Throttle take_throttle(Cursor& cursor, const perf_event_header& header) {
  Throttle throttle;
  throttle.time = cursor.u64();
  cursor.u64();
  cursor.u64();
  throttle.ends = header.type == PERF_RECORD_UNTHROTTLE;
  return throttle;
}

Namespaces take_namespaces(Cursor& cursor) {
  Namespaces namespaces;
  namespaces.pid = cursor.u32();
  namespaces.tid = cursor.u32();
  const std::uint64_t count = cursor.u64();
  namespaces.links = Words(cursor.take_many(count, 2 * sizeof(std::uint64_t)));
  return namespaces;
}

KernelSymbol take_symbol(Cursor& cursor) {
  KernelSymbol symbol;
  symbol.address = cursor.u64();
  symbol.length = cursor.u32();
  symbol.kind = cursor.take<std::uint16_t>();
  symbol.is_gone = (cursor.take<std::uint16_t>() & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) != 0;
  symbol.name = cursor.text();
  return symbol;
}

Tally take_tally(Cursor& cursor, std::uint64_t format) {
  Tally tally;
  tally.pid = cursor.u32();
  tally.tid = cursor.u32();
  tally.value = cursor.u64();
  if ((format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0) tally.enabled = cursor.u64();
  if ((format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0) tally.running = cursor.u64();
  return tally;
}

// All but samples.
decltype(Record::body) take_body(Cursor& cursor, const perf_event_header& header,
                                 std::uint64_t read_format) {
  switch (header.type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
      return take_mapping(cursor, header);
    case PERF_RECORD_COMM:
      return take_comm(cursor, header);
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      return take_task(cursor, header);
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
      return take_switch(cursor, header);
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
      return take_lost(cursor, header);
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_UNTHROTTLE:
      return take_throttle(cursor, header);
    case PERF_RECORD_NAMESPACES:
      return take_namespaces(cursor);
    case PERF_RECORD_KSYMBOL:
      return take_symbol(cursor);
    case PERF_RECORD_READ:
      return take_tally(cursor, read_format);
    default:
      return Other{header.type};
  }
}

}  // namespace

RecordReader::RecordReader(const perf_event_attr& attr)
    : sample_type_(attr.sample_type),
      read_format_(attr.read_format),
      branch_type_(attr.branch_sample_type),
      user_registers_(static_cast<std::size_t>(std::popcount(attr.sample_regs_user))),
      kernel_registers_(static_cast<std::size_t>(std::popcount(attr.sample_regs_intr))),
      trailer_(attr.sample_id_all == 0
                   ? 0
                   : sizeof(std::uint64_t) *
                         static_cast<std::size_t>(std::popcount(attr.sample_type & kIdParts))) {}

struct RecordReader::Layout {
  // In the order in which the kernel writes the parts.
  static Sample take(const RecordReader& of, Cursor& cursor, SampleId& id) {
    const std::uint64_t type = of.sample_type_;
    Sample sample;
    take_head(cursor, type, id, sample);
    if ((type & PERF_SAMPLE_READ) != 0) skip_read(cursor, of.read_format_);
    if ((type & PERF_SAMPLE_CALLCHAIN) != 0) sample.callchain = cursor.words(cursor.u64());
    if ((type & PERF_SAMPLE_RAW) != 0) sample.raw = take_raw(cursor);
    if ((type & PERF_SAMPLE_BRANCH_STACK) != 0) skip_branches(cursor, of.branch_type_);
    if ((type & PERF_SAMPLE_REGS_USER) != 0) {
      sample.registers_abi = cursor.u64();
      if (sample.registers_abi != PERF_SAMPLE_REGS_ABI_NONE)
        sample.registers = cursor.words(of.user_registers_);
    }
    if ((type & PERF_SAMPLE_STACK_USER) != 0) take_stack(cursor, sample);
    if ((type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)) != 0) cursor.u64();
    if ((type & PERF_SAMPLE_DATA_SRC) != 0) cursor.u64();
    if ((type & PERF_SAMPLE_TRANSACTION) != 0) cursor.u64();
    if ((type & PERF_SAMPLE_REGS_INTR) != 0 && cursor.u64() != PERF_SAMPLE_REGS_ABI_NONE)
      cursor.words(of.kernel_registers_);
    if ((type & PERF_SAMPLE_PHYS_ADDR) != 0) cursor.u64();
    if ((type & PERF_SAMPLE_CGROUP) != 0) sample.cgroup = cursor.u64();
    return sample;
  }
};

std::optional<Record> RecordReader::read(std::span<const std::byte> record) const {
  perf_event_header header{};
  if (record.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, record.data(), sizeof header);
  if (header.size < sizeof header || header.size > record.size()) return std::nullopt;
  std::span<const std::byte> bytes = record.subspan(sizeof header, header.size - sizeof header);
  Record result{.misc = header.misc, .id = {}, .body = Other{header.type}};
  if (header.type != PERF_RECORD_SAMPLE) {
    if (bytes.size() < trailer_) return std::nullopt;
    result.id = take_trailer(Cursor(bytes.last(trailer_)), trailer_ == 0 ? 0 : sample_type_);
    Cursor cursor(bytes.first(bytes.size() - trailer_));
    result.body = take_body(cursor, header, read_format_);
    return cursor.failed() ? std::nullopt : std::optional(result);
  }
  Cursor cursor(bytes);
  result.body = Layout::take(*this, cursor, result.id);
  return cursor.failed() ? std::nullopt : std::optional(result);
}

}  // namespace fathom::perf
