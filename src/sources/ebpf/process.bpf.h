/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * What goes out about processes. */
#pragma once

#include "sources/ebpf/record.bpf.h"

/* What a process of another pid namespace than the first calls itself. */
static __always_inline __u32 number_inside(struct task_struct* task) {
  struct task_struct* leader = BPF_CORE_READ(task, group_leader);
  if (!bpf_core_field_exists(leader->thread_pid)) return 0;
  struct pid* pid = BPF_CORE_READ(leader, thread_pid);
  const __u32 level = BPF_CORE_READ(pid, level);
  int number = 0;
  if (level == 0 || level > 32) return 0; /* MAX_PID_NS_LEVEL */
  const __u64 at = bpf_core_field_offset(struct pid, numbers) +
                   level * bpf_core_type_size(struct upid) + bpf_core_field_offset(struct upid, nr);
  return bpf_probe_read_kernel(&number, sizeof number, (void*)pid + at) == 0 ? number : 0;
}

static __always_inline struct fathom_process_record* process_record(__u32 kind,
                                                                    struct task_struct* task) {
  __u32 zero = 0;
  struct fathom_process_record* out = bpf_map_lookup_elem(&process_scratch, &zero);
  if (!out) return 0;
  out->kind = kind;
  out->pid = FATHOM_FIELD(task, tgid);
  out->tid = FATHOM_FIELD(task, pid);
  out->parent = 0;
  out->at = bpf_ktime_get_ns();
  out->status = 0;
  out->bytes = 0;
  out->nspid = kind == FATHOM_RECORD_EXIT ? 0 : number_inside(task);
  out->since = kind == FATHOM_RECORD_EXIT ? FATHOM_FIELD(task, start_time) : 0;
  return out;
}

static __always_inline void send_process(struct fathom_process_record* out) {
  __u64 size = offsetof(struct fathom_process_record, command) + out->bytes;
  barrier_var(size);
  if (size > sizeof *out) size = sizeof *out;
  /* 0: whoever waits is woken at once, while there is something to be read of the process. */
  if (bpf_ringbuf_output(&ring, out, size, 0) != 0) lose(FATHOM_LOST_PROCESS);
}

static __always_inline void tell_exec(struct task_struct* task) {
  struct fathom_process_record* out = process_record(FATHOM_RECORD_EXEC, task);
  if (!out) return;
  out->parent = BPF_CORE_READ(task, real_parent, tgid);
  const unsigned long from = BPF_CORE_READ(task, mm, arg_start);
  __u64 bytes = BPF_CORE_READ(task, mm, arg_end) - from;
  if (bytes > FATHOM_BPF_COMMAND) bytes = FATHOM_BPF_COMMAND;
  if (bpf_probe_read_user(out->command, bytes, (void*)from) == 0) out->bytes = bytes;
  send_process(out);
}
