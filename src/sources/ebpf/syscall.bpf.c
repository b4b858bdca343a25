/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer syscall: every call of the tasks that are recorded. What a call means to files is taken
 * when it begins, for afterwards a descriptor may be another file's; paths when it ends, since the
 * kernel has read them by then and reading memory that is not there fails here. Which arguments
 * matter stands in a table by the call's number (calls.cc). */
#include "sources/ebpf/aio.bpf.h"
#include "sources/ebpf/arguments.bpf.h"
#include "sources/ebpf/names.bpf.h"

/* Of the thread that runs; no static function, so that the verifier looks at it once. */
__noinline __u32 number_of_fd(__s32 fd, __u32 opened) {
  return number_of_descriptor(this_task(), fd, opened);
}

/* The file that a call names by a path. */
static __always_inline __u32 named_file(const struct fathom_arguments* all, __u32 kind) {
  const bool is_at = kind & (FATHOM_CALL_PATH_AT | FATHOM_CALL_SECOND_PATH_AT);
  const bool is_later = kind & (FATHOM_CALL_SECOND_PATH | FATHOM_CALL_SECOND_PATH_AT);
  const __u64 first = is_later ? all->second : all->first;
  const __s32 directory = is_at ? (__s32)first : FATHOM_HERE;
  const __u64 text = !is_at ? first : is_later ? all->third : all->second;
  const __u32 file = number_of_name(directory, text);
  return file == FATHOM_ITSELF ? number_of_fd(directory, false) : file;
}

/* What a call that copies put into the other file: bytes in a row of their own. */
static __noinline int account_target(struct fathom_call_record* call, __u32 target) {
  if (!call) return 0;
  call->call |= FATHOM_BPF_TARGET;
  call->file = target & ~FATHOM_BPF_ELSEWHERE;
  add_up(call, 0, true);
  return 0;
}

/* (Without arguments it does not return.) */
static __always_inline void finish(struct task_struct* task, struct fathom_task* state,
                                   const struct fathom_arguments* all, __s64 ret, __u64 end) {
  const __u32 kind = kind_of(state->number);
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
    const __u32 file = number_of_fd(call.fd, gives);
    if (gives || file != FATHOM_BPF_NO_FILE) call.file = file;
  }
  /* By now the kernel has read the path: it is in memory. */
  if (all && !gives && (kind & FATHOM_CALL_NAMES) && call.file == FATHOM_BPF_NO_FILE &&
      !((kind & FATHOM_CALL_MOVES) && ret >= 0))
    call.file = named_file(all, kind);
  const bool taken = account(&call, 0, kind & FATHOM_CALL_RETURNS_BYTES);
  if (!(kind & FATHOM_CALL_COPIES) || !taken || ret <= 0) return;
  __u32 target = state->target;
  if (state->age != settings.age) target = number_of_fd(state->target_fd, false);
  account_target(&call, target);
}

static __always_inline void find_target(struct fathom_task* state, __u32 kind,
                                        const struct fathom_arguments* all) {
  state->target_fd = kind & FATHOM_CALL_TO_SECOND  ? (__s32)all->second
                     : kind & FATHOM_CALL_TO_THIRD ? (__s32)all->third
                                                   : (__s32)all->first;
  if (kind & FATHOM_CALL_TO_FIRST) state->fd = (__s32)all->second;
  state->target = state->on ? number_of_fd(state->target_fd, false) : 0;
}

/* What is known of a call that is about to be made. */
static __always_inline void keep_arguments(struct fathom_task* state, __u32 kind,
                                           const struct fathom_arguments* all) {
  state->fd = kind & FATHOM_CALL_FD         ? (__s32)all->first
              : kind & FATHOM_CALL_FIFTH_FD ? (__s32)all->fifth
                                            : -1;
  if (kind & FATHOM_CALL_COPIES) find_target(state, kind, all);
  state->file = state->on && state->fd >= 0 ? number_of_fd(state->fd, false) : 0;
  if (state->on && (kind & FATHOM_CALL_MOVES)) state->file = named_file(all, kind);
  state->size = kind & FATHOM_CALL_SIZE ? all->third : ~0ULL;
  state->offset = kind & FATHOM_CALL_OFFSET ? position_in(all, state->number) : ~0ULL;
}

FATHOM_TRACEPOINT("sys_enter")
int BPF_PROG(call_begins, struct pt_regs* regs, long number) {
  struct task_struct* task = this_task();
  struct fathom_task* state = followed(task);
  if (!state) return 0;
  state->number = number_of_call(task, number);
  state->began = 0;
  const __u32 kind = kind_of(state->number);
  struct fathom_arguments all = {};
  if (kind) all = arguments_of(regs, state->number);
  if ((kind & FATHOM_CALL_SUBMITS) && recorded(task))
    submit_aio(all.third, all.second, bpf_ktime_get_ns(), is_narrow(state->number));
  if (state->on && unwanted(FATHOM_BPF_CALL(FATHOM_BPF_SYSCALL, state->number))) return 0;
  keep_arguments(state, kind, &all);
  state->age = settings.age;
  state->began = bpf_ktime_get_ns();
  if (kind & FATHOM_CALL_ENDS) finish(task, state, 0, 0, state->began);
  return 0;
}

FATHOM_TRACEPOINT("sys_exit")
int BPF_PROG(call_ends, struct pt_regs* regs, long ret) {
  const __u64 now = bpf_ktime_get_ns();
  struct task_struct* task = this_task();
  struct fathom_task* state = followed(task);
  if (!state) return 0;
  const __u32 kind = kind_of(state->number);
  struct fathom_arguments all = {};
  if (kind & (FATHOM_CALL_NAMES | FATHOM_CALL_SUBMITS | FATHOM_CALL_FETCHES))
    all = arguments_of(regs, state->number);
  if (state->began) finish(task, state, &all, ret, now);
  if (!(kind & (FATHOM_CALL_SUBMITS | FATHOM_CALL_FETCHES)) || !recorded(task)) return 0;
  if (kind & FATHOM_CALL_SUBMITS) refuse_aio(all.third, all.second, ret, is_narrow(state->number));
  if (kind & FATHOM_CALL_FETCHES) fetch_aio(all.fourth, ret, now);
  return 0;
}
