/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer syscall: operations that programs hand over by io_submit, until they fetch their results.
 * The kernel has no hook for them: what was asked and what came of it is read from the program's
 * memory, where the calls name it. */
#pragma once

#include "sources/ebpf/files.bpf.h"
#include "sources/ebpf/record.bpf.h"

#ifdef FATHOM_PLAIN

/* Without bpf_loop the calls are counted, and not what they hand over. */
static __always_inline void submit_aio(__u64 blocks, __u64 count, __u64 now, bool narrow) {}
static __always_inline void refuse_aio(__u64 blocks, __u64 count, __s64 taken, bool narrow) {}
static __always_inline void fetch_aio(__u64 events, __s64 count, __u64 now) {}

#else

#define FATHOM_MAX_AIO 65536 /* handed over by one call */

/* As programs and the kernel exchange them. */
struct fathom_aio_block {
  __u64 data;
  __u32 key, flags;
  __u16 opcode;
  __s16 priority;
  __u32 fd;
};
struct fathom_aio_event {
  __u64 data, block;
  __s64 result, more;
};
struct fathom_aio_result { /* of it */
  __u64 block;
  __s64 result;
};

struct fathom_aio_key {
  __u64 block; /* its address: nobody may use it for another one meanwhile */
  __u32 pid;
  __u32 unused;
};
struct fathom_aio {
  __u64 began;
  __u32 tid, number;
  __u32 file;
  __u32 unused;
};

/* Of those whose results nobody fetches, the oldest make room. */
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 65536);
  __type(key, struct fathom_aio_key);
  __type(value, struct fathom_aio);
} aios SEC(".maps");

struct fathom_aio_walk {
  __u64 at; /* in the program's memory */
  __u64 now;
  __u32 from;
  __u32 width; /* of an address */
};

static __always_inline __u64 aio_block_at(const struct fathom_aio_walk* walk, __u32 index) {
  __u64 block = 0;
  __u32 narrow = 0;
  void* at = (void*)(walk->at + (__u64)walk->width * (walk->from + index));
  if (walk->width == sizeof block) {
    bpf_probe_read_user(&block, sizeof block, at);
  } else {
    bpf_probe_read_user(&narrow, sizeof narrow, at);
    block = narrow;
  }
  return block;
}

static __always_inline bool read_aio(__u64 block, struct fathom_aio_block* asked) {
  return block && bpf_probe_read_user(asked, sizeof *asked, (void*)block) == 0;
}

static long aio_begins(__u32 index, struct fathom_aio_walk* walk) {
  struct fathom_aio_block asked;
  struct task_struct* task = this_task();
  struct fathom_aio_key key = {.block = aio_block_at(walk, index), .pid = task->tgid};
  if (!read_aio(key.block, &asked)) return 0;
  struct fathom_aio operation = {.began = walk->now,
                                 .tid = task->pid,
                                 .number = FATHOM_BPF_AIO | (asked.opcode & 0xff),
                                 .file = number_of_descriptor(task, (__s32)asked.fd, false)};
  tally(FATHOM_BPF_SYSCALL, FATHOM_ENTERED);
  bpf_map_update_elem(&aios, &key, &operation, BPF_ANY);
  return 0;
}

/* The call took fewer than it was given. */
static long aio_is_refused(__u32 index, struct fathom_aio_walk* walk) {
  struct fathom_aio_key key = {.block = aio_block_at(walk, index),
                               .pid = bpf_get_current_pid_tgid() >> 32};
  if (bpf_map_delete_elem(&aios, &key) == 0) tally(FATHOM_BPF_SYSCALL, FATHOM_RETURNED);
  return 0;
}

/* One that was begun before anybody looked is counted where it is fetched, without its file. */
static long aio_ends(__u32 index, struct fathom_aio_walk* walk) {
  struct fathom_aio_result event;
  const void* at = (void*)(walk->at + sizeof(struct fathom_aio_event) * index +
                           offsetof(struct fathom_aio_event, block));
  if (bpf_probe_read_user(&event, sizeof event, at) != 0) return 0;
  struct task_struct* task = this_task();
  struct fathom_call_record call =
      call_of(task, FATHOM_BPF_CALL(FATHOM_BPF_SYSCALL, FATHOM_BPF_AIO), walk->now, walk->now);
  call.ret = event.result;
  struct fathom_aio_key key = {.block = event.block, .pid = task->tgid};
  struct fathom_aio* begun = bpf_map_lookup_elem(&aios, &key);
  if (begun) {
    call.call = FATHOM_BPF_CALL(FATHOM_BPF_SYSCALL, begun->number);
    call.begin = begun->began;
    call.tid = begun->tid;
    call.file = begun->file;
    tally(FATHOM_BPF_SYSCALL, FATHOM_RETURNED);
    bpf_map_delete_elem(&aios, &key);
  } else if (event.block) {
    __u16 opcode = 0;
    bpf_probe_read_user(&opcode, sizeof opcode,
                        (void*)(event.block + offsetof(struct fathom_aio_block, opcode)));
    call.call |= opcode & 0xff;
  }
  account(&call, own_shard(), true);
  return 0;
}

/* io_submit(context, count, blocks) */
static __noinline int submit_aio(__u64 blocks, __u64 count, __u64 now, bool narrow) {
  struct fathom_aio_walk walk = {.at = blocks, .now = now, .width = narrow ? 4 : 8};
  bpf_loop(count < FATHOM_MAX_AIO ? count : FATHOM_MAX_AIO, aio_begins, &walk, 0);
  return 0;
}

static __noinline int refuse_aio(__u64 blocks, __u64 count, __s64 taken, bool narrow) {
  struct fathom_aio_walk walk = {
      .at = blocks, .from = taken < 0 ? 0 : taken, .width = narrow ? 4 : 8};
  if (count <= walk.from) return 0;
  count -= walk.from;
  bpf_loop(count < FATHOM_MAX_AIO ? count : FATHOM_MAX_AIO, aio_is_refused, &walk, 0);
  return 0;
}

/* io_getevents(context, least, most, events, timeout) */
static __noinline int fetch_aio(__u64 events, __s64 count, __u64 now) {
  struct fathom_aio_walk walk = {.at = events, .now = now};
  if (count <= 0) return 0;
  bpf_loop(count < FATHOM_MAX_AIO ? count : FATHOM_MAX_AIO, aio_ends, &walk, 0);
  return 0;
}

#endif
