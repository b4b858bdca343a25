/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer sched: when threads did not run, and whether they could have. A thread that leaves the CPU
 * is either pushed off (it waits to be let run, "runqueue") or waits for something: without
 * letting itself be interrupted, as for a device ("block"), or for anything else ("sleep"). Its
 * wait for something ends when it is woken, and its wait for a CPU begins. */
#include "sources/ebpf/record.bpf.h"

#define FATHOM_UNINTERRUPTIBLE 0x2
#define FATHOM_NO_LOAD 0x400 /* waits without end, as idle threads do */

static __always_inline void end_wait(struct task_struct* task, __u32 number, __u64 begin,
                                     __u64 end) {
  struct fathom_call_record call =
      call_of(task, FATHOM_BPF_CALL(FATHOM_BPF_SCHED, number), begin, end);
  account(&call, 0, false);
}

/* What it waits for is known now alone: when it comes back, its state says nothing of it. */
static __always_inline void leave_cpu(struct fathom_task* state, __u32 task_state, __u64 now) {
  state->runnable = state->asleep = 0;
  if (task_state == 0) {
    state->runnable = now;
    return;
  }
  state->asleep = now;
  state->why_asleep = (task_state & FATHOM_UNINTERRUPTIBLE) && !(task_state & FATHOM_NO_LOAD)
                          ? FATHOM_SCHED_BLOCK
                          : FATHOM_SCHED_SLEEP;
}

/* Whose waits are recorded. */
static __always_inline struct fathom_task* waiting(struct task_struct* task) {
  struct fathom_task* state = recorded(task);
  return state && !state->ended ? state : 0;
}

static __always_inline int change(bool preempted, struct task_struct* from, struct task_struct* to,
                                  __u32 from_state) {
  struct fathom_task* leaving = waiting(from);
  struct fathom_task* coming = waiting(to);
  if (!leaving && !coming) return 0;
  const __u64 now = bpf_ktime_get_ns();
  if (leaving) leave_cpu(leaving, preempted ? 0 : from_state, now);
  if (coming && coming->runnable) {
    end_wait(to, FATHOM_SCHED_RUNQUEUE, coming->runnable, now);
    coming->runnable = 0;
  }
  return 0;
}

FATHOM_TRACEPOINT("sched_switch")
int BPF_PROG(cpu_changes_hands, bool preempted, struct task_struct* from, struct task_struct* to,
             unsigned int from_state) {
  return change(preempted, from, to, from_state);
}

#ifdef FATHOM_PLAIN
/* Before Linux 5.18 it did not tell what the task does. */
FATHOM_TRACEPOINT("sched_switch")
int BPF_PROG(cpu_changed_hands, bool preempted, struct task_struct* from, struct task_struct* to) {
  struct task_struct___old* old = (struct task_struct___old*)from;
  struct task_struct___new* new = (struct task_struct___new*)from;
  const __u32 state = bpf_core_field_exists(old->state) ? (__u32)BPF_CORE_READ(old, state)
                                                        : BPF_CORE_READ(new, __state);
  return change(preempted, from, to, state);
}
#endif

FATHOM_TRACEPOINT("sched_wakeup")
int BPF_PROG(task_wakes, struct task_struct* task) {
  struct fathom_task* state = waiting(task);
  if (!state || !state->asleep) return 0;
  const __u64 now = bpf_ktime_get_ns();
  end_wait(task, state->why_asleep, state->asleep, now);
  state->asleep = 0;
  state->runnable = now;
  return 0;
}
