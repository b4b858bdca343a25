// SPDX-License-Identifier: MIT
// Layer gpu from its begin to its end: CUPTI is opened when the program has initialised the driver,
// told what is wanted, flushed when the program waits for the device, and taken down at the end,
// when the program says so (cuProfilerStop), or when another tool wants it.
//
// This is the one part of the library that does not keep to the rules of its side of the wall:
// CUPTI has threads, locks and memory of its own. Hence it is off unless it was asked for.
#include <errno.h>
#include <stdlib.h>

#include <initializer_list>

#include "guest/attach.h"
#include "guest/process.h"
#include "guest/syscalls.h"
#include "guest/text.h"
#include "sources/device_work.guest.h"
#include "sources/gpu/cupti.guest.h"

namespace fathom::guest {
namespace gpu {
namespace {

constexpr uint32_t kCalls = 1024;  // of the driver, as CUPTI numbers them
constexpr uint64_t kFlushEvery = 500'000'000;

constinit Subscriber subscriber = nullptr;
constinit uint32_t version_call = 0;  // cuDriverGetVersion, as CUPTI numbers it
constinit int ending_thread = 0;      // waits for its call of it to come back
constinit uint32_t changing = 0;      // atomic: a thread changes the state
constinit bool begun = false;         // CUPTI was at work in this process, or in its parent
constinit uint64_t last_flush = 0;    // atomic, ns
constinit bool exit_watched = false;
constinit uint32_t miss_said = 0;  // atomic
constinit char path[4096];

// While one exists, what CUPTI does is not the program's, and errno is as it was.
class OwnWork {
 public:
  OwnWork() : error_(errno) { tls.outside++; }
  ~OwnWork() {
    tls.outside--;
    errno = error_;
  }
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;

