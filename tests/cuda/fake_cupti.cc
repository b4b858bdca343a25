// SPDX-License-Identifier: MIT
// A CUPTI without a GPU: what libcupti.so does at its border, on the fake driver, which tells it of
// its calls and of the device's work (fake_work.h). One subscriber, records of the real layout
// (that of CUDA 13.0) in buffers that it asks its client for, handed over by a thread of its own
// when they are full, or by whoever flushes; what was dropped is counted; cuptiFinalize forgets
// everything.
//
// FAKE_CUPTI_VERSION=N   what cuptiGetVersion tells
// FAKE_CUPTI_HELD=NAME   a tool of that name has subscribed before
// FAKE_CUPTI_FAIL=N      cuptiSubscribe fails with N (15: newer than the driver)
// FAKE_CUPTI_CLOCK=no    there is no callback for timestamps, as before CUDA 11.6: CLOCK_REALTIME
// FAKE_CUPTI_DROP=N      each Nth record finds no room
// FAKE_CUPTI_LOG=FILE    appends what was done, a line each
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "fake_records.h"
#include "fake_work.h"
#include "sources/cuda/spec.guest.h"

namespace {

using fake::Work;
using OnCall = void (*)(void*, int, std::uint32_t, const void*);
using OnRequest = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using OnCompleted = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);

constexpr int kSuccess = 0, kInvalidParameter = 1, kMaxLimit = 12, kNotInitialised = 15, kHeld = 39,
              kUnknown = 999;

#define CALL(symbol, ...) #symbol,
#define CUSTOM CALL
const char* const kSymbols[] = {
    "INVALID",
#include "sources/cuda/cuda.calls.h"
    "cuMemcpyWithAttributesAsync",  // no hook is for it
};
#undef CALL
#undef CUSTOM

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != 0 ? value : nullptr;
}

void log(const std::string& line) {
  const char* path = setting("FAKE_CUPTI_LOG");
  std::FILE* file = path != nullptr ? std::fopen(path, "a") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
}

struct Full {
  std::uint8_t* buffer;
  std::size_t size, valid;
};

// Everything that cuptiFinalize takes away.
struct Client {
  OnCall callback = nullptr;
  void* user = nullptr;
  std::string name;
  std::set<std::uint32_t> calls;
  std::set<int> kinds;
  OnRequest request = nullptr;
  OnCompleted completed = nullptr;
  std::uint64_t (*clock)() = nullptr;
  Full current{};
  std::deque<Full> full;
  std::size_t dropped = 0, made = 0;
};

// The worker outlives main, and so does all that it uses.
std::recursive_mutex& lock = *new std::recursive_mutex;
std::condition_variable_any& arrived = *new std::condition_variable_any;
Client* const client = new Client;
std::atomic<std::uint32_t> correlations = 100;
thread_local std::uint32_t correlation = 0;  // of the call that runs
thread_local bool in_exit_callback = false;
thread_local bool in_callback = false;

std::uint64_t now() {
  if (client->clock != nullptr) return client->clock();
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void hand_over(const Full& full) {
  client->completed(nullptr, 0, full.buffer, full.size, full.valid);
}

void work_for_client() {
  std::unique_lock held(lock);
  for (;;) {
    arrived.wait(held, [] { return !client->full.empty(); });
    const Full full = client->full.front();
    client->full.pop_front();
    hand_over(full);
  }
}

void start_worker() {
  static pid_t started_in = 0;
  if (started_in == getpid()) return;
  started_in = getpid();
  std::thread(work_for_client).detach();
}

void put_record(const std::uint8_t* record, std::size_t size) {
  const char* every = setting("FAKE_CUPTI_DROP");
  if (every != nullptr && ++client->made % std::strtoul(every, nullptr, 10) == 0) {
    client->dropped++;
    return;
  }
  Full& current = client->current;
  if (current.buffer != nullptr && current.valid + size > current.size) {
    client->full.push_back(current);
    current = {};
    arrived.notify_one();
  }
  if (current.buffer == nullptr) {
    std::size_t records = 0;
    client->request(&current.buffer, &current.size, &records);
    if (current.buffer == nullptr) {
      client->dropped++;
      return;
    }
  }
  std::memcpy(current.buffer + current.valid, record, size);
  current.valid += size;
}

// --- what the driver tells
std::uint32_t number_of(const char* symbol) {
  for (std::uint32_t i = 1; i < std::size(kSymbols); i++) {
    if (std::strcmp(kSymbols[i], symbol) == 0) return i;
  }
  return 0;
}

void on_driver_call(bool exit, const char* symbol) {
  if (!exit) correlation = ++correlations;
  OnCall callback = nullptr;
  void* user = nullptr;
  const std::uint32_t number = number_of(symbol);
  {
    const std::lock_guard held(lock);
    if (client->callback == nullptr || !client->calls.contains(number)) return;
    callback = client->callback;
    user = client->user;
  }
  unsigned char data[72] = {};
  const std::uint32_t site = exit ? 1 : 0;
  std::memcpy(data, &site, 4);
  std::memcpy(data + 8, &symbol, 8);
  std::memcpy(data + 64, &correlation, 4);
  in_exit_callback = exit;
  in_callback = true;
  callback(user, 1, number, data);
  in_exit_callback = in_callback = false;
}

void on_work(const Work& work) {
  const std::lock_guard held(lock);
  const bool whole = client->kinds.contains(fake::kGraph);
  const bool of_graph = work.graph != 0 && work.record != fake::kGraph;
  if (!client->kinds.contains(work.record) || (whole && of_graph) || client->request == nullptr)
    return;
  std::uint8_t record[256] = {};
  const std::uint64_t begin = now();
  put_record(record, fake::write_record(record, work, begin, begin + fake::kRecordNs, correlation));
}

const fake::Watcher kWatcher{on_driver_call, on_work};

void watch_driver(const fake::Watcher* watcher) {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  auto* watch = driver != nullptr ? (void (*)(const fake::Watcher*))dlsym(driver, "fake_cuda_watch")
                                  : nullptr;
  if (watch != nullptr) watch(watcher);
}

int subscribe(void** subscriber, OnCall callback, void* user, const char* name, char* holder,
              std::size_t room) {
  const std::lock_guard held(lock);
  if (subscriber == nullptr) return kInvalidParameter;
  if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD) == nullptr) return kUnknown;
  if (const char* failure = setting("FAKE_CUPTI_FAIL")) return std::atoi(failure);
  const char* other = setting("FAKE_CUPTI_HELD");
  if (other != nullptr || client->callback != nullptr) {
    const std::string who = "CUPTI for " + (other != nullptr ? other : client->name);
    if (holder != nullptr) std::snprintf(holder, room, "%s", who.c_str());
    return kHeld;
  }
  client->callback = callback;
  client->user = user;
  client->name = name != nullptr ? name : "unnamed";
  *subscriber = client;
  watch_driver(&kWatcher);
  log("subscribe");
  return kSuccess;
}

}  // namespace

