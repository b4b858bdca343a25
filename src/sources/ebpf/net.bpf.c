/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer net: what threads send and receive by sockets, by whichever call. The tracepoints come
 * when a call is done, with its result alone: there is no begin, so these are moments without a
 * duration, and the time of the call is that of layer syscall. */
#include "sources/ebpf/record.bpf.h"

static __always_inline int count(__u32 number, int result) {
  struct task_struct* task = this_task();
  if (!recorded(task)) return 0;
  const __u64 now = bpf_ktime_get_ns();
  struct fathom_call_record call = call_of(task, FATHOM_BPF_CALL(FATHOM_BPF_NET, number), now, now);
  call.ret = result;
  account(&call, own_shard(), true);
  return 0;
}

FATHOM_TRACEPOINT("sock_send_length")
int BPF_PROG(sent, struct sock* sock, int result, int flags) {
  return count(FATHOM_NET_SEND, result);
}

FATHOM_TRACEPOINT("sock_recv_length")
int BPF_PROG(received, struct sock* sock, int result, int flags) {
  return count(FATHOM_NET_RECEIVE, result);
}
