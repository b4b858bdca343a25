/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer vfs: functions that every file system is reached by. There are no tracepoints: programs at
 * functions, where the kernel allows them. */
#include "sources/ebpf/files.bpf.h"
#include "sources/ebpf/record.bpf.h"

static __always_inline int begin(void) {
  struct fathom_task* state = recorded(bpf_get_current_task_btf());
  if (state) state->vfs_began = bpf_ktime_get_ns();
  return 0;
}

static __always_inline int end(__u32 number, struct file* file, __s64 result, bool moves) {
  const __u64 now = bpf_ktime_get_ns();
  struct task_struct* task = bpf_get_current_task_btf();
  struct fathom_task* state = recorded(task);
  if (!state || !state->vfs_began) return 0;
  struct fathom_call_record call =
      call_of(task, FATHOM_BPF_CALL(FATHOM_BPF_VFS, number), state->vfs_began, now);
  state->vfs_began = 0;
  call.file = number_of_file(file, false);
  call.ret = result;
  account(&call, 0, moves);
  return 0;
}

SEC("fentry/vfs_read")
int BPF_PROG(read_begins, struct file* file) { return begin(); }
SEC("fexit/vfs_read")
int BPF_PROG(read_ends, struct file* file, char* to, unsigned long bytes, long long* at, long ret) {
  return end(FATHOM_VFS_READ, file, ret, true);
}

SEC("fentry/vfs_write")
int BPF_PROG(write_begins, struct file* file) { return begin(); }
SEC("fexit/vfs_write")
int BPF_PROG(write_ends, struct file* file, const char* from, unsigned long bytes, long long* at,
             long ret) {
  return end(FATHOM_VFS_WRITE, file, ret, true);
}

SEC("fentry/vfs_fsync_range")
int BPF_PROG(fsync_begins, struct file* file) { return begin(); }
SEC("fexit/vfs_fsync_range")
int BPF_PROG(fsync_ends, struct file* file, long long from, long long to, int only_data, int ret) {
  return end(FATHOM_VFS_FSYNC, file, ret, false);
}

SEC("fentry/vfs_open")
int BPF_PROG(open_begins, struct path* path, struct file* file) { return begin(); }
SEC("fexit/vfs_open")
int BPF_PROG(open_ends, struct path* path, struct file* file, int ret) {
  return end(FATHOM_VFS_OPEN, file, ret, false);
}
