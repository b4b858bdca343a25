// SPDX-License-Identifier: MIT
// What graphs hold: counted when one is made ready to be launched, and when it is updated, from the
// nodes of the graph that it is made of. Single nodes that are changed afterwards
// (cuGraphExecKernelNodeSetParams and the like) are not followed.
#include <sys/mman.h>

#include "guest/runtime.h"
#include "sources/cuda/amounts.guest.h"
#include "sources/cuda/driver.guest.h"
#include "sources/cuda/handles.guest.h"
#include "sources/cuda/own_work.guest.h"
#include "sources/cuda/state.guest.h"

namespace fathom::guest::cuda {
namespace {

constinit HandleTable<1u << 12> graphs;
constinit uint32_t graph_count = 0;  // atomic

// A graph that has more, or lies deeper, is counted in part: this is done in the call that makes
// it, which the program waits for.
constexpr size_t kMostNodes = 1u << 20;
constexpr uint32_t kMostMemoryNodes = 1u << 12;
constexpr int kDeepestGraph = 8;
// Of CUgraphNodeType, those that are counted.
enum NodeType : int {
  kKernelNode = 0,
  kCopyNode = 1,
  kChildGraph = 4,
  kAllocationNode = 10,
  kFreeNode = 11
};

uint64_t key_of(Handle handle) { return reinterpret_cast<uintptr_t>(handle); }

// Of `count` things, for as long as it lives; nullptr where there is no memory.
template <class T>
class Room {
 public:
  explicit Room(size_t count) : bytes_(count * sizeof(T)) {
    at_ = static_cast<T*>(
        sys_mmap(bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
  }
  ~Room() {
    if (at_ != nullptr) sys_munmap(at_, bytes_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  [[nodiscard]] T* get() const { return at_; }

 private:
  size_t bytes_;
  T* at_;
};

struct MemoryNode {
  Address at;     // 0: settled with another
  uint64_t size;  // 0: it is given back
  int device;
};

// What a graph was found to hold.
struct Counted {
  uint64_t kernels = 0, copies = 0, bytes = 0;
  MemoryNode* memory = nullptr;
  uint32_t memory_nodes = 0;
};

void add_memory(Counted& counted, const MemoryNode& node) {
  if (counted.memory != nullptr && counted.memory_nodes < kMostMemoryNodes) {
    counted.memory[counted.memory_nodes++] = node;
  } else {
    count_loss(FATHOM_SOURCE_CUDA, FATHOM_LOSS_UNMATCHED);
  }
}

// A CUDA_MEM_ALLOC_NODE_PARAMS of 120 bytes, where the allocation lies at bytes 8 and 12 as that of
// a pool does.
void count_allocation(Handle node, Counted& counted) {
  constexpr uint32_t kOnDevice = 1;
  uint64_t allocation[32] = {};
  if (asked.node_allocation == nullptr || asked.node_allocation(node, allocation) != 0) return;
  const bool on_device = half_at(allocation, 8) == kOnDevice;
  add_memory(counted, {word_at(allocation, 112), word_at(allocation, 104),
                       on_device ? static_cast<int>(half_at(allocation, 12)) : kNoDevice});
}

void count_free(Handle node, Counted& counted) {
  Address at = 0;
  if (asked.node_freed != nullptr && asked.node_freed(node, &at) == 0)
    add_memory(counted, {at, 0, kNoDevice});
}

void count_copy(Handle node, Counted& counted) {
  counted.copies++;
  uint64_t copy[32] = {};  // a CUDA_MEMCPY3D of 200 bytes
  if (asked.node_copy != nullptr && asked.node_copy(node, copy) == 0)
    counted.bytes += copy_3d_bytes(copy);
}

void count_nodes(Handle graph, Counted& counted, int depth);

void count_node(Handle node, Counted& counted, int depth) {
  int type = -1;
  Handle child = nullptr;
  if (asked.node_type(node, &type) != 0) return;
  if (type == kKernelNode) counted.kernels++;
  if (type == kCopyNode) count_copy(node, counted);
  if (type == kAllocationNode) count_allocation(node, counted);
  if (type == kFreeNode) count_free(node, counted);
  if (type == kChildGraph && asked.node_graph != nullptr && asked.node_graph(node, &child) == 0)
    count_nodes(child, counted, depth + 1);
}

void count_nodes(Handle graph, Counted& counted, int depth) {
  size_t count = 0;
  if (depth > kDeepestGraph || asked.graph_nodes(graph, nullptr, &count) != 0) return;
  if (count == 0 || count > kMostNodes) return;
  const Room<Handle> nodes(count);
  if (nodes.get() == nullptr || asked.graph_nodes(graph, nodes.get(), &count) != 0) return;
  for (size_t i = 0; i < count; i++) count_node(nodes.get()[i], counted, depth);
}

// What the graph makes and gives back itself is nobody else's.
void settle_memory(const Counted& counted) {
  MemoryNode* const end = counted.memory + counted.memory_nodes;
  for (MemoryNode* freed = counted.memory; freed < end; freed++) {
    if (freed->size != 0) continue;
    for (MemoryNode* made = counted.memory; made < end; made++) {
      if (made->size == 0 || made->at != freed->at) continue;
      made->at = freed->at = 0;
      break;
    }
  }
}

// What it gives back comes first, so that what is in use last is right.
void keep_memory(const Counted& counted, uint32_t graph) {
  uint32_t turn = 0;
  for (const bool made : {false, true}) {
    for (uint32_t i = 0; i < counted.memory_nodes; i++) {
      const MemoryNode& node = counted.memory[i];
      if (node.at == 0 || (node.size != 0) != made) continue;
      graph_keeps(graph, turn++, {Memory::kGraph, node.device, node.size}, node.at);
    }
  }
}

uint64_t at_most(uint64_t value, uint64_t most) { return value < most ? value : most; }

// 24 bits of number and of kernels, 16 of copies.
void note_graph(Handle made, Handle graph, uint32_t id) {
  if (asked.graph_nodes == nullptr || asked.node_type == nullptr) return;
  const OwnWork own_work;
  const Room<MemoryNode> memory(kMostMemoryNodes);
  Counted counted{.memory = memory.get()};
  count_nodes(graph, counted, 0);
  settle_memory(counted);
  // Of an update: what it kept before is another graph's now.
  graph_keeps_nothing(id);
  keep_memory(counted, id);
  graphs.put(key_of(made),
             {static_cast<uint64_t>(id) << 40 | at_most(counted.kernels, 0xffffff) << 16 |
                  at_most(counted.copies, 0xffff),
              counted.bytes});
}

}  // namespace

void graph_made(Handle made, Handle graph) {
  graph_ends(made);  // one whose end went unseen had the same handle
  note_graph(made, graph, __atomic_add_fetch(&graph_count, 1, __ATOMIC_RELAXED) & 0xffffffu);
}

void graph_updated(Handle made, Handle graph) {
  const uint32_t id = graph_of(made).id;
  if (id != 0) note_graph(made, graph, id);
}

void graph_ends(Handle made) {
  const Known known = graphs.take(key_of(made));
  if (known.first != 0) graph_keeps_nothing(static_cast<uint32_t>(known.first >> 40));
}

Graph graph_of(Handle made) {
  const Known known = graphs.find(key_of(made));
  return {static_cast<uint32_t>(known.first >> 40),
          static_cast<uint32_t>(known.first >> 16) & 0xffffffu,
          static_cast<uint32_t>(known.first) & 0xffffu, known.second};
}

}  // namespace fathom::guest::cuda
