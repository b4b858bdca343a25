/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * What a function of FATHOM_FUNCTION_LAYER took, however its two ends found each other. */
#pragma once

#include "sources/ebpf/record.bpf.h"

static __always_inline void end_call(struct task_struct* task, __u32 number, __u64 begin,
                                     __u64 end) {
  struct fathom_call_record call =
      call_of(task, FATHOM_BPF_CALL(FATHOM_FUNCTION_LAYER, number), begin, end);
  account(&call, 0, false);
}
