/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer vfs: functions that every file system is reached by. There are no tracepoints: programs at
 * functions, where the kernel allows them. */
#include "sources/ebpf/vfs.bpf.h"

SEC("fentry/vfs_read")
int BPF_PROG(read_begins, struct file* file) { return begin(file, 0); }
SEC("fexit/vfs_read")
int BPF_PROG(read_ends, struct file* file, char* to, unsigned long bytes, long long* at, long ret) {
  return end(FATHOM_VFS_READ, ret, 0, true);
}

SEC("fentry/vfs_write")
int BPF_PROG(write_begins, struct file* file) { return begin(file, 0); }
SEC("fexit/vfs_write")
int BPF_PROG(write_ends, struct file* file, const char* from, unsigned long bytes, long long* at,
             long ret) {
  return end(FATHOM_VFS_WRITE, ret, 0, true);
}

SEC("fentry/vfs_fsync_range")
int BPF_PROG(fsync_begins, struct file* file) { return begin(file, 0); }
SEC("fexit/vfs_fsync_range")
int BPF_PROG(fsync_ends, struct file* file, long long from, long long to, int only_data, int ret) {
  return end(FATHOM_VFS_FSYNC, ret, 0, false);
}

SEC("fentry/vfs_open")
int BPF_PROG(open_begins, struct path* path, struct file* file) { return begin(file, 0); }
SEC("fexit/vfs_open")
int BPF_PROG(open_ends, struct path* path, struct file* file, int ret) {
  return end(FATHOM_VFS_OPEN, ret, 0, false);
}
