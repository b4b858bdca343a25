// SPDX-License-Identifier: MIT
// CUPTI serves one tool at a time. A program that has one of its own (torch.profiler) shall find it
// free: the way to it leads through here, and we give way.
#include "guest/binding.h"
#include "guest/runtime.h"
#include "sources/gpu/cupti.guest.h"

namespace fathom::guest::gpu {

void give_way();

namespace {

int (*original_subscribe)(Subscriber*, OnCall, void*) = nullptr;
int (*original_subscribe_named)(Subscriber*, OnCall, void*, void*) = nullptr;

template <class Function>
bool find_original(Function& original, const char* symbol) {
  if (__atomic_load_n(&original, __ATOMIC_ACQUIRE) == nullptr)
    __atomic_store_n(&original, reinterpret_cast<Function>(find_in_cupti(symbol)),
                     __ATOMIC_RELEASE);
  return original != nullptr;
}

// As the driver's functions are answered for: what stands behind us, and our hook in its place.
void* answer_lookup(const Lookup& lookup, const Binding& row) {
  void* first = lookup.find(lookup.handle, row.symbol);
  if (first == nullptr) return nullptr;
  if (first == row.hook && !cupti_is_loaded()) return kAnswerNull;
  return guest.attached && guest.wanted[FATHOM_SOURCE_GPU] != 0 ? row.hook : nullptr;
}

}  // namespace
}  // namespace fathom::guest::gpu

using namespace fathom::guest::gpu;

#define FATHOM_SEEN extern "C" __attribute__((visibility("default")))

FATHOM_SEEN int hook_cuptiSubscribe(Subscriber* subscriber, OnCall callback,
                                    void* user) __asm__("cuptiSubscribe");
FATHOM_SEEN int hook_cuptiSubscribe_v2(Subscriber* subscriber, OnCall callback, void* user,
                                       void* parameters) __asm__("cuptiSubscribe_v2");

FATHOM_SEEN int hook_cuptiSubscribe(Subscriber* subscriber, OnCall callback, void* user) {
  if (!find_original(original_subscribe, "cuptiSubscribe")) return kNotInitialized;
  give_way();
  return original_subscribe(subscriber, callback, user);
}

FATHOM_SEEN int hook_cuptiSubscribe_v2(Subscriber* subscriber, OnCall callback, void* user,
                                       void* parameters) {
  if (!find_original(original_subscribe_named, "cuptiSubscribe_v2")) return kNotInitialized;
  give_way();
  return original_subscribe_named(subscriber, callback, user, parameters);
}

namespace fathom::guest {
namespace gpu {
namespace {
const Binding kRows[] = {
    {"cuptiSubscribe", reinterpret_cast<void*>(&hook_cuptiSubscribe),
     reinterpret_cast<void**>(&original_subscribe)},
    {"cuptiSubscribe_v2", reinterpret_cast<void*>(&hook_cuptiSubscribe_v2),
     reinterpret_cast<void**>(&original_subscribe_named)},
};
}  // namespace

extern const Bindings kBindings;
const Bindings kBindings{kRows, sizeof kRows / sizeof *kRows, answer_lookup};

}  // namespace gpu
}  // namespace fathom::guest
