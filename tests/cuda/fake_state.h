// SPDX-License-Identifier: MIT
// What the functions of the fake driver do: contexts, memory, streams, kernels and graphs that can
// be told apart. Memory of the device lies where the host has nothing: who reads it there is wrong,
// and falls.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sources/cuda/spec.guest.h"

namespace fake {

using fathom::guest::cuda::Address;
using fathom::guest::cuda::Handle;
using fathom::guest::cuda::LaunchConfig;

inline constexpr int kDevices = 2;
inline constexpr int kInvalidValue = 1, kOutOfMemory = 2, kNotInitialised = 3,
                     kInvalidContext = 201, kInvalidHandle = 400, kNotReady = 600,
                     kUnsupported = 900, kInvalidated = 901, kNotSupported = 801,
                     kUpdateFailed = 910;
inline constexpr std::size_t kMemory = std::size_t{8} << 30;

struct Context {
  int device;
};
struct Node {
  int type;  // as CUgraphNodeType: 0 a kernel, 1 a copy, 2 a set, 10 and 11 memory made and freed
  std::uint64_t bytes;
  const char* kernel = nullptr;
  Address at = 0;
};
struct Graph {
  std::vector<Node> nodes;
  std::uint32_t id = 0;
  bool instantiated = false;
  bool frees_first = false;  // what its last launch left
};
struct Event {
  std::uint64_t at = 0;  // ns; 0: not recorded
  Context* of = nullptr;
};
struct Stream {
  std::uint64_t id;
  Graph* capturing = nullptr;
  bool invalid = false;  // the capture met what it must not
};
struct Function {
  std::string name;
  bool kernel;  // of the newer interface
};

inline std::atomic<bool> initialised = false;
inline std::atomic<std::uint64_t> next_stream = 14;
inline std::atomic<std::uint32_t> graph_count = 0;
inline std::atomic<std::uint64_t> busy_until = 0;
inline constexpr std::uint64_t kKernelNs = 5000;

inline std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}
inline thread_local Context* current = nullptr;
inline Context primary[kDevices] = {{0}, {1}};
inline std::mutex lock;
inline std::map<Address, std::size_t> allocations;
inline std::size_t in_use = 0;
inline std::set<Address> graph_addresses;
inline Address next_address = UINT64_C(0x7000) << 32;

// As the H200's driver numbers them: 7 is the default stream, 13 the thread's own.
inline std::uint64_t id_of(void* stream) {
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  return handle == 2 ? 13 : handle < 2 ? 7 : static_cast<Stream*>(stream)->id;
}

// nullptr for the default stream, which captures nothing.
inline Stream* stream_at(void* handle) {
  static thread_local Stream own{13};
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  return number == 2 ? &own : number < 2 ? nullptr : static_cast<Stream*>(handle);
}

inline bool captures(void* stream) {
  return stream_at(stream) != nullptr && stream_at(stream)->capturing != nullptr;
}

inline constexpr int kRelaxed = 2;
inline thread_local int capture_mode = 0;  // of this thread
inline std::set<Stream*> capturing;        // under `lock`

// As on a real driver (bench/gpu/captures.c): a stream that captures may not be asked for its
// number, and an event only by a thread whose mode is relaxed; a capture that meets it is lost.
inline int id_of_asked(void* stream, std::uint64_t* id) {
  *id = id_of(stream);
  if (!captures(stream)) return 0;
  stream_at(stream)->invalid = true;
  return kUnsupported;
}
inline int refused_in_capture() {
  const std::lock_guard held(lock);
  if (capture_mode == kRelaxed || capturing.empty()) return 0;
  for (Stream* stream : capturing) stream->invalid = true;
  return kUnsupported;
}
inline bool capture_is_invalid(void* stream) {
  return captures(stream) && stream_at(stream)->invalid;
}

inline int name_of(const char** name, void* handle, bool kernel) {
  const auto* function = static_cast<Function*>(handle);
  if (function->kernel != kernel) return kInvalidHandle;
  *name = function->name.c_str();
  return 0;
}

