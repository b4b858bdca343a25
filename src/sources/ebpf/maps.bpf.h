/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Maps and settings of the kernel's half. Every object has them by these names, and all share what
 * the first one made. */
#pragma once

#include "sources/ebpf/flavors.bpf.h"

char fathom_license[] SEC("license") = "Dual MIT/GPL";

/* Not constants: what was loaded to see whether it can be loaded is what then records. */
struct fathom_bpf_settings settings = {.interval_ns = 1000000000};

#ifdef FATHOM_PLAIN
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, __u32); /* number of the thread */
  __type(value, struct fathom_task);
} tasks SEC(".maps");
#else
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct fathom_task);
} tasks SEC(".maps");
#endif

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, FATHOM_HASH_FLAGS);
  __uint(max_entries, FATHOM_ROOM(262144, 65536));
  __type(key, struct fathom_call_key);
  __type(value, struct fathom_call_sums);
} sums SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, FATHOM_HASH_FLAGS);
  __uint(max_entries, FATHOM_ROOM(1048576, 262144));
  __type(key, struct fathom_file_key);
  __type(value, struct fathom_file);
} files SEC(".maps");

/* By their numbers on this machine. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, FATHOM_HASH_FLAGS);
  __uint(max_entries, 4096);
  __type(key, __u32);
  __type(value, struct fathom_user);
} users SEC(".maps");

/* Of each CPU where the kernel cannot add to what is read in one step. */
struct {
  __uint(type, FATHOM_ROOM(BPF_MAP_TYPE_ARRAY, BPF_MAP_TYPE_PERCPU_ARRAY));
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u32);
} last_file SEC(".maps");

/* By the address of what the kernel keeps of them. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, FATHOM_HASH_FLAGS);
  __uint(max_entries, 65536);
  __type(key, __u64);
  __type(value, struct fathom_request);
} requests SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 16 << 20);
} ring SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, FATHOM_BPF_COUNTER(FATHOM_BPF_LAYERS + 1, 0));
  __type(key, __u32);
  __type(value, __u64);
} losses SEC(".maps");

/* Directories and files: only calls on what lies at or below them are wanted. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, struct fathom_file_key);
  __type(value, __u32);
} wanted SEC(".maps");

/* The same by their texts, for names that begin at the root. */
struct {
  __uint(type, BPF_MAP_TYPE_LPM_TRIE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, 4096);
  __type(key, struct fathom_prefix);
  __type(value, __u32);
} wanted_texts SEC(".maps");

/* Programs in which nothing passes through a function but its return. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 64);
  __type(key, struct fathom_file_key);
  __type(value, __u32);
} plain_programs SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct fathom_file_record);
} file_scratch SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct fathom_process_record);
} process_scratch SEC(".maps");

/* Whom a daemon records. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, FATHOM_CHOICES);
  __type(key, __u32);
  __type(value, struct fathom_choice);
} choices SEC(".maps");

/* A new row begins as this; the map's values are too large for the stack. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct fathom_call_sums);
} no_sums SEC(".maps");

static __always_inline void tally(__u32 layer, __u32 what) {
  const __u32 place = FATHOM_BPF_COUNTER(layer, what);
  __u64* count = bpf_map_lookup_elem(&losses, &place);
  if (count) *count += 1;
}

/* Of what no layer owns. */
static __always_inline void lose(__u32 reason) { tally(FATHOM_BPF_LAYERS, reason); }

/* Whoever reads the ring looks at it now and then: he is woken only where it fills meanwhile. */
static __always_inline __u64 ring_flags(void) {
  return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < settings.wake_bytes ? BPF_RB_NO_WAKEUP
                                                                           : BPF_RB_FORCE_WAKEUP;
}
