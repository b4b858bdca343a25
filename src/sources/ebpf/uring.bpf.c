/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer syscall: operations that programs hand over by io_uring, from submission to completion.
 * They are made in one thread and done in another, perhaps one of the kernel's: by the address of
 * the request both ends are known to be one operation. */
#include "sources/ebpf/files.bpf.h"
#include "sources/ebpf/record.bpf.h"

static __always_inline int begin(struct io_kiocb* req) {
  struct task_struct* task = this_task();
  if (!recorded(task)) return 0;
  const __u64 key = (__u64)req;
  struct fathom_request request = {
      .began = bpf_ktime_get_ns(), .pid = FATHOM_FIELD(task, tgid), .tid = FATHOM_FIELD(task, pid)};
  if (bpf_map_update_elem(&requests, &key, &request, BPF_ANY) != 0)
    tally(FATHOM_BPF_SYSCALL, FATHOM_LOST_REQUEST);
  return 0;
}

FATHOM_TRACEPOINT("io_uring_submit_req")
int BPF_PROG(operation_begins, struct io_kiocb* req) { return begin(req); }
FATHOM_TRACEPOINT("io_uring_submit_sqe") /* as it was called before */
int BPF_PROG(operation_began, struct io_kiocb* req) { return begin(req); }

/* One that was refused before it began is counted where it is told. */
static __always_inline void complete(struct io_kiocb* req, __s32 result) {
  const __u64 now = bpf_ktime_get_ns();
  const __u64 key = (__u64)req;
  struct task_struct* task = this_task();
  struct fathom_request* begun = bpf_map_lookup_elem(&requests, &key);
  if (!begun && !recorded(task)) return;
  const __u32 opcode = BPF_CORE_READ(req, opcode);
  struct fathom_call_record call =
      call_of(task, FATHOM_BPF_CALL(FATHOM_BPF_SYSCALL, FATHOM_BPF_URING | opcode), now, now);
  if (begun) {
    call.pid = begun->pid;
    call.tid = begun->tid;
    call.begin = begun->began;
    bpf_map_delete_elem(&requests, &key);
  }
  call.ret = result;
  call.file = number_of_file(BPF_CORE_READ(req, file), false);
  account(&call, own_shard(), true);
}

FATHOM_TRACEPOINT("io_uring_complete")
int BPF_PROG(operation_ends, struct io_ring_ctx* ring_of_it, struct io_kiocb* req,
             struct io_uring_cqe* cqe) {
  if (req) complete(req, BPF_CORE_READ(cqe, res));
  return 0;
}

/* Older kernels tell the result by itself. */
FATHOM_TRACEPOINT("io_uring_complete")
int BPF_PROG(operation_ends_plain, void* ring_of_it, struct io_kiocb* req, __u64 user_data,
             __s32 result) {
  if (req) complete(req, result);
  return 0;
}
