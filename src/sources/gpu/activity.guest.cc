// SPDX-License-Identifier: MIT
// CUPTI hands over what the device did in buffers, some time after it was done and in whatever
// thread it likes. Their records become rows of layer gpu: times by CUPTI's clock are put on ours,
// numbers of calls are those that layer cuda wrote. Buffers are mapped, since the program's heap is
// not ours to use.
#include <sys/mman.h>

#include "guest/syscalls.h"
#include "sources/device_work.guest.h"
#include "sources/gpu/cupti.guest.h"

namespace fathom::guest::gpu {
namespace {

// --- buffers: small, since one is handed over when it is full. What comes back is used again.
constexpr size_t kBufferBytes = 256u << 10;
constexpr uint32_t kKept = 64;
constinit uint8_t* kept[kKept] = {};  // atomic

uint8_t* take_kept() {
  for (uint8_t*& place : kept) {
    uint8_t* buffer = __atomic_load_n(&place, __ATOMIC_RELAXED);
    if (buffer == nullptr) continue;
    buffer = __atomic_exchange_n(&place, nullptr, __ATOMIC_ACQUIRE);
    if (buffer != nullptr) return buffer;
  }
  return nullptr;
}

void keep(uint8_t* buffer) {
  for (uint8_t*& place : kept) {
    uint8_t* none = nullptr;
    if (__atomic_compare_exchange_n(&place, &none, buffer, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED))
      return;
  }
  sys_munmap(buffer, kBufferBytes);
}

// --- time
constinit bool clock_is_ours = false;
constinit uint32_t library_version = 0;
// CUPTI counts calls anew when it begins again: our numbers have this on top.
constinit uint64_t begins = -(UINT64_C(1) << 32);

// CUPTI's clock and ours at one moment: the closest of a few, since a thread may be stopped between
// two reads.
struct Moment {
  uint64_t theirs = 0, ticks = 0;
};

Moment read_clocks() {
  Moment moment;
  uint64_t apart = UINT64_MAX;
  for (int tries = 0; tries < 4; tries++) {
    uint64_t theirs = 0;
    const uint64_t before = tick();
    if (clock_is_ours) {
      theirs = read_clock();
    } else {
      cupti.now(&theirs);
    }
    const uint64_t took = tick() - before;
    if (took >= apart) continue;
    apart = took;
    moment = {theirs, before + took / 2};
  }
  return moment;
}

constinit Moment first = {};  // when it began: no record is older

// CUPTI's times into ticks, between the first moment and this one.
class Ruler {
 public:
  Ruler() : now_(read_clocks()) {
    const auto passed = static_cast<double>(now_.theirs - first.theirs);
    rate_ = passed > 0 ? static_cast<double>(now_.ticks - first.ticks) / passed : 1;
  }
  [[nodiscard]] uint64_t tick_of(uint64_t time) const {
    const auto before = static_cast<double>(static_cast<int64_t>(now_.theirs - time)) * rate_;
    return now_.ticks - static_cast<uint64_t>(static_cast<int64_t>(before));
  }

