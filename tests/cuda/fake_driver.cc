// SPDX-License-Identifier: MIT
// A CUDA driver without a GPU: what libcuda.so.1 does at its border, as far as programs and
// libcudart can tell. Every symbol of the table of calls is there, so that each hook can be
// reached. What functions do lies in fake_state.h; which of them a name, a version and flags mean,
// in fake_versions.h. Linked with -Bsymbolic: what it calls of itself does not go through a hook,
// as in the real one.
//
// FAKE_CUDA_LOG=FILE   appends a line `name count` for each symbol that was called, when the
// process ends
// FAKE_CUDA_EVENTS=FILE   the same with how many events there are then, and how many at most
// FAKE_CUDA_FAIL=NAME:RESULT[,…]   every call of NAME fails with RESULT
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "fake_state.h"
#include "fake_versions.h"
#include "fake_watch.h"

namespace fake {

using fathom::guest::cuda::Launch;
using fathom::guest::cuda::Spec;

#define CALL(symbol, ...) k_##symbol,
#define CUSTOM CALL
enum Index {
#include "sources/cuda/cuda.calls.h"
  kCount
};
#undef CALL
#undef CUSTOM

#define CALL(symbol, ...) #symbol,
#define CUSTOM CALL
const char* const kSymbols[] = {
#include "sources/cuda/cuda.calls.h"
};
#undef CALL
#undef CUSTOM

std::atomic<std::uint64_t> calls[kCount];

struct Log {
  ~Log() {
    tell_calls();
    tell_events();
  }
  static void tell_events() {
    const char* path = std::getenv("FAKE_CUDA_EVENTS");
    std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "a");
    if (file == nullptr) return;
    std::fprintf(file, "%zu %zu\n", events.size(), most_events);
    std::fclose(file);
  }
  static void tell_calls() {
    const char* path = std::getenv("FAKE_CUDA_LOG");
    if (path == nullptr) return;
    std::FILE* file = std::fopen(path, "a");
    if (file == nullptr) return;
    for (int i = 0; i < kCount; i++) {
      if (calls[i] != 0)
        std::fprintf(file, "%s %llu\n", kSymbols[i], static_cast<unsigned long long>(calls[i]));
    }
    std::fclose(file);
  }
} log_at_exit;

int wished_failure(const char* name) {
  static const char* const wishes = std::getenv("FAKE_CUDA_FAIL");
  if (wishes == nullptr) return 0;
  const char* found = std::strstr(wishes, name);
  const std::size_t length = std::strlen(name);
  return found != nullptr && found[length] == ':' ? std::atoi(found + length + 1) : 0;
}

// `own` is the place of the stream where 0 means the thread's own, -1: there is none.
template <class... A>
int call(int index, const char* plain, int own, A... a) {
  calls[index]++;
  if (const int failure = wished_failure(plain)) return failure;
  const Watched watched(kSymbols[index]);
  Words words{(std::uint64_t)a...};
  if (own >= 0 && words[static_cast<std::size_t>(own)] == 0)
    words[static_cast<std::size_t>(own)] = 2;
  const int result = act(plain, words);
  if (result == 0) watched.tell(plain, words);
  return result;
}

constexpr int own_stream(const Spec& spec) {
  return per_thread(spec) && spec.launch != Launch::kConfig ? spec.stream : -1;
}

}  // namespace fake

using namespace fathom::guest::cuda;

