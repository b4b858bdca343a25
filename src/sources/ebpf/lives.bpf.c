/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Whom we record: the program from its exec on, and whatever it makes. What is kept of a task says
 * that it is followed; a child gets it from its parent when it is made, before it can run. This
 * module is always loaded, and first: all others share its maps. */
#include "sources/ebpf/process.bpf.h"

#define FATHOM_IO_WORKER 0x10 /* PF_IO_WORKER */

static __always_inline __u32 runs_plain_program(struct task_struct* task) {
  struct inode* inode = BPF_CORE_READ(task, mm, exe_file, f_inode);
  struct fathom_file_key key = {.inode = BPF_CORE_READ(inode, i_ino),
                                .device = BPF_CORE_READ(inode, i_sb, s_dev)};
  return bpf_map_lookup_elem(&plain_programs, &key) != 0;
}

/* A task that cannot be followed is a loss with a name: what it and its children do will be
 * missing. */
static __always_inline int inherit(struct task_struct* parent, struct task_struct* child) {
  struct fathom_task* of_parent = followed(parent);
  if (!of_parent) return 0;
  struct fathom_task* state = follow(child);
  if (!state) {
    lose(FATHOM_LOST_TASK);
    return 0;
  }
  state->on = of_parent->on;
  state->plain = of_parent->plain;
  if (!state->on) return 0;
  struct fathom_process_record* out = process_record(FATHOM_RECORD_FORK, child);
  if (!out) return 0;
  out->parent = FATHOM_FIELD(parent, tgid);
  send_process(out);
  return 0;
}

FATHOM_TRACEPOINT("sched_process_fork")
int BPF_PROG(task_made, struct task_struct* parent, struct task_struct* child) {
  return inherit(parent, child);
}

/* Workers of io_uring and its threads that poll are threads of the process that asks, made by none
 * of its calls: no fork tells of them. (Before Linux 5.12 they were the kernel's own.) */
FATHOM_TRACEPOINT("task_newtask")
int BPF_PROG(worker_made, struct task_struct* child) {
  return FATHOM_FIELD(child, flags) & FATHOM_IO_WORKER ? inherit(this_task(), child) : 0;
}

FATHOM_TRACEPOINT("sched_process_exec")
int BPF_PROG(program_begins, struct task_struct* task, int number_before) {
  renumber(task, number_before);
  struct fathom_task* state = followed(task);
  if (!state) return 0;
  const bool was_on = state->on;
  state->on = 1;
  state->plain = runs_plain_program(task);
  state->task = (__u64)task;
  tell_exec(task);
  /* The first program's life begins here, inside of a call: the rest of the call is part of it. */
  if (!was_on && state->began) state->began = bpf_ktime_get_ns();
  return 0;
}

FATHOM_TRACEPOINT("sched_process_exit")
int BPF_PROG(task_ends, struct task_struct* task) {
  struct fathom_task* state = followed(task);
  if (!state || !state->on) return 0;
  state->ended = 1;
  struct fathom_process_record* out = process_record(FATHOM_RECORD_EXIT, task);
  if (!out) return 0;
  out->status = BPF_CORE_READ(task, signal, group_exit_code);
  /* Of exit_group for all threads; else the thread's own. */
  if (out->status == 0) out->status = FATHOM_FIELD(task, exit_code);
  out->bytes = sizeof task->comm;
  bpf_probe_read_kernel(out->command, sizeof task->comm, task->comm);
  send_process(out);
  return 0;
}

#ifdef FATHOM_PLAIN
/* When nothing can be told of it any more. */
FATHOM_TRACEPOINT("sched_process_free")
int BPF_PROG(task_is_gone, struct task_struct* task) {
  forget(task);
  return 0;
}
#endif
