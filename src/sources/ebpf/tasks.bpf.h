/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * What is known of tasks: kept in their storage, or by their numbers. */
#pragma once

#include "sources/ebpf/maps.bpf.h"

#ifdef FATHOM_PLAIN

/* A number is given to others when its task is gone; one that was adopted by its number bears no
 * address before its program begins. */
static __always_inline struct fathom_task* followed(struct task_struct* task) {
  const __u32 tid = FATHOM_FIELD(task, pid);
  struct fathom_task* state = bpf_map_lookup_elem(&tasks, &tid);
  return state && (!state->task || state->task == (__u64)task) ? state : 0;
}

static __always_inline struct fathom_task* follow(struct task_struct* task) {
  const __u32 tid = FATHOM_FIELD(task, pid);
  struct fathom_task state = {.task = (__u64)task};
  if (bpf_map_update_elem(&tasks, &tid, &state, BPF_ANY) != 0) return 0;
  return bpf_map_lookup_elem(&tasks, &tid);
}

static __always_inline void forget(struct task_struct* task) {
  const __u32 tid = FATHOM_FIELD(task, pid);
  if (followed(task)) bpf_map_delete_elem(&tasks, &tid);
}

/* A thread that begins a program takes over the number of its process. */
static __always_inline void renumber(struct task_struct* task, __u32 before) {
  const __u32 tid = FATHOM_FIELD(task, pid);
  struct fathom_task* state = bpf_map_lookup_elem(&tasks, &before);
  if (tid == before || !state || state->task != (__u64)task) return;
  if (bpf_map_update_elem(&tasks, &tid, state, BPF_ANY) != 0) lose(FATHOM_LOST_TASK);
  bpf_map_delete_elem(&tasks, &before);
}

#else

/* Perhaps of one that waits for its program to begin. */
static __always_inline struct fathom_task* followed(struct task_struct* task) {
  return bpf_task_storage_get(&tasks, task, 0, 0);
}

static __always_inline struct fathom_task* follow(struct task_struct* task) {
  return bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline void forget(struct task_struct* task) {
  bpf_task_storage_delete(&tasks, task);
}

/* (Its storage stays with it.) */
static __always_inline void renumber(struct task_struct* task, __u32 before) {}

#endif
