/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Whom we record, and the one way in which a call of any layer becomes part of the recording. */
#pragma once

#include "sources/ebpf/tasks.bpf.h"
#include "sources/ebpf/users.bpf.h"

#define FATHOM_MAX_ERROR 4095
#define FATHOM_MAX_CGROUPS 64 /* one inside another */

struct fathom_group_walk {
  struct cgroup* group;
  __u64 number;
  __u32 found;
};

/* One step towards the root of all groups. 1 ends the walk. */
static long leave_group(__u32 index, struct fathom_group_walk* walk) {
  struct cgroup* group = walk->group;
  if (!group) return 1;
  walk->found = BPF_CORE_READ(group, kn, id) == walk->number;
  struct cgroup_subsys_state* above = BPF_CORE_READ(group, self.parent);
  walk->group = above ? BPF_CORE_READ(above, cgroup) : 0;
  return walk->found;
}

/* Whether it is the one of this number or inside of it. */
static __always_inline bool is_below(struct cgroup* group, __u64 number) {
  struct fathom_group_walk walk = {.group = group, .number = number};
  FATHOM_LOOP(FATHOM_MAX_CGROUPS, leave_group, &walk);
  return walk.found;
}

__noinline int is_wanted_group(__u64 address) {
  return is_below((struct cgroup*)address, settings.cgroup);
}

/* In the one that is wanted, or below it. */
static __always_inline bool in_cgroup(struct task_struct* task) {
  return is_wanted_group((__u64)BPF_CORE_READ(task, cgroups, dfl_cgrp));
}

static __always_inline struct fathom_task* recorded(struct task_struct* task) {
  struct fathom_task* state = followed(task);
  if (!state || !state->on) return 0;
  return settings.cgroup && !in_cgroup(task) ? 0 : state;
}

static __always_inline __u32 log2_of(__u64 value) {
  __u32 log = 0;
  if (value >= 1ULL << 32) value >>= 32, log += 32;
  if (value >= 1ULL << 16) value >>= 16, log += 16;
  if (value >= 1ULL << 8) value >>= 8, log += 8;
  if (value >= 1ULL << 4) value >>= 4, log += 4;
  if (value >= 1ULL << 2) value >>= 2, log += 2;
  if (value >= 1ULL << 1) log += 1;
  return log;
}

/* Whether a filter leaves a call out, by its name. */
static __always_inline bool unwanted(__u32 call) {
  const __u32 layer = FATHOM_BPF_LAYER_OF(call) & FATHOM_BPF_LAYER_MASK;
  if (!(settings.filtered & (1U << layer)) || !settings.filters[layer].by_call) return false;
  const __u32 bit = FATHOM_BPF_BIT_OF(FATHOM_BPF_NUMBER_OF(call)) & (FATHOM_BPF_BITS - 1);
  const __u64 word = FATHOM_BELOW(bit / 32, FATHOM_BPF_BITS / 32);
  if (settings.filters[layer].calls[word] & (1U << bit % 32)) return false;
  tally(layer, FATHOM_LEFT_CALL);
  return true;
}

/* By all that is known when it has ended. */
__noinline int left_out(__u32 call, __u32 file, __u64 ns) {
  const __u32 layer = FATHOM_BPF_LAYER_OF(call) & FATHOM_BPF_LAYER_MASK;
  struct fathom_bpf_filter* filter = &settings.filters[layer];
  if (unwanted(call)) return 1;
  if (filter->by_path && (file == FATHOM_BPF_NO_FILE || file & FATHOM_BPF_ELSEWHERE)) {
    tally(layer, FATHOM_LEFT_PATH);
    return 1;
  }
  const bool untimed = layer >= FATHOM_BPF_USER && call & FATHOM_BPF_UNTIMED;
  if (ns < filter->least_ns && !untimed) {
    tally(layer, FATHOM_LEFT_SHORT);
    return 1;
  }
  if (filter->one_in && bpf_get_prandom_u32() % filter->one_in != 0) {
    tally(layer, FATHOM_LEFT_CHANCE);
    return 1;
  }
  return 0;
}

