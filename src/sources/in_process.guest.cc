// SPDX-License-Identifier: MIT
// The in-process sources: one line each below. From their tables come the schema and the bindings
// of the library.
#include <aio.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include <type_traits>

#include "guest/attach.h"
#include "guest/binding.h"
#include "guest/process.h"
#include "guest/schema.h"
#include "guest/schema_text.h"
#include "sources/cuda/results.guest.h"
#include "sources/cuda/spec.guest.h"
#include "sources/device_work.guest.h"
#include "sources/kinds.h"

namespace fathom::guest {

namespace posix {
#define FATHOM_TABLE "sources/posix/posix.calls.h"
#define FATHOM_TABLE_SOURCE FATHOM_SOURCE_POSIX
#define FATHOM_TABLE_LAYER "posix"
#define FATHOM_TABLE_FIRST kFirstPosixKind
#include "guest/call_table.inc"
#undef FATHOM_TABLE
#undef FATHOM_TABLE_SOURCE
#undef FATHOM_TABLE_LAYER
#undef FATHOM_TABLE_FIRST
}  // namespace posix

namespace heap {
#define FATHOM_TABLE "sources/heap/heap.calls.h"
#define FATHOM_TABLE_SOURCE FATHOM_SOURCE_HEAP
#define FATHOM_TABLE_LAYER "heap"
#define FATHOM_TABLE_FIRST kFirstHeapKind
#include "guest/call_table.inc"
#undef FATHOM_TABLE
#undef FATHOM_TABLE_SOURCE
#undef FATHOM_TABLE_LAYER
#undef FATHOM_TABLE_FIRST
}  // namespace heap

namespace stdio {
#define FATHOM_TABLE "sources/stdio/stdio.calls.h"
#define FATHOM_TABLE_SOURCE FATHOM_SOURCE_STDIO
#define FATHOM_TABLE_LAYER "stdio"
#define FATHOM_TABLE_FIRST kFirstStdioKind
#include "guest/call_table.inc"
#undef FATHOM_TABLE
#undef FATHOM_TABLE_SOURCE
#undef FATHOM_TABLE_LAYER
#undef FATHOM_TABLE_FIRST
}  // namespace stdio

namespace cuda {
#define FATHOM_TABLE "sources/cuda/cuda.calls.h"
#define FATHOM_TABLE_SOURCE FATHOM_SOURCE_CUDA
#define FATHOM_TABLE_LAYER "cuda"
#define FATHOM_TABLE_FIRST kFirstCudaKind
#include "guest/call_table.inc"
}  // namespace cuda

namespace {

constexpr void put_all(SchemaWriter& writer) {
  for (const Spec* spec : posix::kSpecs) writer.put_call(*spec);
  for (const Spec* spec : stdio::kSpecs) writer.put_call(*spec);
  for (const NamedKind& kind : kPythonKinds)
    writer.put_named(kind.kind, FATHOM_SOURCE_PYTHON, "python", kind.entry, kind.fields);
  for (const Spec* spec : heap::kSpecs) writer.put_summed(*spec);
  for (const cuda::ResultName& result : cuda::kResults)
    writer.put_error("cuda", result.number, cuda::kResultPrefix, result.name);
  for (const cuda::Spec* spec : cuda::kSpecs) cuda::put_schema(writer, *spec);
  for (const RuntimeCopy& copy : kRuntimeCopies) {
    writer.put_number(copy.kind);
    writer.put('\t');
    writer.put_number(FATHOM_SOURCE_CUDA);
    for (const char* column :
         {"cuda", copy.name, copy.entry, "runtime", "errors=cuda", "size", "arg:kind:int"}) {
      writer.put('\t');
      writer.put(column);
    }
    writer.put('\n');
  }
  put_device_schema(writer);
}

consteval size_t length_of_schema() {
  SchemaWriter writer{nullptr};
  put_all(writer);
  return writer.length;
}

struct SchemaBytes {
  char text[length_of_schema()];
};

consteval SchemaBytes write_schema() {
  SchemaBytes bytes{};
  SchemaWriter writer{bytes.text};
  put_all(writer);
  return bytes;
}

constexpr SchemaBytes kSchema = write_schema();

consteval uint64_t fnv1a(const SchemaBytes& bytes) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (const char letter : bytes.text)
    hash = (hash ^ static_cast<uint8_t>(letter)) * UINT64_C(0x100000001b3);
  return hash;
}

}  // namespace

const char* schema_text() { return kSchema.text; }
size_t schema_length() { return sizeof kSchema.text; }
uint64_t schema_hash() {
  constexpr uint64_t hash = fnv1a(kSchema);
  return hash;
}

// Calls of libc and of the driver: what else has a kind is no call that somebody chose.
bool is_chosen_by_name(unsigned kind) {
  return (kind >= kFirstPosixKind && kind < kFirstPythonKind) ||
         (kind >= kFirstHeapKind && kind < kFirstRuntimeKind) ||
         (kind >= kFirstCudaKind && kind < kFirstGpuKind);
}

extern const Bindings kPosixBindings;
extern const Bindings kProcessBindings;
extern const Bindings kRightsBindings;
extern const Bindings kConfinementBindings;
extern const Bindings kStdioBindings;
extern const Bindings kAnnotateBindings;
extern const Bindings kDftracerBindings;
// In libfathom_heap.so and libpfinterpose_heap.so alone.
extern const Bindings kHeapBindings __attribute__((weak, visibility("hidden")));
extern const Bindings kConnectBindings;
// In libpfinterpose.so and libpfinterpose_heap.so alone.
extern const Bindings kAlnairBindings __attribute__((weak, visibility("hidden")));
extern const Bindings kCudaBindings;
extern const Bindings kGpuBindings;

const Bindings* const kAllBindings[] = {
    &kHeapBindings,  &kLoaderBindings,   &kPosixBindings,      &kProcessBindings, &kRightsBindings,
    &kStdioBindings, &kAnnotateBindings, &kDftracerBindings,   &kConnectBindings, &kCudaBindings,
    &kGpuBindings,   &kAlnairBindings,   &kConfinementBindings};
const size_t kAllBindingsCount = std::extent_v<decltype(kAllBindings)>;

void look_for_python();  // python/interpreter.guest.cc

// Asked for by variables, and this is the library that does without.
void look_for_heap() {
  constexpr char kReason[] = "libfathom.so was loaded, not libfathom_heap.so";
  if (&kHeapBindings != nullptr || !guest.wanted[FATHOM_SOURCE_HEAP]) return;
  guest.wanted[FATHOM_SOURCE_HEAP] = guest.live->on[FATHOM_SOURCE_HEAP] = 0;
  write_meta("reason:heap", kReason, sizeof kReason - 1);
}

bool attach_for_dftracer(unsigned how);  // dftracer/run.guest.cc
void join_dftracer();
void leave_dftracer();
bool attach_for_alnair(unsigned how);  // alnair/alnair.guest.cc
void join_alnair();
void leave_alnair();

const DropIn kAllDropIns[] = {
    {attach_for_dftracer, leave_dftracer}, {attach_for_alnair, leave_alnair}, {nullptr, nullptr}};

void (*const kAllArrivals[])() = {look_for_heap, look_for_python, join_dftracer, join_alnair};
const size_t kAllArrivalsCount = std::extent_v<decltype(kAllArrivals)>;

}  // namespace fathom::guest
