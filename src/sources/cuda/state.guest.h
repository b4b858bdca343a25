// SPDX-License-Identifier: MIT
// What the hooks know of the driver's state: the current context, streams, the names of kernels,
// memory in use, graphs. Everything is found out when first needed and kept; each of these may be
// unknown, and then it is not said. None of them changes what the program sees.
#pragma once

#include "sources/cuda/spec.guest.h"

namespace fathom::guest::cuda {

constexpr int kNoDevice = -1;

struct Place {
  int device = kNoDevice;
  uint32_t context = 0;  // counted from 1
};
Place current_place();                    // of this thread
void context_may_change();                // in this thread
uint32_t context_number(Handle context);  // 0: not met before
void forget_context(Handle context);      // a later one may get its handle

// Ids of streams, as the driver numbers them; its default stream and the thread's own have numbers,
// too. Where it does not (before CUDA 12), those two are 1 and 2, and others count from
// kFirstStream.
constexpr uint64_t kLegacyStream = 1, kThreadStream = 2, kFirstStream = 1000;
// 0: not known. A handle that the driver refused is not asked about.
uint64_t stream_id(Handle stream, bool per_thread, bool refused);
void stream_ends(Handle stream);

void capture_begins();
void capture_ends();
bool captures_go_on();  // on any stream
bool is_capturing(Handle stream);

// Ids of texts, 0: none.
uint32_t kernel_name(Handle function, bool refused);
void name_kernel(Handle function, Handle module, const char* name);
void alias_kernel(Handle function, Handle kernel);
void module_unloads(Handle module);

// Memory that a call made or gave back, and what is in use of its kind on its device then.
struct Account {
  Memory memory = Memory::kNone;
  int device = kNoDevice;
  uint64_t size = 0;
  int64_t in_use = 0;
};
Account memory_made(uint64_t at, uint64_t size, Memory memory, int device);
// Before the call that frees: afterwards the address may be another thread's. 0 for a call that
// failed: then it is given back.
Account memory_leaves(uint64_t at);
void memory_stays(uint64_t at, const Account& account);
int64_t memory_left(const Account& account);  // in use then

Account physical_made(Physical handle, uint64_t size, const void* properties);
void physical_retained(Physical handle);
Account physical_released(Physical handle);
void physical_mapped(Address at, uint64_t size, Physical handle);
Account physical_unmapped(Address at, uint64_t size);

// Memory that a launch of a graph makes and does not give back itself, or of size 0: that another
// graph or launch made, and this one gives back. `turn` counts them, from 0.
void graph_keeps(uint32_t graph, uint32_t turn, const Account& account, Address at);
void graph_keeps_nothing(uint32_t graph);
Account graph_memory_made(uint32_t graph);  // it was launched

struct Graph {
  uint32_t id = 0;
  uint32_t kernels = 0;
  uint32_t copies = 0;
  uint64_t bytes = 0;  // of its copies
};
void graph_made(Handle made, Handle graph);
void graph_updated(Handle made, Handle graph);
void graph_ends(Handle made);
Graph graph_of(Handle made);

// Which way bytes between two addresses go, as the driver knows them.
Direction direction_between(Address to, Address from);

}  // namespace fathom::guest::cuda
