// SPDX-License-Identifier: MIT
// What a device does, as rows of layer gpu; and where the source of the driver's calls (cuda) and
// that of the device's times (gpu) meet, since neither includes the other.
//
// A device's work is told after it happened, by any thread, and in any order. Its records have a
// time of their own (`lag`), and its rows belong to no thread (docs/formats/spool.md, flag
// `apart`): who asked for it is told by the call with the same correlation.
#pragma once

#include "guest/runtime.h"
#include "guest/schema_text.h"

namespace fathom::guest {

// What devices do; the kinds of layer gpu, in this order.
enum class DeviceKind : unsigned char { kKernel, kCopy, kSet, kGraph, kSync, kKinds };

// Which clock a device's times come from; the order is that of kDeviceClocks, from 1 on.
enum class DeviceClock : uint8_t { kCupti = 1, kEvents };
inline constexpr const char* kDeviceClocks = "cupti,events";

struct DeviceRow {
  DeviceKind kind = DeviceKind::kKernel;
  DeviceClock clock = DeviceClock::kCupti;
  uint64_t begin = 0, end = 0;  // ticks
  uint32_t name = 0;            // id of a text
  uint64_t correlation = 0;     // 0: none
  int device = -1;
  uint64_t stream = 0;
  uint64_t bytes = 0;
  uint32_t extents[6] = {};  // grid and block
  uint64_t shared = 0;
  uint32_t registers = 0;
  uint64_t graph = 0;  // 0: not of a graph
  uint64_t node = 0;
};

// From any thread that may write records.
void write_device_row(const DeviceRow& row);

double ticks_per_ns();  // of the clock of events, as it went since the run began

// The lines of the schema, with the fields in the order in which write_device_row puts them.
constexpr void put_device_schema(SchemaWriter& writer) {
  constexpr const char* kCategories[] = {"kernel", "copy", "set", "graph", "sync"};
  for (unsigned i = 0; i < static_cast<unsigned>(DeviceKind::kKinds); i++) {
    const auto kind = static_cast<DeviceKind>(i);
    writer.put_number(FATHOM_FIRST_GPU_KIND + i);
    writer.put('\t');
    writer.put_number(FATHOM_SOURCE_GPU);
    for (const char* column : {"gpu", "-", "-", kCategories[i], "apart"}) {
      writer.put('\t');
      writer.put(column);
    }
    writer.put("\tlag\tname\tcorrelation\tdevice\tstream");
    if (kind == DeviceKind::kCopy || kind == DeviceKind::kSet) writer.put("\tbytes");
    if (kind == DeviceKind::kKernel) {
      writer.put_argument("grid", "extent");
      writer.put_argument("block", "extent");
      writer.put_argument("shared_memory", "flag");
      writer.put_argument("registers", "flag");
    }
    writer.put_argument("graph", "flag");
    writer.put_argument("graph_node", "flag");
    writer.put_argument("clock", "choice:");
    writer.put(kDeviceClocks);
    writer.put('\n');
  }
}

// How the device's work is timed here and now.
enum class DeviceState : uint8_t {
  kUnasked,  // nobody has looked yet
  kTimed,    // all of it, by CUPTI
  kSampled,  // some of it, by pairs of events
  kOff,
  kForked,  // not at all: CUPTI is the parent's
};
extern uint8_t device_state;  // atomic
FATHOM_HOT DeviceState device_state_now() {
  return static_cast<DeviceState>(__atomic_load_n(&device_state, __ATOMIC_ACQUIRE));
}

// From sources/gpu, told by sources/cuda: the driver is there and was initialised, or the program
// asks for the device's work to be recorded, or not to be. Slow, and not to be called by a thread
// that writes a record.
void device_work_begins();
void device_work_switched(bool on);
void device_work_waited_for();  // the thread waited for the device, and has a moment
void device_work_is_missed();   // the program uses the driver where CUPTI is the parent's

// From sources/cuda, asked by sources/gpu.
int driver_version();  // as the driver tells it, 13000; 0: none. A call of it, for those who watch
void poll_event_pairs();                  // writes the rows of those that are over
bool call_is_hooked(const char* symbol);  // of the driver

}  // namespace fathom::guest
