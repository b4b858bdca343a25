// SPDX-License-Identifier: MIT
// Memory in use, by device and kind. An allocation counts when the call worked, under the address
// that came back; freeing nothing changes nothing.
#include <string.h>

#include "guest/runtime.h"
#include "sources/cuda/handles.guest.h"
#include "sources/cuda/state.guest.h"

namespace fathom::guest::cuda {
namespace {

constexpr int kDevices = 64;
constexpr auto kKinds = static_cast<size_t>(Memory::kKinds);

constinit int64_t in_use[kDevices + 1][kKinds] = {};  // atomic; memory of no device is in row 0
constinit HandleTable<1u << 17> allocations;          // size; kind and device
constinit HandleTable<1u << 14> handles;              // of physical memory: which it is
constinit HandleTable<1u << 14> pieces;               // physical memory: size; uses and device
constinit HandleTable<1u << 14> mappings;             // addresses: which physical memory; size
constinit uint64_t piece_count = 0;                   // atomic

int64_t add_in_use(const Account& account, int64_t bytes) {
  const bool known = account.device >= 0 && account.device < kDevices;
  int64_t& place = in_use[known ? account.device + 1 : 0][static_cast<size_t>(account.memory)];
  return __atomic_add_fetch(&place, bytes, __ATOMIC_RELAXED);
}

uint64_t pack(Memory memory, int device) {
  return static_cast<uint64_t>(memory) << 32 | static_cast<uint32_t>(device + 1);
}

Account unpack(const Known& known) {
  Account account;
  if (known.first == 0) return account;
  account.memory = static_cast<Memory>(known.second >> 32);
  account.device = static_cast<int>(static_cast<uint32_t>(known.second)) - 1;
  account.size = known.first;
  return account;
}

}  // namespace

Account memory_made(uint64_t at, uint64_t size, Memory memory, int device) {
  // It lies in the machine's memory, whichever context made it.
  if (memory == Memory::kHost || memory == Memory::kRegistered) device = kNoDevice;
  Account account{memory, device, size};
  if (at == 0 || size == 0) return account;
  if (!allocations.put(at, {size, pack(memory, device)})) {
    count_loss(FATHOM_SOURCE_CUDA, FATHOM_LOSS_UNMATCHED);
    return account;
  }
  account.in_use = add_in_use(account, static_cast<int64_t>(size));
  return account;
}

Account memory_leaves(uint64_t at) { return unpack(allocations.take(at)); }

// Freeing it failed: it is put back as it was.
void memory_stays(uint64_t at, const Account& account) {
  if (account.size != 0) allocations.put(at, {account.size, pack(account.memory, account.device)});
}

int64_t memory_left(const Account& account) {
  return account.size != 0 ? add_in_use(account, -static_cast<int64_t>(account.size)) : 0;
}

namespace {

constexpr uint64_t kOneUse = UINT64_C(1) << 32;
// Small keys mean something else to the table (HandleTable::kTaken).
uint64_t key_of_piece(uint64_t number) { return number << 8; }

void use_piece(uint64_t number) {
  const Known known = pieces.find(key_of_piece(number));
  if (known.first != 0) pieces.put(key_of_piece(number), {known.first, known.second + kOneUse});
}

// What goes when the last handle and the last mapping are gone.
Account drop_piece(uint64_t number) {
  const Known known = pieces.find(key_of_piece(number));
  if (known.first == 0) return {};
  if (known.second >= 2 * kOneUse) {
    pieces.put(key_of_piece(number), {known.first, known.second - kOneUse});
    return {};
  }
  pieces.take(key_of_piece(number));
  Account account{Memory::kPhysical, static_cast<int>(static_cast<uint32_t>(known.second)) - 1,
                  known.first};
  account.in_use = memory_left(account);
  return account;
}

}  // namespace

Account physical_made(Physical handle, uint64_t size, const void* properties) {
  int location[2] = {};  // type and id, at byte 8 of CUmemAllocationProp
  constexpr int kOnDevice = 1;
  memcpy(location, static_cast<const char*>(properties) + 8, sizeof location);
  const int device = location[0] == kOnDevice ? location[1] : kNoDevice;
  Account account{Memory::kPhysical, device, size};
  const uint64_t number = __atomic_add_fetch(&piece_count, 1, __ATOMIC_RELAXED);
  if (size == 0 ||
      !pieces.put(key_of_piece(number), {size, kOneUse | static_cast<uint32_t>(device + 1)}) ||
      !handles.put(handle, {number, 0})) {
    count_loss(FATHOM_SOURCE_CUDA, FATHOM_LOSS_UNMATCHED);
    return account;
  }
  account.in_use = add_in_use(account, static_cast<int64_t>(size));
  return account;
}

// A handle that the driver gives out once more has a use more; its second value counts those beyond
// the first.
void physical_retained(Physical handle) {
  const Known known = handles.find(handle);
  if (known.first != 0) handles.put(handle, {known.first, known.second + 1});
}

Account physical_released(Physical handle) {
  const Known known = handles.find(handle);
  if (known.first == 0) return {};
  if (known.second > 0) {
    handles.put(handle, {known.first, known.second - 1});
    return {};
  }
  handles.take(handle);
  return drop_piece(known.first);
}

void physical_mapped(Address at, uint64_t size, Physical handle) {
  const Known known = handles.find(handle);
  if (known.first == 0 || !mappings.put(at, {known.first, size})) return;
  use_piece(known.first);
}

// One call may take away several mappings that lie behind each other.
Account physical_unmapped(Address at, uint64_t size) {
  Account sum;
  for (uint64_t done = 0; done < size;) {
    const Known known = mappings.take(at + done);
    if (known.first == 0 || known.second == 0) break;
    const Account gone = drop_piece(known.first);
    if (gone.size != 0) {
      const uint64_t before = sum.size;
      sum = gone;
      sum.size += before;
    }
    done += known.second;
  }
  return sum;
}

namespace {

constinit HandleTable<1u << 14> kept;  // by graph and turn: address; size and device, or 0

uint64_t key_of_kept(uint32_t graph, uint32_t turn) {
  return static_cast<uint64_t>(graph) << 32 | turn;
}

}  // namespace

void graph_keeps(uint32_t graph, uint32_t turn, const Account& account, Address at) {
  const uint64_t what = account.size != 0
                            ? account.size << 8 | static_cast<uint8_t>(account.device + 1)
                            : 0;  // it is given back
  if (!kept.put(key_of_kept(graph, turn), {at, what}))
    count_loss(FATHOM_SOURCE_CUDA, FATHOM_LOSS_UNMATCHED);
}

void graph_keeps_nothing(uint32_t graph) {
  for (uint32_t turn = 0; kept.take(key_of_kept(graph, turn)).first != 0; turn++) continue;
}

// Addresses of a graph are the same in each launch. A graph that gives back by itself what its last
// launch left (CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) meets them again; all others cannot
// be launched before somebody did. One record tells of one device: that of the last allocation.
Account graph_memory_made(uint32_t graph) {
  Account sum;
  for (uint32_t turn = 0;; turn++) {
    const Known known = kept.find(key_of_kept(graph, turn));
    if (known.first == 0) break;
    const Account before = memory_leaves(known.first);
    memory_left(before);
    if (known.second == 0 && before.size == 0) continue;
    sum.memory = Memory::kGraph;
    sum.device = known.second == 0 ? before.device : static_cast<int>(known.second & UINT8_MAX) - 1;
    if (known.second == 0) continue;
    memory_made(known.first, known.second >> 8, Memory::kGraph, sum.device);
    sum.size += known.second >> 8;
  }
  if (sum.memory != Memory::kNone) sum.in_use = add_in_use(sum, 0);
  return sum;
}

}  // namespace fathom::guest::cuda