 private:
  int error_;
};

// One thread at a time. The others go on with what there is, or wait for a moment. None in a
// process that has confined itself: CUPTI makes system calls.
class Change {
 public:
  explicit Change(int naps = 0) {
    if (is_confined()) return;
    const timespec millisecond{0, 1'000'000};
    while (!(ok_ = __atomic_exchange_n(&changing, 1, __ATOMIC_ACQUIRE) == 0) && naps-- > 0)
      raw_syscall(SYS_nanosleep, as_long(&millisecond), 0);
  }
  ~Change() {
    if (ok_) __atomic_store_n(&changing, 0, __ATOMIC_RELEASE);
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  bool ok_ = false;
};
constexpr int kPatience = 2000;

void set_state(DeviceState state) {
  __atomic_store_n(&device_state, static_cast<uint8_t>(state), __ATOMIC_RELEASE);
}

bool wished(const char* variable, const char* value) {
  const char* wish = setting(variable);
  return wish != nullptr && strcmp(wish, value) == 0;
}

// Records of waiting cost more than all others: that the program waited is a call of layer cuda.
bool is_wished(int kind) {
  if (kind == kGraphRecord) return wished("FATHOM_GPU_GRAPHS", "whole");
  return kind != kSyncRecord || wished("FATHOM_GPU_SYNC", "1");
}

struct Wanted {
  int kind;
  bool needed;
};
constexpr Wanted kWanted[] = {
    {kConcurrentKernelRecord, true}, {kCopyRecord, true},  {kSetRecord, true},
    {kPeerCopyRecord, false},        {kSyncRecord, false}, {kGraphRecord, false}};

void finish_ending() {
  cupti.unsubscribe(subscriber);
  cupti.finalize();
  subscriber = nullptr;
}

// From within the driver, at the begin and the end of a call that was asked for.
void on_call(void*, int domain, uint32_t call, const void* data) {
  constexpr uint32_t kExit = 1;
  if (domain != kDriverCalls || data == nullptr) return;
  if (field<uint32_t>(data, 0) != kExit) return note_launch(field<uint32_t>(data, 64));
  if (call != version_call || ending_thread == 0 || ending_thread != sys_gettid()) return;
  ending_thread = 0;
  finish_ending();
}

bool begins_with_one_of(const char* name, std::initializer_list<const char*> begins) {
  for (const char* begin : begins) {
    if (strncmp(name, begin, strlen(begin)) == 0) return true;
  }
  return false;
}

// The calls by which a device gets work; where waits are recorded all that have a hook, since the
// driver may wait in any of them.
bool is_work(const char* name) {
  if (is_wished(kSyncRecord) && call_is_hooked(name)) return true;
  return strcmp(name, "cuLaunch") == 0 ||
         begins_with_one_of(name, {"cuLaunchKernel", "cuLaunchCooperative", "cuLaunchGrid",
                                   "cuMemcpy", "cuMemset", "cuGraphLaunch"});
}

int watch_calls() {
  version_call = 0;
  int watched = 0;
  for (uint32_t call = 1; call < kCalls; call++) {
    const char* name = nullptr;
    if (cupti.call_name(kDriverCalls, call, &name) != 0 || name == nullptr) continue;
    if (strcmp(name, "cuDriverGetVersion") == 0) version_call = call;
    if (is_work(name) && cupti.enable_call(1, subscriber, kDriverCalls, call) == 0) watched++;
  }
  return watched;
}

// --- what the recording says of it
void say(const char* key, const char* text) { write_meta(key, text, strlen(text)); }

void say_failure(const char* what, int result) {
  char text[256];
  Text words(text, sizeof text);
  words.add("CUPTI: ").add(what);
  const char* meaning = nullptr;
  if (cupti.result_text != nullptr) cupti.result_text(result, &meaning);
  words.add(" failed with ").add_number(static_cast<unsigned>(result));
  if (meaning != nullptr) words.add(" (").add(meaning).add(")");
  if (result == kNotInitialized) words.add("; it may be newer than the driver");
  say("reason:gpu", text);
}

void say_holder() {
  char holder[96] = {};
  char text[256];
  Text words(text, sizeof text);
  words.add("another tool holds CUPTI");
  if (cupti.subscribe_named != nullptr) {
    SubscriberParameters parameters;
    parameters.holder = holder;
    parameters.holder_room = sizeof holder;
    Subscriber none = nullptr;
    if (cupti.subscribe_named(&none, on_call, nullptr, &parameters) == 0) cupti.unsubscribe(none);
    holder[sizeof holder - 1] = 0;
  }
  if (holder[0] != 0) words.add(": ").add(holder);
  say("reason:gpu", text);
}

void say_library(uint32_t version) {
  char text[sizeof path + 64];
  Text words(text, sizeof text);
  words.add("CUPTI ").add_number(version).add(" ").add(path);
  say("gpu.clock", text);
}

// --- begin
bool subscribe() {
  const int result = cupti.subscribe(&subscriber, on_call, nullptr);
  if (result == 0) return true;
  subscriber = nullptr;
  if (result == kHeldByAnother) {
    say_holder();
  } else {
    say_failure("cuptiSubscribe", result);
  }
  return false;
}

bool enable_records() {
  int result = cupti.register_buffers(request_buffer, take_buffer);
  if (result != 0) return say_failure("cuptiActivityRegisterCallbacks", result), false;
  use_clock(cupti.register_clock != nullptr && cupti.register_clock(read_clock) == 0);
  for (const Wanted& wanted : kWanted) {
    if (!is_wished(wanted.kind)) continue;
    result = cupti.enable(wanted.kind);
    if (result != 0 && wanted.needed) return say_failure("cuptiActivityEnable", result), false;
  }
  if (cupti.flush_period != nullptr) cupti.flush_period(kFlushEvery / 1'000'000);
  return true;
}

void disable_records() {
  for (const Wanted& wanted : kWanted) cupti.disable(wanted.kind);
}

void leave(int, void*);

// The handlers of the driver and of CUPTI were registered before, and run after this one.
void watch_leaving() {
  if (!exit_watched) on_exit(leave, nullptr);
  exit_watched = true;
}

bool begin_cupti() {
  uint32_t version = 0;
  begun = true;
  cupti.version(&version);
  begin_records(version);
  if (!subscribe()) return false;
  if (!enable_records()) {
    disable_records();
    cupti.unsubscribe(subscriber);
    subscriber = nullptr;
    return false;
  }
  watch_calls();
  watch_leaving();
  say_library(version);
  return true;
}

// Without CUPTI some launches are timed by events of the driver.
DeviceState begin() {
  if (!open_cupti(path, sizeof path)) {
    say("partial:gpu", "no CUPTI was found: one launch of many is timed, by two events");
    watch_leaving();
    return DeviceState::kSampled;
  }
  return begin_cupti() ? DeviceState::kTimed : DeviceState::kOff;
}

// --- end
// CUPTI is to be finalised where a call of the driver comes back: one is made for that.
void end() {
  set_state(DeviceState::kOff);
  disable_records();
  cupti.flush(kFlushForced);
  if (version_call != 0 && cupti.enable_call(1, subscriber, kDriverCalls, version_call) == 0) {
    ending_thread = sys_gettid();
    driver_version();
  }
  ending_thread = 0;
  if (subscriber != nullptr) finish_ending();
}

void leave(int, void*) {
  if (guest.live->on[FATHOM_SOURCE_GPU] == 0) return;
  const OwnWork own_work;
  const Change change(kPatience);
  if (!change.ok()) return;
  if (device_state_now() == DeviceState::kTimed) cupti.flush(kFlushForced);
  if (device_state_now() == DeviceState::kSampled) poll_event_pairs();
  set_state(DeviceState::kOff);
}

}  // namespace

// Another tool of the program's wants CUPTI, which serves one: it is the program's.
void give_way() {
  if (device_state_now() != DeviceState::kTimed) return;
  const OwnWork own_work;
  const Change change(kPatience);
  if (!change.ok() || device_state_now() != DeviceState::kTimed) return;
  end();
  say("partial:gpu", "a tool of the program took CUPTI over while it was recorded");
}

}  // namespace gpu

void device_work_begins() {
  if (guest.wanted[FATHOM_SOURCE_GPU] == 0 || device_state_now() != DeviceState::kUnasked) return;
  const gpu::OwnWork aside;
  const gpu::Change change;
  if (!change.ok() || device_state_now() != DeviceState::kUnasked) return;
  const bool later = gpu::wished("FATHOM_GPU_RANGE", "profiler");
  gpu::set_state(later ? DeviceState::kOff : gpu::begin());
}

void device_work_switched(bool on) {
  if (guest.live->on[FATHOM_SOURCE_GPU] == 0) return;
  const gpu::OwnWork aside;
  const gpu::Change change(gpu::kPatience);
  if (!change.ok()) return;
  const DeviceState state = device_state_now();
  if (on && (state == DeviceState::kOff || state == DeviceState::kUnasked)) {
    gpu::set_state(gpu::begin());
  } else if (!on && state == DeviceState::kTimed) {
    gpu::end();
  } else if (!on && state == DeviceState::kSampled) {
    poll_event_pairs();
    gpu::set_state(DeviceState::kOff);
  }
}

// Buffers that are not full are handed over only when they are asked for.
void device_work_waited_for() {
  const uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);
  const uint64_t last = __atomic_load_n(&gpu::last_flush, __ATOMIC_RELAXED);
  if (now - last < gpu::kFlushEvery || device_state_now() != DeviceState::kTimed) return;
  const gpu::OwnWork aside;
  const gpu::Change change;
  if (!change.ok()) return;
  __atomic_store_n(&gpu::last_flush, now, __ATOMIC_RELAXED);
  if (device_state_now() == DeviceState::kTimed) gpu::cupti.flush(0);
}

// Said when the driver is used, and not before: most children of such a process do not.
void device_work_is_missed() {
  if (__atomic_exchange_n(&gpu::miss_said, 1, __ATOMIC_RELAXED) != 0) return;
  gpu::say("partial:gpu",
           "a process that was forked while CUPTI was at work has no times of the device");
}

// CUPTI's threads are the parent's, and what it held is held for ever.
void forget_device_work() {
  const bool idle = !gpu::begun && gpu::changing == 0 && gpu::miss_said == 0;
  if (idle && device_state_now() == DeviceState::kUnasked) return;
  gpu::changing = 0;
  gpu::exit_watched = false;
  gpu::miss_said = 0;
  gpu::set_state(gpu::begun ? DeviceState::kForked : DeviceState::kUnasked);
}

}  // namespace fathom::guest
