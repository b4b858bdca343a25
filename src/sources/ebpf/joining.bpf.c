/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Whom a daemon records: tasks that run already join when all are walked through, programs of a
 * user or a control group when they begin. */
#include "sources/ebpf/process.bpf.h"

#define FATHOM_CONTROLLERS 32
#define FATHOM_EXITING 4 /* PF_EXITING */

static __always_inline bool is_in(struct cgroup* group, struct fathom_choice* choice) {
  if (!group || BPF_CORE_READ(group, root, hierarchy_id) != choice->hierarchy) return false;
  return is_below(group, choice->group);
}

/* A task is in one group of each hierarchy, which its controllers lead to. */
static __always_inline bool is_in_group(struct task_struct* task, struct fathom_choice* choice) {
  struct css_set* set = BPF_CORE_READ(task, cgroups);
  if (choice->hierarchy == 0) return is_in(BPF_CORE_READ(set, dfl_cgrp), choice);
  const __u32 count = bpf_core_field_size(set->subsys) / sizeof(void*);
  void* first = (char*)set + bpf_core_field_offset(struct css_set, subsys);
  for (__u32 i = 0; i < FATHOM_CONTROLLERS && i < count; i++) {
    struct cgroup_subsys_state* state = 0;
    bpf_probe_read_kernel(&state, sizeof state, first + i * sizeof(void*));
    struct cgroup* group = state ? BPF_CORE_READ(state, cgroup) : 0;
    if (group && BPF_CORE_READ(group, root, hierarchy_id) == choice->hierarchy)
      return is_in(group, choice);
  }
  return false;
}

static __always_inline bool is_chosen(struct task_struct* task, struct fathom_choice* choice) {
  const __u32 process = FATHOM_FIELD(task, tgid);
  if (process == choice->recorder) return false;
  if (choice->by == FATHOM_CHOICE_PROCESS) return process == choice->process;
  if (choice->by == FATHOM_CHOICE_USER) return BPF_CORE_READ(task, cred, uid.val) == choice->user;
  if (choice->by == FATHOM_CHOICE_GROUP) return is_in_group(task, choice);
  return choice->by == FATHOM_CHOICE_ALL;
}

static __always_inline struct fathom_choice* choice_at(__u32 place) {
  return bpf_map_lookup_elem(&choices, &place);
}

/* Whether it was not recorded before and is now. */
static __always_inline bool turn_on(struct task_struct* task) {
  struct fathom_task* state = followed(task);
  if (state && state->on) return false;
  if (!state) state = follow(task);
  if (!state) lose(FATHOM_LOST_TASK);
  if (state) state->on = 1;
  return state != 0;
}

/* Straight into the ring: a walk may be preempted, and then others use what a CPU has. */
static __always_inline void join(struct task_struct* task) {
  if (!turn_on(task)) return;
  struct fathom_process_record* out = bpf_ringbuf_reserve(
      &ring, offsetof(struct fathom_process_record, command) + sizeof task->comm, 0);
  if (!out) {
    lose(FATHOM_LOST_PROCESS);
    return;
  }
  out->kind = FATHOM_RECORD_JOIN;
  out->pid = FATHOM_FIELD(task, tgid);
  out->tid = FATHOM_FIELD(task, pid);
  out->parent = BPF_CORE_READ(task, real_parent, tgid);
  out->at = bpf_ktime_get_ns();
  out->status = 0;
  out->bytes = sizeof task->comm;
  out->nspid = number_inside(task);
  out->since = 0;
  bpf_probe_read_kernel(out->command, sizeof task->comm, task->comm);
  bpf_ringbuf_submit(out, ring_flags());
}

SEC("iter/task")
int each_task(struct bpf_iter__task* walk) {
  struct task_struct* task = walk->task;
  struct fathom_choice* choice = choice_at(FATHOM_CHOICE_OF_WALK);
  if (!task || !choice || (FATHOM_FIELD(task, flags) & FATHOM_EXITING) || !is_chosen(task, choice))
    return 0;
  if (choice->leaves) {
    forget(task);
  } else {
    join(task);
  }
  return 0;
}

FATHOM_TRACEPOINT("sched_process_exec")
int BPF_PROG(program_of_choice_begins, struct task_struct* task) {
  struct fathom_choice* choice = choice_at(FATHOM_CHOICE_STANDING);
  if (!choice || !choice->by || followed(task) || !is_chosen(task, choice)) return 0;
  if (turn_on(task)) tell_exec(task);
  return 0;
}

/* (Its other threads join with the next walk.) */
FATHOM_TRACEPOINT("cgroup_attach_task")
int BPF_PROG(process_is_moved, struct cgroup* to, const char* path, struct task_struct* task) {
  struct fathom_choice* choice = choice_at(FATHOM_CHOICE_STANDING);
  if (!choice || choice->by != FATHOM_CHOICE_GROUP || FATHOM_FIELD(task, tgid) == choice->recorder)
    return 0;
  if (is_in(to, choice)) join(task);
  return 0;
}
