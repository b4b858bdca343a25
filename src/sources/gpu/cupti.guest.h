// SPDX-License-Identifier: MIT
// CUPTI, NVIDIA's library that tells what a GPU did: the functions that are used of it, and where
// the fields of its records lie. No SDK is needed: these offsets are the same in every version from
// CUDA 9 to 13, and records are walked by CUPTI itself, so that their sizes need not be known.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace fathom::guest::gpu {

using Subscriber = void*;
using Context = void*;
using OnCall = void (*)(void* user, int domain, uint32_t call, const void* data);
using OnRequest = void (*)(uint8_t** buffer, size_t* size, size_t* records);
using OnCompleted = void (*)(Context context, uint32_t stream, uint8_t* buffer, size_t size,
                             size_t valid);

// What cuptiSubscribe_v2 is given, to learn who was there before.
struct SubscriberParameters {
  size_t size = sizeof(SubscriberParameters);
  const char* name = nullptr;
  char* holder = nullptr;
  size_t holder_room = 0;
};

struct Cupti {
  int (*version)(uint32_t* version);
  int (*subscribe)(Subscriber* subscriber, OnCall callback, void* user);
  int (*subscribe_named)(Subscriber* subscriber, OnCall callback, void* user,
                         SubscriberParameters* parameters);
  int (*unsubscribe)(Subscriber subscriber);
  int (*call_name)(int domain, uint32_t call, const char** name);
  int (*enable_call)(uint32_t on, Subscriber subscriber, int domain, uint32_t call);
  int (*register_buffers)(OnRequest request, OnCompleted completed);
  int (*register_clock)(uint64_t (*clock)());
  int (*now)(uint64_t* timestamp);
  int (*enable)(int kind);
  int (*disable)(int kind);
  int (*next_record)(uint8_t* buffer, size_t valid, const uint8_t** record);
  int (*dropped)(Context context, uint32_t stream, size_t* count);
  int (*flush)(uint32_t flags);
  int (*flush_period)(uint32_t milliseconds);
  int (*finalize)();
  int (*result_text)(int result, const char** text);
};
extern Cupti cupti;

constexpr int kNotInitialized = 15, kHeldByAnother = 39;
constexpr int kDriverCalls = 1;  // the domain
constexpr uint32_t kFlushForced = 1;

// Kinds of records.
enum : int {
  kCopyRecord = 1,
  kSetRecord = 2,
  kKernelRecord = 3,
  kConcurrentKernelRecord = 10,
  kPeerCopyRecord = 22,
  kSyncRecord = 38,
  kGraphRecord = 51,
};

template <class T>
T field(const void* record, size_t offset) {
  T value;
  memcpy(&value, static_cast<const uint8_t*>(record) + offset, sizeof value);
  return value;
}

// Opens the library that the process has, or else the one that fits its driver, and finds its
// functions. False where there is none. `path` is where it lies.
bool open_cupti(char* path, size_t room);
bool cupti_is_loaded();
// A function of the library that the process has loaded, nullptr: none.
void* find_in_cupti(const char* symbol);

// --- what is done with the records (activity.guest.cc)
void begin_records(uint32_t version);  // of the library
void request_buffer(uint8_t** buffer, size_t* size, size_t* records);
void take_buffer(Context context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid);
uint64_t read_clock();                   // that CUPTI is given: CLOCK_MONOTONIC
void use_clock(bool ours);               // whether it took it
void note_launch(uint32_t correlation);  // this thread asks for work

}  // namespace fathom::guest::gpu
