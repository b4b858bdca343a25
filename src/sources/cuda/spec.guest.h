// SPDX-License-Identifier: MIT
// What the rows of cuda.calls.h say about a function of the CUDA driver, and which fields its
// records have. The counterpart of guest/call.h: handles and device pointers instead of
// descriptors and paths.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "guest/schema_text.h"
#include "wire/spool.h"

namespace fathom::guest::cuda {

// Types of the driver's interface, as far as its calls pass them: our own, no SDK is needed.
using Handle = void*;       // contexts, streams, events, functions, modules, graphs, arrays
using Address = uint64_t;   // CUdeviceptr
using Physical = uint64_t;  // CUmemGenericAllocationHandle
using Location = uint64_t;  // CUmemLocation: two ints that are passed in one register

// The begin of a CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared;
  Handle stream;
};
static_assert(offsetof(LaunchConfig, stream) == 32);

// How many bytes a call is about.
enum class Amount : uint8_t {
  kNone,
  kArgument,    // the argument `size`
  kElements,    // the argument `size`, times `unit`
  kRows,        // the arguments `size` (width) and the next one (height), times `unit`
  kPitch,       // the pitch that came out (argument `size`), times the height (two further on)
  kList,        // an array of sizes (argument `size`) and its length (the next argument)
  kCopy2D,      // a CUDA_MEMCPY2D at argument `size`
  kCopy3D,      // a CUDA_MEMCPY3D or its peer form
  kCopies3D,    // a count at argument `size`, and that many operations of 112 bytes
  kDecompress,  // operations of 64 bytes at argument `size`, and their count
  kArray,       // a CUDA_ARRAY_DESCRIPTOR
  kArray3D,     // a CUDA_ARRAY3D_DESCRIPTOR
  kMipmap,      // the same, and the number of levels behind it
  kFreed,       // what the address or handle in argument `subject` was made with
};

// Which way a copy goes; the order is that of kDirections, from 1 on.
enum class Direction : uint8_t {
  kNone,
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kHostToHost,
  kPeer,
  kDescriptor,  // as the descriptor of kCopy2D, kCopy3D says
  kPointers,    // asked of the driver: argument 0 is the target, argument 1 the origin
  kLists,       // the same, of the first ones of two arrays
};
inline constexpr const char* kDirections = "HtoD,DtoH,DtoD,HtoH,peer";

// What memory an allocation makes; the order is that of kMemories, from 1 on.
enum class Memory : uint8_t {
  kNone,
  kDevice,
  kManaged,
  kPool,
  kPhysical,
  kArray,
  kHost,
  kRegistered,
  kGraph,
  kKinds,
};
inline constexpr const char* kMemories = "device,managed,pool,physical,array,host,registered,graph";

enum class Effect : uint8_t {
  kNone,
  kChangesContext,  // what is current in this thread may be another one now
  kEndsContext,     // the same, and argument 0 is a context that may be gone
  kEndsPrimary,     // the same, and argument 0 is a device whose own context may be gone
  kMakesStream,     // argument 0 points at it
  kEndsStream,
  kBeginsCapture,
  kEndsCapture,
  kAllocates,      // argument 0 points at the address, or is it (kRegistered)
  kFrees,          // argument 0
  kCreates,        // physical memory: argument 0 points at the handle, argument 2 says where
  kReleases,       // a handle of physical memory
  kRetains,        // another reference to physical memory
  kMaps,           // physical memory (argument 3) at an address
  kUnmaps,         // a range of addresses
  kNamesFunction,  // argument 0 points at a kernel of module argument 1, argument 2 is its name
  kAliasesKernel,  // argument 0 points at what argument 1 is called, too
  kUnloads,        // a module or library
  kInstantiates,   // argument 0 points at an executable graph of graph argument 1
  kUpdatesGraph,   // argument 0 is an executable graph that becomes one of graph argument 1
  kDestroysGraph,
  kLaunchesGraph,
  kInitialises,  // the driver
  kSwitchesOn,   // the recording of what the device does, by the program
  kSwitchesOff,
};

enum class Launch : uint8_t { kNone, kArguments, kConfig };

