/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Functions of FATHOM_FUNCTION_LAYER where the kernel has no sessions: a program at the entry and
 * one at the return. They find each other by the place of the return address on the stack, which no
 * other call of the thread has meanwhile. */
#pragma once

#include "sources/ebpf/function_end.bpf.h"

struct open_call {
  __u64 stack;
  __u64 tid;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, FATHOM_HASH_FLAGS);
  __uint(max_entries, FATHOM_ROOM(262144, 65536));
  __type(key, struct open_call);
  __type(value, __u64);
} open_calls SEC(".maps");

SEC(FATHOM_FUNCTION_PROBE)
int function_entered(struct pt_regs* context) {
  const __u64 cookie = bpf_get_attach_cookie(context);
  struct task_struct* task = this_task();
  if (!recorded(task)) return 0;
  const __u64 now = bpf_ktime_get_ns();
  if (cookie & FATHOM_BPF_POINT) {
    end_call(task, FATHOM_BPF_NUMBER_OF(cookie) | FATHOM_BPF_UNTIMED, now, now);
    return 0;
  }
  struct open_call key = {.stack = FATHOM_STACK(context), .tid = FATHOM_FIELD(task, pid)};
  if (bpf_map_update_elem(&open_calls, &key, &now, BPF_ANY) == 0)
    tally(FATHOM_FUNCTION_LAYER, FATHOM_ENTERED);
  else
    tally(FATHOM_FUNCTION_LAYER, FATHOM_LOST_REQUEST);
  return 0;
}

SEC(FATHOM_FUNCTION_RETURN)
int function_left(struct pt_regs* context) {
  const __u64 cookie = bpf_get_attach_cookie(context);
  struct task_struct* task = this_task();
  struct open_call key = {.stack = FATHOM_STACK(context) - FATHOM_RETURN_BYTES,
                          .tid = FATHOM_FIELD(task, pid)};
  __u64* begin = bpf_map_lookup_elem(&open_calls, &key);
  if (!begin) return 0;
  tally(FATHOM_FUNCTION_LAYER, FATHOM_RETURNED);
  end_call(task, FATHOM_BPF_NUMBER_OF(cookie), *begin, bpf_ktime_get_ns());
  bpf_map_delete_elem(&open_calls, &key);
  return 0;
}
