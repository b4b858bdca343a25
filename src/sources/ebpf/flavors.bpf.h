/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * What kernels have had for different times, under one name each. Every program is compiled twice:
 * for kernels whose hooks tell their types (tasks have storage, hashes allocate in any context, and
 * there is bpf_loop: Linux 6.1), and, with FATHOM_PLAIN, for older ones (5.8): raw tracepoints,
 * whose arguments are mere addresses, tasks in a hash, loops that the verifier follows to their
 * end, and hashes that are allocated whole. */
#pragma once

#include <stdbool.h>

#include "sources/ebpf/kernel.h"
/* after the types */
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "sources/ebpf/shared.h"

/* FATHOM_FIELD is for numbers. A pointer that is read so costs the kernel a search through all of
 * its types when the program is loaded, to see whether it may be trusted: BPF_CORE_READ takes none.
 */
#ifdef FATHOM_PLAIN
#define FATHOM_TRACEPOINT(name) SEC("raw_tp/" name)
#define FATHOM_FIELD(object, field) BPF_CORE_READ(object, field)
#define FATHOM_HASH_FLAGS 0
#define FATHOM_ROOM(typed, plain) (plain)
#define FATHOM_IS_PLAIN 1
#else
#define FATHOM_TRACEPOINT(name) SEC("tp_btf/" name)
#define FATHOM_FIELD(object, field) ((object)->field)
#define FATHOM_HASH_FLAGS BPF_F_NO_PREALLOC
#define FATHOM_ROOM(typed, plain) (typed)
#define FATHOM_IS_PLAIN 0
#endif

/* Functions that are not static are verified once for a program, and not at each of their calls.
 * They take addresses as mere numbers; what is behind one is read as anything of the kernel is. */
static __always_inline __u64 address_of(const void* pointer) {
  __u64 address = 0;
  bpf_probe_read_kernel(&address, sizeof address, &pointer); /* forgets that it is a pointer */
  return address;
}

/* step(i, context) until it says 1, at most so often. */
#ifdef FATHOM_PLAIN
#define FATHOM_LOOP(times, step, context) \
  for (int i_ = 0; i_ < (times); i_++)    \
    if (step(i_, context)) break
#else
#define FATHOM_LOOP(times, step, context) bpf_loop(times, step, context, 0)
#endif

static __always_inline struct task_struct* this_task(void) {
#ifdef FATHOM_PLAIN
  return (struct task_struct*)bpf_get_current_task();
#else
  return bpf_get_current_task_btf();
#endif
}

/* An index that no compiler may reckon elsewhere: kernels before 6.2 or so forget what they knew of
 * a value when it is compared in another register. */
#define FATHOM_BELOW(value, power)                                  \
  ({                                                                \
    __u64 index = (value);                                          \
    asm volatile("%0 &= %1" : "+r"(index) : "i"((__u64)(power)-1)); \
    index;                                                          \
  })