static __always_inline void send_call(struct fathom_call_record* call, __u32 kind, __u32 loss) {
  struct fathom_call_record* out = bpf_ringbuf_reserve(&ring, sizeof *out, 0);
  if (!out) {
    tally(FATHOM_BPF_LAYER_OF(call->call), loss);
    return;
  }
  *out = *call;
  out->kind = kind;
  bpf_ringbuf_submit(out, ring_flags());
}

/* Changes the key where its user has no room for more names. `lost`: nor for the row. */
static __always_inline struct fathom_call_sums* row_of(struct fathom_call_key* key, bool* lost) {
  struct fathom_call_sums* row = bpf_map_lookup_elem(&sums, key);
  if (row) return row;
  int room = room_for_row(key->tid, key->file);
  if (room == FATHOM_ROW_WITHOUT_NAME) {
    tally(FATHOM_BPF_LAYER_OF(key->call), FATHOM_LOST_NAME);
    key->file = FATHOM_BPF_OTHERS;
    row = bpf_map_lookup_elem(&sums, key);
    if (row) return row;
    room = room_for_row(key->tid, key->file);
  }
  if (room == FATHOM_ROW_LOST) {
    *lost = true;
    return 0;
  }
  __u32 zero = 0;
  struct fathom_call_sums* empty = bpf_map_lookup_elem(&no_sums, &zero);
  if (!empty || bpf_map_update_elem(&sums, key, empty, BPF_NOEXIST) != 0) return 0;
  lose(FATHOM_NEW_ROWS);
  return bpf_map_lookup_elem(&sums, key);
}

static __always_inline void add_up(struct fathom_call_record* call, __u32 shard, bool moves) {
  struct fathom_call_key key = {.interval = (call->end - settings.start_ns) / settings.interval_ns,
                                .pid = call->pid,
                                .tid = call->tid,
                                .call = call->call,
                                .file = call->file,
                                .shard = shard};
  bool lost = false;
  struct fathom_call_sums* row = row_of(&key, &lost);
  if (lost) {
    tally(FATHOM_BPF_LAYER_OF(call->call), FATHOM_LOST_USER);
    return;
  }
  if (!row) {
    call->file = key.file;
    send_call(call, FATHOM_RECORD_SUM, FATHOM_LOST_SUM);
    return;
  }
  const __u64 ns = call->end - call->begin;
  const bool failed = call->ret < 0 && call->ret >= -FATHOM_MAX_ERROR;
  row->calls += 1;
  row->ns += ns;
  if (failed) row->errors += 1;
  if (!failed && moves) row->bytes += call->ret;
  if (row->calls == 1 || ns < row->least_ns) row->least_ns = ns;
  if (ns > row->most_ns) row->most_ns = ns;
  __u32 bucket = log2_of(ns);
  if (bucket >= FATHOM_BPF_HIST) bucket = FATHOM_BPF_HIST - 1;
  row->hist[bucket] += 1;
}

/* `shard`: 0 for what only the thread itself tells, own_shard() for what any CPU may tell.
 * `moves`: the result is a number of bytes. Whether filters let it pass. */
static __always_inline bool account(struct fathom_call_record* call, __u32 shard, bool moves) {
  const __u32 layer = FATHOM_BPF_LAYER_OF(call->call);
  if ((settings.filtered & (1U << layer)) &&
      left_out(call->call, call->file, call->end - call->begin))
    return false;
  call->file &= ~FATHOM_BPF_ELSEWHERE;
  add_up(call, shard, moves);
  if (settings.detail & (1U << layer)) send_call(call, FATHOM_RECORD_CALL, FATHOM_LOST_CALL);
  return true;
}

static __always_inline __u32 own_shard(void) { return 1 + bpf_get_smp_processor_id(); }

/* A call of the thread that runs, without a descriptor. */
static __always_inline struct fathom_call_record call_of(struct task_struct* task, __u32 call,
                                                         __u64 begin, __u64 end) {
  struct fathom_call_record record = {.call = call,
                                      .pid = FATHOM_FIELD(task, tgid),
                                      .tid = FATHOM_FIELD(task, pid),
                                      .begin = begin,
                                      .end = end,
                                      .size = ~0ULL,
                                      .offset = ~0ULL,
                                      .fd = -1};
  return record;
}
