// SPDX-License-Identifier: MIT
// The in-process sources, from the rows of wire/sources.h: the schema, the bindings of the library
// and what is to be done after attach. Below them stands what is no source of its own and has hooks
// all the same.
#include <source_schemas.h>  // every sources/*/*.schema.h, made by CMake

#include <type_traits>

#include "guest/attach.h"
#include "guest/binding.h"
#include "guest/process.h"
#include "guest/schema.h"
#include "guest/schema_text.h"
#include "wire/record.h"
#include "wire/spool.h"

namespace fathom::guest {
namespace {

consteval bool is_in_order() {
  unsigned number = 1;
  for (const SourceRow& row : kSourceRows) {
    if (row.source != number++) return false;
  }
  return true;
}
static_assert(is_in_order(), "wire/sources.h: rows have the numbers from 1 on");
static_assert(unsigned{FATHOM_SOURCES} <= unsigned{FATHOM_SOURCE_ROOM},
              "wire/spool.h has no room for their counters");
static_assert(FATHOM_RUN_SHARED_OFFSET + sizeof(fathom_run_shared) <= FATHOM_RUN_HEADER_SIZE);
static_assert(FATHOM_POOL_SHARED_OFFSET + sizeof(fathom_run_shared) <= FATHOM_POOL_HEADER_SIZE);

consteval bool have_kinds_of_their_own() {
  bool taken[FATHOM_KIND_MASK + 1] = {};
  for (unsigned i = 0; i < FATHOM_RUNTIME_KINDS; i++) taken[FATHOM_FIRST_RUNTIME_KIND + i] = true;
  for (const SourceRow& row : kSourceRows) {
    for (unsigned kind = row.first_kind; kind < row.first_kind + row.kinds; kind++) {
      if (kind < FATHOM_KIND_FIRST || kind > FATHOM_KIND_MASK || taken[kind]) return false;
      taken[kind] = true;
    }
  }
  return true;
}
static_assert(have_kinds_of_their_own(), "wire/sources.h: ranges of kinds overlap");

constexpr void put_all(SchemaWriter& writer) {
#define ROW(number, NAME, space, ...) space::put_schema(writer);
  FATHOM_SOURCE_ROWS(ROW)
#undef ROW
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

bool is_chosen_by_name(unsigned kind) {
  for (const SourceRow& row : kSourceRows) {
    if ((row.brings & FATHOM_BRINGS_CALLS) != 0 && kind - row.first_kind < row.kinds) return true;
  }
  return false;
}

// In libfathom_heap.so and libpfinterpose_heap.so alone.
namespace heap {
extern const Bindings kBindings __attribute__((weak, visibility("hidden")));
}

#define ROW(number, NAME, space, ...) \
  namespace space {                   \
  extern const Bindings kBindings;    \
  void arrived();                     \
  }
FATHOM_SOURCE_ROWS(ROW)
#undef ROW

extern const Bindings kProcessBindings;
extern const Bindings kThreadBindings;
extern const Bindings kRightsBindings;
extern const Bindings kConfinementBindings;
extern const Bindings kDftracerBindings;
extern const Bindings kConnectBindings;
// In libpfinterpose.so and libpfinterpose_heap.so alone.
extern const Bindings kAlnairBindings __attribute__((weak, visibility("hidden")));

const Bindings* const kAllBindings[] = {
#define ROW(number, NAME, space, layer, rank, colour, what, first, kinds, needs, flags, brings, \
            ...)                                                                                \
  ((brings)&FATHOM_BRINGS_HOOKS) != 0 ? &space::kBindings : nullptr,
    FATHOM_SOURCE_ROWS(ROW)
#undef ROW
        & kLoaderBindings,
    &kProcessBindings,
    &kThreadBindings,
    &kRightsBindings,
    &kDftracerBindings,
    &kConnectBindings,
    &kAlnairBindings,
    &kConfinementBindings,
};
const size_t kAllBindingsCount = std::extent_v<decltype(kAllBindings)>;

// Asked for by variables, and this is the library that does without.
void heap::arrived() {
  constexpr char kReason[] = "libfathom.so was loaded, not libfathom_heap.so";
  if (&heap::kBindings != nullptr || !guest.wanted[FATHOM_SOURCE_HEAP]) return;
  guest.wanted[FATHOM_SOURCE_HEAP] = guest.live->on[FATHOM_SOURCE_HEAP] = 0;
  write_meta("reason:heap", kReason, sizeof kReason - 1);
}

bool attach_for_dftracer(unsigned how);  // dftracer/run.guest.cc
void join_dftracer();
void leave_dftracer();
bool attach_for_alnair(unsigned how);  // alnair/alnair.guest.cc
void join_alnair();

const DropIn kAllDropIns[] = {
    {attach_for_dftracer, leave_dftracer}, {attach_for_alnair, nullptr}, {nullptr, nullptr}};

void (*const kAllArrivals[])() = {
#define ROW(number, NAME, space, layer, rank, colour, what, first, kinds, needs, flags, brings, \
            ...)                                                                                \
  ((brings)&FATHOM_BRINGS_ARRIVAL) != 0 ? space::arrived : nullptr,
    FATHOM_SOURCE_ROWS(ROW)
#undef ROW
        join_dftracer,
    join_alnair};
const size_t kAllArrivalsCount = std::extent_v<decltype(kAllArrivals)>;

}  // namespace fathom::guest
