/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer kernel: tracepoints that were named. One program is at all of them; which one was passed is
 * told by its cookie. */
#include "sources/ebpf/record.bpf.h"

SEC("raw_tp")
int point_passed(void* context) {
  struct task_struct* task = this_task();
  if (!recorded(task)) return 0;
  const __u64 now = bpf_ktime_get_ns();
  const __u32 number = FATHOM_BPF_NUMBER_OF(bpf_get_attach_cookie(context));
  struct fathom_call_record call =
      call_of(task, FATHOM_BPF_CALL(FATHOM_BPF_KERNEL, number | FATHOM_BPF_UNTIMED), now, now);
  account(&call, 0, false);
  return 0;
}
