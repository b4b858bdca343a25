/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Whom we record: the program from its exec on, and whatever it makes. */
#include "sources/ebpf/process.bpf.h"

SEC("tp_btf/sched_process_fork")
int BPF_PROG(task_made, struct task_struct* parent, struct task_struct* child) {
  struct fathom_task* of_parent = followed(parent);
  if (!of_parent) return 0;
  struct fathom_task* state =
      bpf_task_storage_get(&tasks, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!state) {
    lose(FATHOM_LOST_TASK);
    return 0;
  }
  state->on = of_parent->on;
  if (!state->on) return 0;
  struct fathom_process_record* out = process_record(FATHOM_RECORD_FORK, child);
  if (!out) return 0;
  out->parent = parent->tgid;
  send_process(out);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(program_begins, struct task_struct* task) {
  struct fathom_task* state = followed(task);
  if (!state) return 0;
  state->on = 1;
  tell_exec(task);
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_ends, struct task_struct* task) {
  struct fathom_task* state = followed(task);
  if (!state || !state->on) return 0;
  struct fathom_process_record* out = process_record(FATHOM_RECORD_EXIT, task);
  if (!out) return 0;
  out->status = task->signal->group_exit_code;
  if (out->status == 0) out->status = task->exit_code;
  send_process(out);
  return 0;
}
