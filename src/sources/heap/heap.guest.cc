// SPDX-License-Identifier: MIT
// Layer heap: the malloc family, whose calls are added up (guest/sums.h). Only libfathom_heap.so
// and libpfinterpose_heap.so have these hooks, so that a program which is not asked about them
// calls its allocator as ever.
//
// The originals are whatever comes behind us: libc's, or an allocator that the program brought
// along. Neither is called by us for ourselves. Calls that libc makes for the end of a thread are
// not counted.
#include "guest/binding.h"
#include "guest/call.h"
#include "guest/sums.h"

namespace fathom::guest {
namespace heap {
namespace {

template <const Spec& S>
FATHOM_HOT bool counts() {
  const bool on = FATHOM_LIKELY(guest.live->on[S.source]) ? tls.outside == 0 : wake_up(S.source);
  return on && FATHOM_LIKELY(!guest.filtered || call_wanted(S.kind));
}

template <const Spec& S, class... A>
FATHOM_HOT size_t bytes_asked(A... a) {
  size_t bytes = 0;
  if constexpr (S.size >= 0) bytes = argument<S.size>(a...);
  if constexpr (S.count >= 0) {
    if (__builtin_mul_overflow(bytes, argument<S.count>(a...), &bytes)) bytes = SIZE_MAX;
  }
  return bytes;
}

template <const Spec& S>
FATHOM_HOT void add(uint64_t begin, uint64_t end, size_t bytes, bool failed) {
  constexpr unsigned place = S.kind - FATHOM_FIRST_HEAP_KIND;
  static_assert(place < kSummed);
  add_call(S.source, place, S.kind, {begin, end, failed ? 0 : bytes, failed});
}

// A call that asked for nothing has not failed where it got nothing.
template <const Spec& S, class R, class... A>
FATHOM_HOT R timed(R (*original)(A...), A... a) {
  const size_t bytes = bytes_asked<S>(a...);
  const uint64_t begin = tick();
  const R ret = original(a...);
  const uint64_t end = tick();
  bool failed;
  if constexpr (S.ret == Ret::kErrno) {
    failed = ret != 0;
  } else {
    failed = ret == nullptr && bytes != 0;
  }
  add<S>(begin, end, bytes, failed);
  return ret;
}

template <const Spec& S, class R, class... A>
FATHOM_HOT R summed(R (*&original)(A...), A... a) {
  resolve(original, S.entry);
  return counts<S>() ? timed<S>(original, a...) : original(a...);
}

}  // namespace

#define FATHOM_TABLE "sources/heap/heap.calls.h"
#define FATHOM_TABLE_SOURCE HEAP
#define FATHOM_TABLE_HOOKS
#define FATHOM_TABLE_BODY summed
#include "guest/call_table.inc"

namespace {

// What libc's does, without coming by our realloc: it would count there once more. One that the
// allocator brought along does the same. (libc has it from 2.26 on.)
FATHOM_HOT void* realloc_array(void* memory, size_t count, size_t size) {
  size_t bytes = 0;
  if (FATHOM_LIKELY(!__builtin_mul_overflow(count, size, &bytes)))
    return original_realloc(memory, bytes);
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

extern "C" void* hook_reallocarray(void* memory, size_t count, size_t size) {
  resolve(original_realloc, "realloc");
  return counts<spec_reallocarray>() ? timed<spec_reallocarray>(realloc_array, memory, count, size)
                                     : realloc_array(memory, count, size);
}

extern "C" void hook_free(void* memory) {
  resolve(original_free, "free");
  if (!counts<spec_free>()) return original_free(memory);
  const uint64_t begin = tick();
  original_free(memory);
  add<spec_free>(begin, tick(), 0, false);
}

extern const Bindings kBindings;
const Bindings kBindings{bindings, std::extent_v<decltype(bindings)>, nullptr, fill_bindings};

}  // namespace heap
}  // namespace fathom::guest
