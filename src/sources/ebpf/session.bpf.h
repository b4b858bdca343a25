/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Functions from entry to return, and places that are passed, of FATHOM_FUNCTION_LAYER. One program
 * is at both ends of all of them, and each call has a word of its own. Where it says at the entry
 * that nobody wants to know of the return, the stack is left as it is. */
#pragma once

#include "sources/ebpf/function_end.bpf.h"

extern bool bpf_session_is_return(void) __ksym;
extern __u64* bpf_session_cookie(void) __ksym;

/* 1 at the entry: nobody wants to know of the return. */
SEC(FATHOM_FUNCTION_PROBE)
int function_reached(struct pt_regs* context) {
  const __u64 cookie = bpf_get_attach_cookie(context);
  __u64* begin = bpf_session_cookie();
  struct task_struct* task = bpf_get_current_task_btf();
  const __u32 number = FATHOM_BPF_NUMBER_OF(cookie);
  if (bpf_session_is_return()) {
    tally(FATHOM_FUNCTION_LAYER, FATHOM_RETURNED);
    end_call(task, number, *begin, bpf_ktime_get_ns());
    return 0;
  }
  struct fathom_task* state = recorded(task);
  if (!state) return 1;
  *begin = bpf_ktime_get_ns();
  if (cookie & FATHOM_BPF_POINT || (cookie & FATHOM_BPF_ASK && !state->plain)) {
    end_call(task, number | FATHOM_BPF_UNTIMED, *begin, *begin);
    return 1;
  }
  tally(FATHOM_FUNCTION_LAYER, FATHOM_ENTERED);
  return 0;
}
