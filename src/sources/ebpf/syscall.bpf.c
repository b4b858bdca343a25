/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer syscall: every call of the tasks that are recorded. */
#include "sources/ebpf/aio.bpf.h"

static __always_inline __u32 kind_of(__u32 number) {
  return number < FATHOM_BPF_CALLS ? settings.call_kinds[FATHOM_BELOW(number, FATHOM_BPF_CALLS)]
                                   : 0;
}

/* What a call that copies put into the other file: bytes in a row of their own. */
static __noinline int account_target(struct fathom_call_record* call, __u32 target) {
  if (!call) return 0;
  call->call |= FATHOM_BPF_TARGET;
  call->file = target & ~FATHOM_BPF_ELSEWHERE;
  add_up(call, 0, true);
  return 0;
}

static __always_inline void finish(struct task_struct* task, struct fathom_task* state, __u32 kind,
                                   __s64 ret, __u64 end) {
  struct fathom_call_record call =
      call_of(task, FATHOM_BPF_CALL(FATHOM_BPF_SYSCALL, state->number), state->began, end);
  call.ret = ret;
  call.size = state->size;
  call.offset = state->offset;
  call.file = state->file;
  call.fd = state->fd;
  state->began = 0;
  if (!state->on || (settings.cgroup && !in_cgroup(task))) return;
  const bool gives = (kind & FATHOM_CALL_RETURNS_FD) && ret >= 0;
  if (gives) call.fd = ret;
  /* Of a call that took long the file's number may be free again. */
  if (gives || (call.fd >= 0 && state->age != settings.age)) {
    const __u32 file = number_of_descriptor(task, call.fd, gives);
    if (gives || file != FATHOM_BPF_NO_FILE) call.file = file;
  }
  const bool taken = account(&call, 0, kind & FATHOM_CALL_RETURNS_BYTES);
  if (!(kind & FATHOM_CALL_COPIES) || !taken || ret <= 0) return;
  __u32 target = state->target;
  if (state->age != settings.age) target = number_of_descriptor(task, state->target_fd, false);
  account_target(&call, target);
}

static __always_inline void find_target(struct task_struct* task, struct fathom_task* state,
                                        __u32 kind, struct pt_regs* regs) {
  state->target_fd = kind & FATHOM_CALL_TO_SECOND  ? (__s32)FATHOM_ARG2(regs)
                     : kind & FATHOM_CALL_TO_THIRD ? (__s32)FATHOM_ARG3(regs)
                                                   : (__s32)FATHOM_ARG1(regs);
  if (kind & FATHOM_CALL_TO_FIRST) state->fd = (__s32)FATHOM_ARG2(regs);
  state->target = state->on ? number_of_descriptor(task, state->target_fd, false) : 0;
}

FATHOM_TRACEPOINT("sys_enter")
int BPF_PROG(call_begins, struct pt_regs* regs, long number) {
  struct task_struct* task = this_task();
  struct fathom_task* state = followed(task);
  if (!state) return 0;
  state->number =
      number >= 0 && number < FATHOM_BPF_NO_SUCH_CALL ? number : FATHOM_BPF_NO_SUCH_CALL;
  state->began = 0;
  const __u32 kind = kind_of(state->number);
  if ((kind & FATHOM_CALL_SUBMITS) && recorded(task))
    submit_aio(FATHOM_ARG3(regs), FATHOM_ARG2(regs), bpf_ktime_get_ns());
  if (state->on && unwanted(FATHOM_BPF_CALL(FATHOM_BPF_SYSCALL, state->number))) return 0;
  state->fd = kind & FATHOM_CALL_FD ? (__s32)FATHOM_ARG1(regs) : -1;
  if (kind & FATHOM_CALL_COPIES) find_target(task, state, kind, regs);
  state->file = state->on && state->fd >= 0 ? number_of_descriptor(task, state->fd, false) : 0;
  state->size = kind & FATHOM_CALL_SIZE ? FATHOM_ARG3(regs) : ~0ULL;
  state->offset = kind & FATHOM_CALL_OFFSET ? FATHOM_ARG4(regs) : ~0ULL;
  state->age = settings.age;
  state->began = bpf_ktime_get_ns();
  if (kind & FATHOM_CALL_ENDS) finish(task, state, kind, 0, state->began);
  return 0;
}

FATHOM_TRACEPOINT("sys_exit")
int BPF_PROG(call_ends, struct pt_regs* regs, long ret) {
  const __u64 now = bpf_ktime_get_ns();
  struct task_struct* task = this_task();
  struct fathom_task* state = followed(task);
  if (!state) return 0;
  const __u32 kind = kind_of(state->number);
  if (state->began) finish(task, state, kind, ret, now);
  if (!(kind & (FATHOM_CALL_SUBMITS | FATHOM_CALL_FETCHES)) || !recorded(task)) return 0;
  if (kind & FATHOM_CALL_SUBMITS) refuse_aio(FATHOM_ARG3(regs), FATHOM_ARG2(regs), ret);
  if (kind & FATHOM_CALL_FETCHES) fetch_aio(FATHOM_ARG4(regs), ret, now);
  return 0;
}
