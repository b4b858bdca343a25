// SPDX-License-Identifier: MIT
// The calls of layer `heap`, for guest/call_table.inc. No call has a record of its own: they are
// added up (guest/sums.h). Included several times.
//
//   CALL(entry, name, result, (parameters), (arguments), category, what Spec is to know)
//
// `size` and `count` tell the bytes that are asked for. CUSTOM: the hook stands in heap.guest.cc.

CALL(malloc, malloc, void*, (size_t size), (size), "allocate", .ret = Ret::kPointer, .size = 0)
CALL(calloc, calloc, void*, (size_t count, size_t size), (count, size), "allocate",
     .ret = Ret::kPointer, .size = 1, .count = 0)
CALL(realloc, realloc, void*, (void* memory, size_t size), (memory, size), "allocate",
     .ret = Ret::kPointer, .size = 1)
CUSTOM(reallocarray, reallocarray, void*, (void* memory, size_t count, size_t size),
       (memory, count, size), "allocate", .ret = Ret::kPointer, .size = 2, .count = 1)
CUSTOM(free, free, void, (void* memory), (memory), "free", .ret = Ret::kVoid)
CALL(posix_memalign, posix_memalign, int, (void** to, size_t alignment, size_t size),
     (to, alignment, size), "allocate", .ret = Ret::kErrno, .size = 2)
CALL(aligned_alloc, aligned_alloc, void*, (size_t alignment, size_t size), (alignment, size),
     "allocate", .ret = Ret::kPointer, .size = 1)
CALL(memalign, memalign, void*, (size_t alignment, size_t size), (alignment, size), "allocate",
     .ret = Ret::kPointer, .size = 1)
CALL(valloc, valloc, void*, (size_t size), (size), "allocate", .ret = Ret::kPointer, .size = 0)
CALL(pvalloc, pvalloc, void*, (size_t size), (size), "allocate", .ret = Ret::kPointer, .size = 0)
