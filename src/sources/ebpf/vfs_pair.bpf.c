/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer vfs where the kernel has no trampolines for functions: kprobes at both ends of each. What
 * comes in with the call waits in the task's state. */
#include "sources/ebpf/files.bpf.h"
#include "sources/ebpf/record.bpf.h"

static __always_inline int begin(struct file* file) {
  struct fathom_task* state = recorded(bpf_get_current_task_btf());
  if (!state) return 0;
  state->vfs_file = (__u64)file;
  state->vfs_began = bpf_ktime_get_ns();
  return 0;
}

static __always_inline int end(__u32 number, struct pt_regs* context, bool moves) {
  const __u64 now = bpf_ktime_get_ns();
  struct task_struct* task = bpf_get_current_task_btf();
  struct fathom_task* state = recorded(task);
  if (!state || !state->vfs_began) return 0;
  struct fathom_call_record call =
      call_of(task, FATHOM_BPF_CALL(FATHOM_BPF_VFS, number), state->vfs_began, now);
  state->vfs_began = 0;
  call.file = number_of_file((struct file*)state->vfs_file, false);
  call.ret = moves ? (long)FATHOM_RESULT(context) : (int)FATHOM_RESULT(context);
  account(&call, 0, moves);
  return 0;
}

SEC("kprobe/vfs_read")
int read_begins(struct pt_regs* context) { return begin((struct file*)FATHOM_FIRST(context)); }
SEC("kretprobe/vfs_read")
int read_ends(struct pt_regs* context) { return end(FATHOM_VFS_READ, context, true); }

SEC("kprobe/vfs_write")
int write_begins(struct pt_regs* context) { return begin((struct file*)FATHOM_FIRST(context)); }
SEC("kretprobe/vfs_write")
int write_ends(struct pt_regs* context) { return end(FATHOM_VFS_WRITE, context, true); }

SEC("kprobe/vfs_fsync_range")
int fsync_begins(struct pt_regs* context) { return begin((struct file*)FATHOM_FIRST(context)); }
SEC("kretprobe/vfs_fsync_range")
int fsync_ends(struct pt_regs* context) { return end(FATHOM_VFS_FSYNC, context, false); }

SEC("kprobe/vfs_open")
int open_begins(struct pt_regs* context) { return begin((struct file*)FATHOM_SECOND(context)); }
SEC("kretprobe/vfs_open")
int open_ends(struct pt_regs* context) { return end(FATHOM_VFS_OPEN, context, false); }
