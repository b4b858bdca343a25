// SPDX-License-Identifier: MIT
// Layer cuda: the hooks of the driver's functions, from the table, and the two that give out
// functions.
#include "guest/binding.h"
#include "sources/cuda/call.guest.h"

namespace fathom::guest::cuda {

#define FATHOM_TABLE "sources/cuda/cuda.calls.h"
#define FATHOM_TABLE_SOURCE CUDA
#define FATHOM_TABLE_HOOKS
#include "guest/call_table.inc"

namespace {

// The driver's own libraries ask it for functions, too, and get those.
void give_hook(int result, void** function, const char* name, const void* caller) {
  if (result != 0 || function == nullptr || *function == nullptr || name == nullptr) return;
  if (guest.live->on[FATHOM_SOURCE_CUDA] == 0 || is_drivers_own(caller)) return;
  *function = hook_of(*function, name);
}

}  // namespace
}  // namespace fathom::guest::cuda

using namespace fathom::guest::cuda;

// A definition has the visibility that it says, whatever the table's declaration said.
#define FATHOM_SEEN extern "C" __attribute__((visibility("default")))

FATHOM_SEEN int hook_cuGetProcAddress(const char* symbol, void** function, int version,
                                      uint64_t flags) {
  const int result =
      traced<spec_cuGetProcAddress>(original_cuGetProcAddress, symbol, function, version, flags);
  give_hook(result, function, symbol, __builtin_return_address(0));
  return result;
}

FATHOM_SEEN int hook_cuGetProcAddress_v2(const char* symbol, void** function, int version,
                                         uint64_t flags, int* status) {
  const int result = traced<spec_cuGetProcAddress_v2>(original_cuGetProcAddress_v2, symbol,
                                                      function, version, flags, status);
  give_hook(result, function, symbol, __builtin_return_address(0));
  return result;
}

namespace fathom::guest::cuda {
extern const Bindings kBindings;
const Bindings kBindings{bindings, std::extent_v<decltype(bindings)>, answer_lookup, fill_bindings};
}  // namespace fathom::guest::cuda
