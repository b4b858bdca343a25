// SPDX-License-Identifier: MIT
// What the driver is asked about contexts, streams and kernels is remembered by handle: asking
// takes longer than a call that is recorded, and may not be done at all while a stream captures.
// Memory: memory.guest.cc, graphs: graphs.guest.cc.
#include "sources/cuda/state.guest.h"

#include <string.h>

#include "guest/runtime.h"
#include "guest/text.h"
#include "sources/cuda/driver.guest.h"
#include "sources/cuda/handles.guest.h"
#include "sources/cuda/own_work.guest.h"

namespace fathom::guest::cuda {
namespace {

constinit HandleTable<1u << 10> contexts;  // to their numbers
constinit HandleTable<1u << 12> streams;   // to their ids
constinit HandleTable<1u << 15> kernels;   // to the ids of their names, and their modules
constinit uint32_t context_count = 0;      // atomic
constinit uint64_t stream_count = 0;       // atomic
constinit int32_t captures = 0;            // atomic: that have begun and not ended

uint64_t key_of(Handle handle) { return reinterpret_cast<uintptr_t>(handle); }

constexpr uint64_t kAskedBefore = UINT64_C(1) << 63;

// As it stands in Thread::gpu_place: the mark, the context's number, the device's from 1. 0 where
// there is no context: then it is asked again.
FATHOM_COLD uint64_t ask_place() {
  const OwnWork own_work;
  Handle context = nullptr;
  int device = kNoDevice;
  if (asked.context == nullptr || asked.context(&context) != 0 || context == nullptr) return 0;
  if (asked.device == nullptr || asked.device(&device) != 0) device = kNoDevice;
  uint64_t number = contexts.find(key_of(context)).first;
  if (number == 0) {
    number = __atomic_add_fetch(&context_count, 1, __ATOMIC_RELAXED);
    contexts.put(key_of(context), {number, 0});
  }
  return kAskedBefore | number << 32 | static_cast<uint32_t>(device + 1);
}

}  // namespace

Place current_place() {
  if (FATHOM_UNLIKELY(tls.thread == nullptr)) return {};
  uint64_t place = tls.thread->gpu_place;
  if (FATHOM_UNLIKELY(place == 0)) place = tls.thread->gpu_place = ask_place();
  return {static_cast<int>(static_cast<uint32_t>(place)) - 1,
          static_cast<uint32_t>(place >> 32) & 0x7fffffffu};
}

void context_may_change() {
  if (tls.thread != nullptr) tls.thread->gpu_place = 0;
}

uint32_t context_number(Handle context) {
  return static_cast<uint32_t>(contexts.find(key_of(context)).first);
}

void forget_context(Handle context) { contexts.take(key_of(context)); }

namespace {

// Where the number of a stream is kept: those that every context has, or every thread, by these.
uint64_t key_of_stream(uint64_t handle) {
  if (handle > kThreadStream) return handle;
  constexpr uint64_t kSpecial = UINT64_C(1) << 63;
  const uint64_t owner =
      handle == kThreadStream && tls.thread != nullptr ? tls.thread->ordinal + 1u : 0;
  return kSpecial | owner << 32 | static_cast<uint64_t>(current_place().context) << 2 | handle;
}

FATHOM_COLD uint64_t ask_stream_id(uint64_t handle, uint64_t key) {
  const OwnWork own_work;
  uint64_t id = 0;
  const bool told = asked.stream_id != nullptr &&
                    asked.stream_id(reinterpret_cast<Handle>(handle), &id) == 0 && id != 0;
  if (!told && handle <= kThreadStream) return handle;
  if (!told) id = kFirstStream + __atomic_fetch_add(&stream_count, 1, __ATOMIC_RELAXED);
  streams.put(key, {id, 0});
  return id;
}

}  // namespace

// The driver's own number tells a stream from a later one with the same handle. A stream that
// captures is not asked for it: the capture would be lost.
uint64_t stream_id(Handle stream, bool per_thread, bool refused) {
  uint64_t handle = key_of(stream);
  if (handle == 0) handle = per_thread ? kThreadStream : kLegacyStream;
  const uint64_t key = key_of_stream(handle);
  const uint64_t known = streams.find(key).first;
  if (FATHOM_LIKELY(known != 0) || refused) return known;
  return is_capturing(reinterpret_cast<Handle>(handle)) ? 0 : ask_stream_id(handle, key);
}

void stream_ends(Handle stream) { streams.take(key_of(stream)); }

void capture_begins() { __atomic_add_fetch(&captures, 1, __ATOMIC_RELAXED); }

void capture_ends() {
  if (__atomic_sub_fetch(&captures, 1, __ATOMIC_RELAXED) < 0)
    __atomic_store_n(&captures, 0, __ATOMIC_RELAXED);
}

bool captures_go_on() { return __atomic_load_n(&captures, __ATOMIC_RELAXED) != 0; }

// A capture reaches other streams by events, so the driver is asked; and only while there is one.
// The default stream is never captured, and asking about it is an error; the thread's own is not
// it.
bool is_capturing(Handle stream) {
  if (FATHOM_LIKELY(!captures_go_on())) return false;
  if (key_of(stream) <= kLegacyStream || asked.capturing == nullptr) return false;
  const OwnWork own_work;
  int status = 0;
  return asked.capturing(stream, &status) == 0 && status == 1;
}

namespace {

// A function's handle, or a kernel's of the newer interface: a launch takes both.
FATHOM_COLD uint32_t ask_kernel_name(Handle function) {
  const OwnWork own_work;
  const char* name = nullptr;
  const bool told = (asked.function_name != nullptr && asked.function_name(&name, function) == 0) ||
                    (asked.kernel_name != nullptr && asked.kernel_name(&name, function) == 0);
  char address[24];
  if (!told || name == nullptr) {
    Text(address, sizeof address).add("0x").add_hex(key_of(function));
    name = address;
  }
  const uint32_t id = intern_text(name, strlen(name));
  if (id != 0) kernels.put(key_of(function), {id, 0});
  return id;
}

}  // namespace

uint32_t kernel_name(Handle function, bool refused) {
  const uint64_t known = kernels.find(key_of(function)).first;
  if (FATHOM_LIKELY(known != 0) || refused) return static_cast<uint32_t>(known);
  return ask_kernel_name(function);
}

void name_kernel(Handle function, Handle module, const char* name) {
  const uint32_t id = intern_text(name, strlen(name));
  if (id != 0) kernels.put(key_of(function), {id, key_of(module)});
}

void alias_kernel(Handle function, Handle kernel) {
  const Known known = kernels.find(key_of(kernel));
  if (known.first != 0) kernels.put(key_of(function), known);
}

// Those whose module is not known may be its own: they are asked for again.
void module_unloads(Handle module) { kernels.forget(key_of(module), 0); }

// The driver does not know memory of the heap: that is the host's.
Direction direction_between(Address to, Address from) {
  if (asked.pointer == nullptr) return Direction::kNone;
  const OwnWork own_work;
  const auto on_device = [](Address at) {
    constexpr int kMemoryType = 2;  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    constexpr unsigned kDeviceMemory = 2;
    unsigned type = 0;
    return asked.pointer(&type, kMemoryType, at) == 0 && type == kDeviceMemory;
  };
  if (on_device(to)) return on_device(from) ? Direction::kDeviceToDevice : Direction::kHostToDevice;
  return on_device(from) ? Direction::kDeviceToHost : Direction::kHostToHost;
}

}  // namespace fathom::guest::cuda
