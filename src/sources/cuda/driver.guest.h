// SPDX-License-Identifier: MIT
// The CUDA driver of the process: where its functions lie, which of them have hooks, and the few
// that we ask ourselves. It is never loaded by us: a program that does not use it has none.
#pragma once

#include <stdint.h>

#include "guest/binding.h"
#include "sources/cuda/spec.guest.h"

namespace fathom::guest::cuda {

constexpr int kNoDriver = 34;      // CUDA_ERROR_STUB_LIBRARY: a function was called, none is there
constexpr int kInvalidated = 901;  // CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
constexpr int kLastCaptureEnd = 905;  // the last of those that end a capture

// Finds the originals in the driver that is loaded now, if they are not known. Whether there is
// one.
bool find_driver();

// For a program that calls a function of the driver while none is loaded: one with definitions of
// its own, which would load it now, and in whose place ours are called. Whether there is one then.
bool load_driver();

// What a program gets for a function that the driver gave out, asked for as `name`: its hook, or
// the function itself. The driver alone knows which variant a name, version and flags mean, so the
// pointer decides, and the name only between symbols that share an address.
void* hook_of(void* function, const char* name);

// Whether the address lies in a library of the driver's own: those get what they ask for.
bool is_drivers_own(const void* address);

void* answer_lookup(const Lookup& lookup, const Binding& row);

// Functions that the hooks ask; nullptr where the driver has no such.
struct Asked {
  int (*context)(Handle* context);
  int (*device)(int* device);
  int (*stream_id)(Handle stream, uint64_t* id);
  int (*capturing)(Handle stream, int* status);
  int (*capture_mode)(int* mode);  // of this thread, exchanged
  int (*function_name)(const char** name, Handle function);
  int (*kernel_name)(const char** name, Handle kernel);
  int (*pointer)(void* value, int attribute, Address at);
  int (*graph_nodes)(Handle graph, Handle* nodes, size_t* count);
  int (*node_type)(Handle node, int* type);
  int (*node_copy)(Handle node, void* copy);
  int (*node_graph)(Handle node, Handle* graph);
  int (*node_allocation)(Handle node, void* allocation);
  int (*node_freed)(Handle node, Address* at);
  int (*version)(int* version);
  int (*event_make)(Handle* event, unsigned flags);
  int (*event_end)(Handle event);
  int (*event_record)(Handle event, Handle stream);
  int (*event_query)(Handle event);
  int (*event_between)(float* milliseconds, Handle from, Handle to);
};
extern Asked asked;

}  // namespace fathom::guest::cuda
