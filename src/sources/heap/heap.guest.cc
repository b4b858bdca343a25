// SPDX-License-Identifier: MIT
// Layer heap: the malloc family, whose calls are added up (guest/sums.h). Only libfathom_heap.so
// and libpfinterpose_heap.so have these hooks, so that a program which is not asked about them
// calls its allocator as ever.
//
// The originals are whatever comes behind us: libc's, or an allocator that the program brought
// along. Neither is called by us for ourselves. Looking for them takes memory, which comes from
// EarlyMemory; such calls, and those that libc makes for the end of a thread, are not counted.
#include "guest/binding.h"
#include "guest/call.h"
#include "guest/sums.h"
#include "sources/heap/early.guest.h"
#include "sources/kinds.h"

namespace fathom::guest {
namespace heap {
namespace {

FATHOM_COLD bool wake_up_heap() { return !originals_are_sought() && wake_up(FATHOM_SOURCE_HEAP); }

template <const Spec& S>
FATHOM_HOT bool counts() {
  const bool on = FATHOM_LIKELY(guest.live->on[S.source]) ? tls.apart == 0 : wake_up_heap();
  return on && FATHOM_LIKELY(!guest.filtered || call_wanted(S.kind));
}

// Whether the original is known by now. Never waits for whoever looks for it: that may be us.
template <class Original>
FATHOM_COLD bool find(Original& original) {
  if (!originals_are_sought()) resolve_originals();
  return original != nullptr;
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
  constexpr unsigned place = S.kind - kFirstHeapKind;
  static_assert(place < kSummed);
  add_call(S.source, place, S.kind, {begin, end, failed ? 0 : bytes, failed});
}

template <const Spec& S, class... A>
FATHOM_COLD auto early_call(A... a) {
  const size_t bytes = bytes_asked<S>(a...);
  if constexpr (S.ret == Ret::kErrno) {  // posix_memalign
    void* memory = EarlyMemory::take(argument<1>(a...), bytes);
    if (memory == nullptr) return ENOMEM;
    *argument<0>(a...) = memory;
    return 0;
  } else if constexpr (sizeof...(A) == 2 && S.count < 0) {  // memalign, aligned_alloc
    return EarlyMemory::take(argument<0>(a...), bytes);
  } else {
    constexpr bool pages = S.entry[0] == 'v' || S.entry[1] == 'v';  // valloc, pvalloc
    return EarlyMemory::take(pages ? 4096 : 1, bytes);
  }
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
  if (FATHOM_UNLIKELY(original == nullptr) && !find(original)) return early_call<S>(a...);
  return counts<S>() ? timed<S>(original, a...) : original(a...);
}

}  // namespace

#define FATHOM_TABLE "sources/heap/heap.calls.h"
#define FATHOM_TABLE_SOURCE FATHOM_SOURCE_HEAP
#define FATHOM_TABLE_LAYER "heap"
#define FATHOM_TABLE_FIRST kFirstHeapKind
#define FATHOM_TABLE_HOOKS
#define FATHOM_TABLE_BODY summed
#include "guest/call_table.inc"

namespace {

// Memory that is not the allocator's to move.
FATHOM_COLD void* move_early(void* memory, size_t size) {
  void* fresh = hook_malloc(size);
  if (memory == nullptr || fresh == nullptr) return fresh;
  const size_t before = EarlyMemory::size_of(memory);
  return memcpy(fresh, memory, before < size ? before : size);
}

// What libc's does, without coming by our realloc: it would count there once more. One that the
// allocator brought along does the same.
FATHOM_HOT void* realloc_array(void* memory, size_t count, size_t size) {
  size_t bytes = 0;
  return FATHOM_UNLIKELY(__builtin_mul_overflow(count, size, &bytes))
             ? original_reallocarray(memory, count, size)  // it knows how to refuse
             : original_realloc(memory, bytes);
}

}  // namespace

extern "C" void* hook_realloc(void* memory, size_t size) {
  if (FATHOM_UNLIKELY(original_realloc == nullptr) && !find(original_realloc))
    return memory == nullptr || EarlyMemory::holds(memory) ? move_early(memory, size) : nullptr;
  if (FATHOM_UNLIKELY(EarlyMemory::holds(memory))) return move_early(memory, size);
  return counts<spec_realloc>() ? timed<spec_realloc>(original_realloc, memory, size)
                                : original_realloc(memory, size);
}

extern "C" void* hook_reallocarray(void* memory, size_t count, size_t size) {
  const bool known = (original_realloc != nullptr && original_reallocarray != nullptr) ||
                     (find(original_realloc) && find(original_reallocarray));
  if (FATHOM_UNLIKELY(!known || EarlyMemory::holds(memory))) {
    size_t bytes = 0;
    if (!__builtin_mul_overflow(count, size, &bytes)) return hook_realloc(memory, bytes);
    errno = ENOMEM;
    return nullptr;
  }
  return counts<spec_reallocarray>() ? timed<spec_reallocarray>(realloc_array, memory, count, size)
                                     : realloc_array(memory, count, size);
}

extern "C" void hook_free(void* memory) {
  if (FATHOM_UNLIKELY(EarlyMemory::holds(memory))) return;
  if (FATHOM_UNLIKELY(original_free == nullptr) && !find(original_free)) return;
  if (!counts<spec_free>()) return original_free(memory);
  const uint64_t begin = tick();
  original_free(memory);
  add<spec_free>(begin, tick(), 0, false);
}

}  // namespace heap

extern const Bindings kHeapBindings;
const Bindings kHeapBindings{heap::kBindings, sizeof heap::kBindings / sizeof *heap::kBindings};

}  // namespace fathom::guest