constexpr int8_t kNoStream = -1;
constexpr int8_t kDefaultStream = -2;  // a call without a stream that uses the default one

struct Spec {
  const char* name;   // the plain name, as SQL shows it
  const char* entry;  // the symbol
  const char* category;
  uint16_t kind = 0;
  fathom_source source = FATHOM_SOURCE_CUDA;
  const char* layer = "cuda";
  bool placed = true;  // its record says device and context
  int8_t stream = kNoStream;
  Amount amount = Amount::kNone;
  int8_t size = -1;
  uint8_t unit = 1;
  bool moves = false;  // the bytes move, or are set
  Direction direction = Direction::kNone;
  Launch launch = Launch::kNone;
  Effect effect = Effect::kNone;
  Memory memory = Memory::kNone;
};

constexpr bool changes_context(const Spec& s) {
  return s.effect == Effect::kChangesContext || s.effect == Effect::kEndsContext ||
         s.effect == Effect::kEndsPrimary;
}
constexpr bool has_stream(const Spec& s) { return s.stream != kNoStream; }
constexpr bool has_size(const Spec& s) { return s.amount != Amount::kNone; }
constexpr bool has_memory(const Spec& s) {
  return s.effect == Effect::kAllocates || s.effect == Effect::kFrees ||
         s.effect == Effect::kCreates || s.effect == Effect::kReleases ||
         s.effect == Effect::kUnmaps;
}
constexpr bool has_graph(const Spec& s) { return s.effect == Effect::kLaunchesGraph; }
// Whether the program waits for the device in it.
constexpr bool waits(const Spec& s) { return is_text(s.category, "sync"); }
// Whether the device has work by it, or is waited for.
constexpr bool has_work(const Spec& s) {
  const bool launches =
      is_text(s.category, "launch") && (s.launch != Launch::kNone || s.stream != 0);
  return launches || has_graph(s) || s.moves || waits(s);
}
// Whether its records say by which number the device's work, or a wait for it, is known (column
// correlation): the driver waits in calls of any kind, so all may have one but look-ups.
constexpr bool has_number(const Spec& s) { return s.placed; }
// Whether work that is captured into a graph looks the same as work that runs.
constexpr bool may_be_captured(const Spec& s) { return s.stream >= 0; }

// Whether the entry point is one of those for which stream 0 is the thread's own.
constexpr bool per_thread(const Spec& s) {
  const char* end = s.entry;
  while (*end != 0) end++;
  return end - s.entry > 5 && end[-5] == '_' && end[-4] == 'p' && end[-3] == 't';
}

// A line of the schema, with the fields in the order in which `write_call` puts them.
constexpr void put_schema(SchemaWriter& writer, const Spec& s) {
  writer.put_number(s.kind);
  writer.put('\t');
  writer.put_number(s.source);
  for (const char* column : {s.layer, s.name, s.entry, s.category}) {
    writer.put('\t');
    writer.put(column);
  }
  writer.put(s.moves ? "\tmoves,errors=cuda" : "\terrors=cuda");
  if (s.placed) {
    writer.put("\tdevice");
    writer.put_argument("context", "flag");
  }
  if (has_stream(s)) writer.put("\tstream");
  if (has_number(s)) writer.put("\tcorrelation");
  if (has_size(s)) writer.put("\tsize");
  if (s.direction != Direction::kNone) {
    writer.put_argument("direction", "choice:");
    writer.put(kDirections);
  }
  if (has_memory(s)) {
    writer.put_argument("memory", "choice:");
    writer.put(kMemories);
    writer.put_argument("in_use", "int");
  }
  if (s.launch != Launch::kNone) {
    writer.put_argument("kernel", "text");
    writer.put_argument("grid", "extent");
    writer.put_argument("block", "extent");
    writer.put_argument("shared_memory", "int");
  }
  if (has_graph(s)) {
    for (const char* key :
         {"graph", "graph_kernels", "graph_copies", "graph_bytes", "graph_memory", "in_use"})
      writer.put_argument(key, "flag");
    writer.put_argument("memory", "choice:");
    writer.put(kMemories);
  }
  if (may_be_captured(s)) writer.put_argument("capturing", "flag");
  writer.put('\n');
}

}  // namespace fathom::guest::cuda