inline int memory_type(void* value, Address at) {
  const std::lock_guard held(lock);
  auto next = allocations.upper_bound(at);
  if (next == allocations.begin()) return kInvalidValue;
  --next;
  if (at >= next->first + next->second) return kInvalidValue;
  *static_cast<unsigned*>(value) = 2;
  return 0;
}

inline int nodes_of(void* handle, void** nodes, std::size_t* count) {
  auto& all = static_cast<Graph*>(handle)->nodes;
  for (std::size_t i = 0; nodes != nullptr && i < all.size() && i < *count; i++) nodes[i] = &all[i];
  *count = all.size();
  return 0;
}

inline int make_memory(Address* at, std::size_t size) {
  const std::lock_guard held(lock);
  if (size == 0) return kInvalidValue;
  if (size > kMemory - in_use) return kOutOfMemory;
  *at = next_address;
  next_address += (size + 511) / 512 * 512;
  allocations[*at] = size;
  in_use += size;
  return 0;
}

inline int free_memory(Address at) {
  const std::lock_guard held(lock);
  if (at == 0) return 0;
  const auto found = allocations.find(at);
  if (found == allocations.end()) return kInvalidValue;
  in_use -= found->second;
  allocations.erase(found);
  return 0;
}

// A stream that captures keeps what it is given; true where it did.
inline bool keep(void* stream, Node node) {
  if (!captures(stream)) return false;
  stream_at(stream)->capturing->nodes.push_back(node);
  return true;
}

// The arguments of a call, a word each.
using Words = std::vector<std::uint64_t>;
template <class Wanted>
Wanted as(const Words& words, std::size_t place) {
  return (Wanted)words[place];
}

inline int make_pitched(const Words& words) {
  auto& pitch = *as<std::size_t*>(words, 1);
  pitch = (as<std::size_t>(words, 2) + 511) / 512 * 512;
  return make_memory(as<Address*>(words, 0), pitch * as<std::size_t>(words, 3));
}

inline bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Memory of a graph has its address when it is captured, and is there when the graph was launched.
// Nothing else may be freed in a capture.
inline int capture_memory(std::string_view name, const Words& words) {
  const std::lock_guard held(lock);
  void* stream = (void*)words.back();
  if (name == "cuMemFreeAsync") {
    if (!graph_addresses.contains(words[0])) return kInvalidValue;
    keep(stream, {11, 0, nullptr, words[0]});
    return 0;
  }
  *as<Address*>(words, 0) = next_address;
  graph_addresses.insert(next_address);
  keep(stream, {10, words[1], nullptr, next_address});
  next_address += (words[1] + 511) / 512 * 512;
  return 0;
}

inline int act_on_memory(std::string_view name, const Words& words) {
  if (is_one_of(name, {"cuMemAllocAsync", "cuMemAllocFromPoolAsync", "cuMemFreeAsync"}) &&
      captures((void*)words.back()))
    return capture_memory(name, words);
  if (is_one_of(name, {"cuMemAlloc", "cuMemAllocManaged", "cuMemAllocAsync",
                       "cuMemAllocFromPoolAsync", "cuMemCreate"}))
    return make_memory(as<Address*>(words, 0), as<std::size_t>(words, 1));
  if (name == "cuMemAllocPitch") return make_pitched(words);
  if (is_one_of(name, {"cuArrayCreate", "cuArray3DCreate", "cuMipmappedArrayCreate"}))
    return make_memory(as<Address*>(words, 0), 1);
  if (is_one_of(name, {"cuMemFree", "cuMemFreeAsync", "cuMemRelease", "cuArrayDestroy",
                       "cuMipmappedArrayDestroy"}))
    return free_memory(as<Address>(words, 0));
  if (is_one_of(name, {"cuMemHostAlloc", "cuMemAllocHost"}))
    *as<void**>(words, 0) = std::malloc(as<std::size_t>(words, 1));
  if (name == "cuMemFreeHost") std::free(as<void*>(words, 0));
  return 0;
}

