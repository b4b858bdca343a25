/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer vfs: calls that a thread is in. A file system that lies on another one calls the same
 * functions inside of its own, and copies are made by functions that call each other. */
#pragma once

#include "sources/ebpf/files.bpf.h"
#include "sources/ebpf/record.bpf.h"

/* `stack`: where the call's frame is, so that calls whose end nobody told are found; 0: all ends
 * are told. */
static __always_inline int begin(struct file* file, struct file* target, __u64 stack) {
  struct fathom_task* state = recorded(this_task());
  if (!state) return 0;
  for (int i = 0; i < FATHOM_VFS_DEEP && stack && state->vfs_depth; i++) {
    if (state->vfs[FATHOM_BELOW(state->vfs_depth - 1, FATHOM_VFS_DEEP)].stack > stack) break;
    state->vfs_depth -= 1;
  }
  if (stack) tally(FATHOM_BPF_VFS, FATHOM_ENTERED);
  if (state->vfs_depth >= FATHOM_VFS_DEEP) return 0;
  const bool is_inner =
      state->vfs_depth &&
      state->vfs[FATHOM_BELOW(state->vfs_depth - 1, FATHOM_VFS_DEEP)].file == (__u64)file;
  struct fathom_vfs_state* call = &state->vfs[FATHOM_BELOW(state->vfs_depth, FATHOM_VFS_DEEP)];
  state->vfs_depth += 1;
  call->file = (__u64)file;
  call->target = (__u64)target;
  call->stack = stack;
  call->began = is_inner ? 0 : bpf_ktime_get_ns();
  return 0;
}

/* The call that ends there; its beginning may not have been told. */
static __always_inline struct fathom_vfs_state* ended(struct fathom_task* state, __u64 stack) {
  for (int i = 0; i < FATHOM_VFS_DEEP && state->vfs_depth; i++) {
    struct fathom_vfs_state* last =
        &state->vfs[FATHOM_BELOW(state->vfs_depth - 1, FATHOM_VFS_DEEP)];
    if (last->stack > stack) return 0;
    state->vfs_depth -= 1;
    if (last->stack == stack) return last;
  }
  return 0;
}

static __always_inline int end(__u32 number, __s64 result, __u64 stack, bool moves) {
  const __u64 now = bpf_ktime_get_ns();
  struct task_struct* task = this_task();
  struct fathom_task* state = followed(task);
  struct fathom_vfs_state* last = state ? ended(state, stack) : 0;
  if (!last) return 0;
  if (stack) tally(FATHOM_BPF_VFS, FATHOM_RETURNED);
  if (!last->began || !recorded(task)) return 0;
  struct fathom_call_record call =
      call_of(task, FATHOM_BPF_CALL(FATHOM_BPF_VFS, number), last->began, now);
  call.file = number_of_open(last->file, false);
  call.ret = result;
  account(&call, 0, moves);
  if (!last->target || result <= 0) return 0;
  /* What came from one file went to the other; the time is told of once. */
  call.call = FATHOM_BPF_CALL(FATHOM_BPF_VFS, FATHOM_VFS_WRITE);
  call.begin = now;
  call.file = number_of_open(last->target, false);
  account(&call, 0, true);
  return 0;
}
