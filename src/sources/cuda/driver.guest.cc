// SPDX-License-Identifier: MIT
// Finds the driver's functions in its own symbol table, since dlsym would allocate and would change
// dlerror for the program. Answers the program's look-ups with our hooks.
#include "sources/cuda/driver.guest.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "guest/attach.h"
#include "guest/binding.h"
#include "guest/elf_object.h"
#include "guest/runtime.h"
#include "sources/device_work.guest.h"

extern "C" __attribute__((visibility("hidden"))) void* fathom_original_dlopen;

namespace fathom::guest::cuda {

extern const Bindings kBindings;


constinit Asked asked = {};

namespace {

constexpr const char kLibrary[] = "libcuda.so";

// Functions to their rows, by open addressing. Symbols that share an address stand behind each
// other.
constexpr uint32_t kRoutes = 1024;
struct Route {
  void* function;  // atomic; nullptr: free
  const Binding* row;
};
constinit Route routes[kRoutes] = {};
constinit uintptr_t known_base = 0;  // atomic: of the driver that the originals belong to

uint32_t place_of(const void* function) {
  return static_cast<uint32_t>(
             (reinterpret_cast<uintptr_t>(function) * UINT64_C(0x9e3779b97f4a7c15)) >> 40) %
         kRoutes;
}

void add_route(void* function, const Binding* row) {
  uint32_t at = place_of(function);
  while (routes[at].function != nullptr) at = (at + 1) % kRoutes;
  routes[at].row = row;
  __atomic_store_n(&routes[at].function, function, __ATOMIC_RELEASE);
}

struct AskedRow {
  const char* symbol;
  void** function;
};
#define ROW(symbol, function) \
  { symbol, reinterpret_cast<void**>(&asked.function) }
const AskedRow kAsked[] = {
    ROW("cuCtxGetCurrent", context),
    ROW("cuCtxGetDevice", device),
    ROW("cuStreamGetId", stream_id),
    ROW("cuStreamIsCapturing", capturing),
    ROW("cuThreadExchangeStreamCaptureMode", capture_mode),
    ROW("cuFuncGetName", function_name),
    ROW("cuKernelGetName", kernel_name),
    ROW("cuPointerGetAttribute", pointer),
    ROW("cuGraphGetNodes", graph_nodes),
    ROW("cuGraphNodeGetType", node_type),
    ROW("cuGraphMemcpyNodeGetParams", node_copy),
    ROW("cuGraphChildGraphNodeGetGraph", node_graph),
    ROW("cuGraphMemAllocNodeGetParams", node_allocation),
    ROW("cuGraphMemFreeNodeGetParams", node_freed),
    ROW("cuDriverGetVersion", version),
    ROW("cuEventCreate", event_make),
    ROW("cuEventDestroy_v2", event_end),
    ROW("cuEventRecord", event_record),
    ROW("cuEventQuery", event_query),
    ROW("cuEventElapsedTime", event_between),
};
#undef ROW

// nullptr: no function of the driver that has a hook.
const Binding* row_of(const char* name) {
  const Binding* row = name[0] == 'c' && name[1] == 'u' ? find_name(name) : nullptr;
  const bool ours =
      row != nullptr && row >= kBindings.rows && row < kBindings.rows + kBindings.count;
  return ours ? row : nullptr;
}

void take_symbol(const char* name, void* function) {
  if (const Binding* row = row_of(name)) {
    add_route(function, row);
    __atomic_store_n(row->original, function, __ATOMIC_RELEASE);
  }
  for (const AskedRow& wanted : kAsked) {
    if (strcmp(wanted.symbol, name) == 0)
      __atomic_store_n(wanted.function, function, __ATOMIC_RELEASE);
  }
}

// Its own table of symbols is read, rather than dlsym asked: that would allocate, and change what
// dlerror says to the program, for each function that this driver does not have.
void take_symbols(const Object& object) {
  for (Route& route : routes) __atomic_store_n(&route.function, nullptr, __ATOMIC_RELEASE);
  const size_t count = count_symbols(object);
  for (size_t i = 0; i < count; i++) {
    const ElfW(Sym)& symbol = object.symbols[i];
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    take_symbol(object.strings + symbol.st_name,
                reinterpret_cast<void*>(object.base + symbol.st_value));
  }
}

int look_at_object(dl_phdr_info* info, size_t, void* found) {
  if (strncmp(base_name_of(info->dlpi_name), kLibrary, sizeof kLibrary - 1) != 0) return 0;
  *static_cast<bool*>(found) = true;
  if (__atomic_load_n(&known_base, __ATOMIC_ACQUIRE) == info->dlpi_addr) return 1;
  Object object;
  if (!read_object(info, object) || object.symbols == nullptr || object.strings == nullptr)
    return 0;
  take_symbols(object);
  __atomic_store_n(&known_base, info->dlpi_addr, __ATOMIC_RELEASE);
  return 1;
}

}  // namespace

// A driver that was unloaded and loaded again may lie elsewhere. The loader lets one thread at a
// time look at its list.
bool find_driver() {
  bool found = false;
  dl_iterate_phdr(look_at_object, &found);
  if (found) cuda_is_used();
  return found;
}

bool load_driver() {
  resolve(fathom_original_dlopen, "dlopen");
  const auto open = reinterpret_cast<void* (*)(const char*, int)>(fathom_original_dlopen);
  return open != nullptr && open("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr && find_driver();
}

void* hook_of(void* function, const char* name) {
  const Binding* best = nullptr;
  for (uint32_t at = place_of(function);; at = (at + 1) % kRoutes) {
    void* here = __atomic_load_n(&routes[at].function, __ATOMIC_ACQUIRE);
    if (here == nullptr) break;
    if (here != function) continue;
    const Binding* row = routes[at].row;
    if (strcmp(row->symbol, name) == 0) return row->hook;
    const bool family = strncmp(row->symbol, name, strlen(name)) == 0;
    if (best == nullptr || family) best = row;
  }
  return best != nullptr ? best->hook : function;
}

}  // namespace fathom::guest::cuda

bool fathom::guest::call_is_hooked(const char* symbol) { return cuda::row_of(symbol) != nullptr; }

int fathom::guest::driver_version() {
  int version = 0;
  return cuda::asked.version != nullptr && cuda::asked.version(&version) == 0 ? version : 0;
}

namespace fathom::guest::cuda {

namespace {

struct Owner {
  uintptr_t address;
  const char* path = "";
};

int look_for_owner(dl_phdr_info* info, size_t, void* data) {
  auto* owner = static_cast<Owner*>(data);
  if (!holds_address(info, owner->address)) return 0;
  owner->path = info->dlpi_name;
  return 1;
}

}  // namespace

bool is_drivers_own(const void* address) {
  Owner owner{reinterpret_cast<uintptr_t>(address)};
  dl_iterate_phdr(look_for_owner, &owner);
  const char* name = base_name_of(owner.path);
  for (const char* own : {kLibrary, "libcupti", "libnvperf", "libnvidia-"}) {
    if (strncmp(name, own, strlen(own)) == 0) return true;
  }
  return false;
}

// The real answer comes first. Where it is a hook of ours that is seen because the library is
// preloaded, whoever stands behind it is meant: a machine without the driver must not look as if it
// had one.
void* answer_lookup(const Lookup& lookup, const Binding& row) {
  if (guest.wanted[FATHOM_SOURCE_CUDA]) find_driver();
  void* first = lookup.find(lookup.handle, row.symbol);
  void* found = first == row.hook ? lookup.find(RTLD_NEXT, row.symbol) : first;
  if (found == nullptr) return first == nullptr ? nullptr : kAnswerNull;
  const bool hooks = guest.attached && guest.wanted[FATHOM_SOURCE_CUDA] != 0;
  return hooks && !is_drivers_own(lookup.caller) ? hook_of(found, row.symbol) : found;
}

}  // namespace fathom::guest::cuda