 private:
  Moment now_;
  double rate_ = 1;
};

// --- records
// Contexts' devices, as far as records told: those of synchronisation name none.
constexpr uint32_t kContexts = 64;
constinit int devices[kContexts] = {};  // from 1 on

int device_at(const uint8_t* record, size_t device, size_t context) {
  const auto number = field<uint32_t>(record, device);
  devices[field<uint32_t>(record, context) % kContexts] = static_cast<int>(number) + 1;
  return static_cast<int>(number);
}

uint32_t text_id(const char* text) { return intern_text(text, strlen(text)); }

// Nodes of graphs are told from CUDA 11.8 on, and of which graph from 12.0.
constexpr uint32_t kVersionWithNodes = 18, kVersionWithGraphs = 20;

void take_graph(DeviceRow& row, const uint8_t* record, size_t node, size_t graph) {
  if (library_version < kVersionWithNodes) return;
  row.node = field<uint64_t>(record, node);
  if (library_version >= kVersionWithGraphs) row.graph = field<uint32_t>(record, graph);
}

struct Times {
  uint64_t begin, end;
};

Times read_kernel(const uint8_t* record, DeviceRow& row) {
  row.kind = DeviceKind::kKernel;
  row.registers = field<uint16_t>(record, 6);
  row.device = device_at(record, 40, 44);
  row.stream = field<uint32_t>(record, 48);
  memcpy(row.extents, record + 52, sizeof row.extents);
  row.shared = static_cast<uint64_t>(field<uint32_t>(record, 76)) + field<uint32_t>(record, 80);
  row.correlation = field<uint32_t>(record, 92);
  const auto* name = field<const char*>(record, 104);
  row.name = text_id(name != nullptr ? name : "unknown");
  take_graph(row, record, 144, 156);
  return {field<uint64_t>(record, 16), field<uint64_t>(record, 24)};
}

const char* copy_name(uint8_t kind) {
  constexpr const char* kNames[] = {"memcpy",      "memcpy HtoD", "memcpy DtoH", "memcpy HtoD",
                                    "memcpy DtoH", "memcpy DtoD", "memcpy DtoD", "memcpy DtoD",
                                    "memcpy DtoD", "memcpy HtoH", "memcpy peer"};
  return kNames[kind < sizeof kNames / sizeof *kNames ? kind : 0];
}

// What records of copies and of memsets have in the same places.
Times read_bytes(const uint8_t* record, DeviceRow& row, bool peer) {
  row.bytes = field<uint64_t>(record, 8);
  row.device = device_at(record, 32, 36);
  row.stream = field<uint32_t>(record, 40);
  row.correlation = field<uint32_t>(record, peer ? 60 : 44);
  take_graph(row, record, peer ? 72 : 64, peer ? 80 : 72);
  return {field<uint64_t>(record, 16), field<uint64_t>(record, 24)};
}

Times read_copy(const uint8_t* record, DeviceRow& row, bool peer) {
  row.kind = DeviceKind::kCopy;
  row.name = text_id(peer ? "memcpy peer" : copy_name(record[4]));
  return read_bytes(record, row, peer);
}

Times read_set(const uint8_t* record, DeviceRow& row) {
  row.kind = DeviceKind::kSet;
  row.name = text_id("memset");
  return read_bytes(record, row, false);
}

Times read_graph(const uint8_t* record, DeviceRow& row) {
  row.kind = DeviceKind::kGraph;
  row.name = text_id("graph");
  row.correlation = field<uint32_t>(record, 4);
  row.device = device_at(record, 24, 32);
  row.graph = field<uint32_t>(record, 28);
  row.stream = field<uint32_t>(record, 36);
  return {field<uint64_t>(record, 8), field<uint64_t>(record, 16)};
}

Times read_sync(const uint8_t* record, DeviceRow& row) {
  constexpr uint32_t kNoStream = UINT32_MAX;
  constexpr const char* kNames[] = {"sync", "sync event", "", "sync stream", "sync context"};
  const auto type = field<uint32_t>(record, 4);
  row.kind = DeviceKind::kSync;
  row.name = text_id(type < sizeof kNames / sizeof *kNames ? kNames[type] : kNames[0]);
  row.correlation = field<uint32_t>(record, 24);
  row.device = devices[field<uint32_t>(record, 28) % kContexts] - 1;
  const auto stream = field<uint32_t>(record, 32);
  row.stream = stream == kNoStream ? 0 : stream;
  return {field<uint64_t>(record, 8), field<uint64_t>(record, 16)};
}

// A stream that waits for an event makes nobody wait here, and takes no time of the device.
bool is_wait_of_stream(const uint8_t* record) {
  constexpr uint32_t kStreamWaitsForEvent = 2;
  return field<uint32_t>(record, 4) == kStreamWaitsForEvent;
}

// False for a record that is not a row.
bool read_record(const uint8_t* record, DeviceRow& row, Times& times) {
  switch (field<int>(record, 0)) {
    case kKernelRecord:
    case kConcurrentKernelRecord:
      times = read_kernel(record, row);
      return true;
    case kCopyRecord:
      times = read_copy(record, row, false);
      return true;
    case kPeerCopyRecord:
      times = read_copy(record, row, true);
      return true;
    case kSetRecord:
      times = read_set(record, row);
      return true;
    case kGraphRecord:
      times = read_graph(record, row);
      return true;
    case kSyncRecord:
      if (is_wait_of_stream(record)) return false;
      times = read_sync(record, row);
      return true;
    default:
      return false;
  }
}

void take_record(const uint8_t* record, const Ruler& ruler) {
  DeviceRow row;
  Times times{};
  if (!read_record(record, row, times)) return;
  if (times.begin == 0 || times.end < times.begin) {  // it had not ended when it was asked for
    count_loss(FATHOM_SOURCE_GPU, FATHOM_LOSS_UNMATCHED);
    return;
  }
  row.begin = ruler.tick_of(times.begin);
  row.end = ruler.tick_of(times.end);
  if (row.correlation != 0) row.correlation += begins;
  write_device_row(row);
}

// A thread that the program did not make: what it does is not the program's.
void leave_out_this_thread() {
  if (tls.thread == nullptr && tls.outside == 0) tls.outside = 1;
}

}  // namespace

uint64_t read_clock() { return clock_ns(CLOCK_MONOTONIC); }

void use_clock(bool ours) {
  clock_is_ours = ours;
  first = read_clocks();
}

void begin_records(uint32_t version) {
  library_version = version;
  begins += UINT64_C(1) << 32;
}

// A call inside another is the outer one's; those that we make ourselves are nobody's, and those of
// a process whose CUPTI is its parent's have no work to be known by.
void note_launch(uint32_t correlation) {
  Thread* thread = tls.thread;
  if (thread == nullptr || tls.outside != 0 || device_state_now() == DeviceState::kForked) return;
  if (thread->gpu_correlation == 0) thread->gpu_correlation = begins + correlation;
}

void request_buffer(uint8_t** buffer, size_t* size, size_t* records) {
  leave_out_this_thread();
  uint8_t* memory = take_kept();
  if (memory == nullptr)
    memory = static_cast<uint8_t*>(
        sys_mmap(kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
  *buffer = memory;
  *size = memory != nullptr ? kBufferBytes : 0;
  *records = 0;  // as many as fit
}

void take_buffer(Context context, uint32_t stream, uint8_t* buffer, size_t, size_t valid) {
  leave_out_this_thread();
  if (buffer == nullptr) return;
  const Ruler ruler;
  const uint8_t* record = nullptr;
  if (guest.live->on[FATHOM_SOURCE_GPU] == 0) valid = 0;
  while (valid > 0 && cupti.next_record(buffer, valid, &record) == 0) take_record(record, ruler);
  size_t dropped = 0;
  if (cupti.dropped(context, stream, &dropped) == 0 && dropped > 0)
    count_loss(FATHOM_SOURCE_GPU, FATHOM_LOSS_UNBOUND, dropped);
  keep(buffer);
}

}  // namespace fathom::guest::gpu