inline int end_capture(const Words& words) {
  Stream* stream = stream_at(as<void*>(words, 0));
  if (stream == nullptr || stream->capturing == nullptr) return kInvalidValue;
  const std::lock_guard held(lock);
  capturing.erase(stream);
  *as<void**>(words, 1) = stream->capturing;
  stream->capturing = nullptr;
  return stream->invalid ? kInvalidated : 0;
}

inline auto& events = *new std::set<Event*>;  // under `lock`
inline std::size_t most_events = 0;           // that there were at a time

inline void make_event(void** made) {
  const std::lock_guard held(lock);
  auto* event = new Event{0, current};
  events.insert(event);
  most_events = std::max(most_events, events.size());
  *made = event;
}

// A context takes its events with it. Who uses one that is gone is wrong, and falls.
inline void check_event(void* event) {
  const std::lock_guard held(lock);
  if (!events.contains(static_cast<Event*>(event))) std::abort();
}
inline void end_events(Context* of) {
  const std::lock_guard held(lock);
  std::erase_if(events, [of](const Event* event) { return event->of == of; });
}

// The device is always ready, and each launch takes it kKernelNs.
inline int act_on_events(std::string_view name, const Words& words) {
  if (name.starts_with("cuEventCreate")) {
    make_event(as<void**>(words, 0));
    return 0;
  }
  check_event(as<void*>(words, 0));
  if (name == "cuEventDestroy") {
    const std::lock_guard held(lock);
    events.erase(as<Event*>(words, 0));  // nobody else gets its address
    return 0;
  }
  if (name == "cuEventQuery") {
    if (const int refused = refused_in_capture()) return refused;
    return as<Event*>(words, 0)->at <= now_ns() ? 0 : kNotReady;
  }
  if (name.starts_with("cuEventRecord"))
    as<Event*>(words, 0)->at = std::max(now_ns(), busy_until.load());
  return 0;
}

inline int begin_capture(const Words& words) {
  const std::lock_guard held(lock);
  Stream* stream = stream_at(as<void*>(words, 0));
  if (stream == nullptr) return kUnsupported;
  stream->capturing = new Graph;
  stream->invalid = false;
  capturing.insert(stream);
  return 0;
}

// --- graphs, as a real driver has them
inline bool has_memory(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node& node) { return node.type >= 10; });
}

// A graph that makes memory can be made ready once.
inline int instantiate(std::string_view name, const Words& words) {
  constexpr std::uint64_t kFreeFirst = 1;
  auto* graph = as<Graph*>(words, 1);
  if (graph->instantiated && has_memory(*graph)) return kNotSupported;
  graph->instantiated = true;
  auto* made = new Graph(*graph);
  made->id = ++graph_count;
  made->frees_first = name == "cuGraphInstantiateWithFlags" && (words[2] & kFreeFirst) != 0;
  *as<void**>(words, 0) = made;
  return 0;
}

// To a graph of the same form: its addresses and sizes are those of the other then.
inline int update_graph(const Words& words) {
  auto &made = *as<Graph*>(words, 0), &graph = *as<Graph*>(words, 1);
  const auto same = [](const Node& a, const Node& b) { return a.type == b.type; };
  if (!std::equal(made.nodes.begin(), made.nodes.end(), graph.nodes.begin(), graph.nodes.end(),
                  same))
    return kUpdateFailed;
  made.nodes = graph.nodes;
  graph.instantiated = true;
  return 0;
}

inline bool is_there(Address at) {
  const std::lock_guard held(lock);
  return allocations.contains(at);
}

// What a launch left has to be freed before the next one, unless the graph does that.
inline int launch_graph(const Words& words) {
  if (captures(as<void*>(words, 1))) {
    stream_at(as<void*>(words, 1))->invalid = true;
    return kUnsupported;
  }
  const auto& graph = *as<const Graph*>(words, 0);
  for (const Node& node : graph.nodes) {
    if (node.type == 10 && is_there(node.at) && !graph.frees_first) return kInvalidValue;
  }
  for (const Node& node : graph.nodes) {
    if (node.type >= 10 && is_there(node.at)) free_memory(node.at);
    if (node.type != 10) continue;
    const std::lock_guard held(lock);
    allocations[node.at] = node.bytes;
    in_use += node.bytes;
  }
  return 0;
}