#define LIST(...) __VA_OPT__(, ) __VA_ARGS__
#define CALL(symbol, plain, result, parameters, arguments, group, ...)                     \
  extern "C" result symbol parameters {                                                    \
    constexpr Spec spec{.name = #plain, .entry = #symbol, .category = group, __VA_ARGS__}; \
    constexpr int own = fake::own_stream(spec);                                            \
    return fake::call(fake::k_##symbol, #plain, own LIST arguments);                       \
  }
#define CUSTOM(...)
#include "sources/cuda/cuda.calls.h"
#undef CALL
#undef CUSTOM

// --- what no hook is for
extern "C" {
int cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= fake::kDevices) return 101;
  *device = ordinal;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = fake::kDevices;
  return 0;
}
int cuStreamDestroy(void* stream) { return cuStreamDestroy_v2(stream); }
int cuEventDestroy(void* event) { return cuEventDestroy_v2(event); }
int cuCtxGetCurrent(void** context) {
  *context = fake::current;
  return fake::initialised ? 0 : fake::kNotInitialised;
}
int cuCtxGetDevice(int* device) {
  if (fake::current == nullptr) return fake::kInvalidContext;
  *device = fake::current->device;
  return 0;
}
int cuStreamGetId(void* stream, std::uint64_t* id) { return fake::id_of_asked(stream, id); }
int cuThreadExchangeStreamCaptureMode(int* mode) {
  std::swap(fake::capture_mode, *mode);
  return 0;
}
int cuStreamIsCapturing(void* stream, int* status) {
  *status = fake::captures(stream) ? 1 : 0;
  return 0;
}
int cuFuncGetName(const char** name, void* function) {
  return fake::name_of(name, function, false);
}
int cuKernelGetName(const char** name, void* kernel) { return fake::name_of(name, kernel, true); }
int cuPointerGetAttribute(void* value, int, Address at) { return fake::memory_type(value, at); }
int cuGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
  return fake::nodes_of(graph, nodes, count);
}
int cuGraphNodeGetType(void* node, int* type) {
  *type = static_cast<fake::Node*>(node)->type;
  return 0;
}
int cuGraphMemcpyNodeGetParams(void* node, void* copy) {
  std::uint64_t words[25] = {};
  words[22] = static_cast<fake::Node*>(node)->bytes;
  words[23] = words[24] = 1;
  std::memcpy(copy, words, sizeof words);
  return 0;
}
int cuGraphMemAllocNodeGetParams(void* node, void* allocation) {
  const auto& memory = *static_cast<fake::Node*>(node);
  if (memory.type != 10) return fake::kInvalidValue;
  std::uint64_t words[15] = {};  // a CUDA_MEM_ALLOC_NODE_PARAMS
  words[1] = 1 | static_cast<std::uint64_t>(fake::current->device) << 32;
  words[13] = memory.bytes;
  words[14] = memory.at;
  std::memcpy(allocation, words, sizeof words);
  return 0;
}
int cuGraphMemFreeNodeGetParams(void* node, Address* at) {
  *at = static_cast<fake::Node*>(node)->at;
  return 0;
}
// A copy that is newer than the table of calls.
int cuMemcpyWithAttributesAsync(Address to, Address from, std::size_t size, const void*,
                                void* stream) {
  const fake::Watched watched("cuMemcpyWithAttributesAsync");
  watched.tell("cuMemcpyAsync", {to, from, size, (std::uint64_t)stream});
  return 0;
}
int cuGraphChildGraphNodeGetGraph(void*, void**) { return 1; }
int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  const auto at = [](void* event) {
    fake::check_event(event);
    return static_cast<double>(static_cast<fake::Event*>(event)->at);
  };
  *milliseconds = static_cast<float>((at(to) - at(from)) / 1e6);
  return 0;
}
void fake_cuda_watch(const fake::Watcher* watcher) { fake::watcher = watcher; }
// libcudart goes no further than this without the driver's private tables.
int cuGetExportTable(const void**, const void*) { return 1; }

int cuGetProcAddress(const char* symbol, void** function, int version, std::uint64_t flags) {
  fake::calls[fake::k_cuGetProcAddress]++;
  return fake::resolve(symbol, function, version, flags, nullptr);
}
int cuGetProcAddress_v2(const char* symbol, void** function, int version, std::uint64_t flags,
                        int* status) {
  fake::calls[fake::k_cuGetProcAddress_v2]++;
  return fake::resolve(symbol, function, version, flags, status);
}
}