extern "C" {
int cuptiGetVersion(std::uint32_t* version) {
  const char* wish = setting("FAKE_CUPTI_VERSION");
  *version = wish != nullptr ? static_cast<std::uint32_t>(std::atoi(wish)) : 130001;
  return kSuccess;
}
int cuptiSubscribe(void** subscriber, OnCall callback, void* user) {
  return subscribe(subscriber, callback, user, nullptr, nullptr, 0);
}
struct Parameters {
  std::size_t size;
  const char* name;
  char* holder;
  std::size_t room;
};
int cuptiSubscribe_v2(void** subscriber, OnCall callback, void* user, Parameters* parameters) {
  return subscribe(subscriber, callback, user, parameters->name, parameters->holder,
                   parameters->room);
}
int cuptiUnsubscribe(void* subscriber) {
  const std::lock_guard held(lock);
  if (subscriber != client || client->callback == nullptr) return kInvalidParameter;
  client->callback = nullptr;
  client->calls.clear();
  log("unsubscribe");
  return kSuccess;
}
int cuptiGetCallbackName(int domain, std::uint32_t call, const char** name) {
  if (domain != 1 || call >= std::size(kSymbols)) return kInvalidParameter;
  *name = kSymbols[call];
  return kSuccess;
}
int cuptiEnableCallback(std::uint32_t on, void* subscriber, int domain, std::uint32_t call) {
  const std::lock_guard held(lock);
  if (subscriber != client || domain != 1 || call == 0 || call >= std::size(kSymbols))
    return kInvalidParameter;
  if (on != 0) {
    client->calls.insert(call);
  } else {
    client->calls.erase(call);
  }
  return kSuccess;
}
int cuptiActivityRegisterCallbacks(OnRequest request, OnCompleted completed) {
  const std::lock_guard held(lock);
  client->request = request;
  client->completed = completed;
  return kSuccess;
}
int cuptiActivityRegisterTimestampCallback(std::uint64_t (*clock)()) {
  const std::lock_guard held(lock);
  if (clock == nullptr || setting("FAKE_CUPTI_CLOCK") != nullptr) return kInvalidParameter;
  client->clock = clock;
  return kSuccess;
}
int cuptiGetTimestamp(std::uint64_t* time) {
  *time = now();
  return kSuccess;
}
int cuptiActivityEnable(int kind) {
  const std::lock_guard held(lock);
  start_worker();
  client->kinds.insert(kind);
  return kSuccess;
}
int cuptiActivityDisable(int kind) {
  const std::lock_guard held(lock);
  client->kinds.erase(kind);
  return kSuccess;
}
int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
  std::uint8_t* next = buffer;
  if (*record != nullptr) next = *record + fake::size_of_record(*record);
  if (next >= buffer + valid) return kMaxLimit;
  *record = next;
  return kSuccess;
}
int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  const std::lock_guard held(lock);
  *dropped = client->dropped;
  client->dropped = 0;
  return kSuccess;
}
int cuptiActivityFlushAll(std::uint32_t) {
  const std::lock_guard held(lock);
  if (client->completed == nullptr) return kSuccess;
  usleep(20);  // what was begun is over then
  while (!client->full.empty()) {
    const Full full = client->full.front();
    client->full.pop_front();
    hand_over(full);
  }
  if (client->current.buffer != nullptr) hand_over(client->current);
  client->current = {};
  log("flush");
  return kSuccess;
}
int cuptiActivityFlushPeriod(std::uint32_t) { return kSuccess; }
int cuptiFinalize() {
  const std::lock_guard held(lock);
  watch_driver(nullptr);
  log(in_exit_callback ? "finalize at the end of a call" : "finalize elsewhere");
  *client = {};
  correlations = 100;
  return kSuccess;
}
int cuptiGetResultString(int result, const char** text) {
  *text = result == kHeld             ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
          : result == kNotInitialised ? "CUPTI_ERROR_NOT_INITIALIZED"
                                      : "CUPTI_ERROR_UNKNOWN";
  return kSuccess;
}
}