inline int act_on_graphs(std::string_view name, const Words& words) {
  if (name.starts_with("cuGraphInstantiate")) return instantiate(name, words);
  if (name == "cuGraphExecUpdate") return update_graph(words);
  return name == "cuGraphLaunch" ? launch_graph(words) : 0;
}

inline int act_on_streams(std::string_view name, const Words& words) {
  if (is_one_of(name, {"cuStreamCreate", "cuStreamCreateWithPriority"}))
    *as<void**>(words, 0) = new Stream{next_stream++};
  if (name == "cuStreamDestroy") delete as<Stream*>(words, 0);
  if (name == "cuStreamBeginCapture") return begin_capture(words);
  if (name == "cuStreamEndCapture") return end_capture(words);
  if (name == "cuStreamQuery") return kNotReady;
  if (name.starts_with("cuEvent")) return act_on_events(name, words);
  if (name.starts_with("cuGraph")) return act_on_graphs(name, words);
  if (name.starts_with("cuMemcpy") && name.ends_with("Async") && words.size() == 4)
    keep(as<void*>(words, 3), {1, words[2]});
  return 0;
}

inline int act_on_code(std::string_view name, const Words& words) {
  if (name.starts_with("cuModuleLoad") || name.starts_with("cuLibraryLoad"))
    *as<void**>(words, 0) = new int(0);
  if (is_one_of(name, {"cuModuleGetFunction", "cuLibraryGetKernel"}))
    *as<void**>(words, 0) = new Function{as<const char*>(words, 2), name == "cuLibraryGetKernel"};
  if (name == "cuLaunchKernel" && capture_is_invalid(as<void*>(words, 8))) return kInvalidated;
  if (name == "cuLaunchKernel" &&
      !keep(as<void*>(words, 8), {0, 0, as<Function*>(words, 0)->name.c_str()}))
    busy_until = std::max(now_ns(), busy_until.load()) + kKernelNs;
  return 0;
}

// Until the device has done what it was given.
inline void wait_for_device() {
  while (now_ns() < busy_until) sched_yield();
}

inline int act_on_contexts(std::string_view name, const Words& words) {
  if (name == "cuDevicePrimaryCtxRetain") *as<void**>(words, 0) = &primary[words[1]];
  if (is_one_of(name, {"cuCtxSetCurrent", "cuCtxPushCurrent"})) current = as<Context*>(words, 0);
  if (name == "cuCtxCreate") {
    current = new Context{static_cast<int>(words.back())};
    *as<void**>(words, 0) = current;
  }
  if (name == "cuCtxDestroy") {
    end_events(as<Context*>(words, 0));
    if (current == as<Context*>(words, 0)) current = nullptr;
    delete as<Context*>(words, 0);
  }
  return 0;
}

// Which part of the driver a function belongs to, by its name alone: every symbol of the table
// comes here.
inline int act(std::string_view name, const Words& words) {
  if (name == "cuInit") {
    initialised = true;
    return 0;
  }
  if (name == "cuDriverGetVersion") {
    *as<int*>(words, 0) = 13000;
    return 0;
  }
  if (!initialised) return kNotInitialised;
  if (name.starts_with("cuCtx") || name.starts_with("cuDevice")) {
    if (name == "cuCtxSynchronize") wait_for_device();
    return act_on_contexts(name, words);
  }
  if (current == nullptr) return kInvalidContext;
  if (name.ends_with("Synchronize")) wait_for_device();
  if (name.starts_with("cuModule") || name.starts_with("cuLibrary") || name.starts_with("cuLaunch"))
    return act_on_code(name, words);
  if (name.starts_with("cuMemcpy") || name.starts_with("cuMemset"))
    return act_on_streams(name, words);
  if (name.starts_with("cuMem") || name.starts_with("cuArray") || name.starts_with("cuMipmapped"))
    return act_on_memory(name, words);
  return act_on_streams(name, words);
}

}  // namespace fake
