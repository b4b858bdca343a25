/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer vfs: functions that every file system is reached by. There are no tracepoints: programs at
 * functions, where the kernel allows them. */
#include "sources/ebpf/vfs.bpf.h"

SEC("fentry/vfs_read")
int BPF_PROG(read_begins, struct file* file) { return begin(file, 0, 0); }
SEC("fexit/vfs_read")
int BPF_PROG(read_ends, struct file* file, char* to, unsigned long bytes, long long* at, long ret) {
  return end(FATHOM_VFS_READ, ret, 0, true);
}

SEC("fentry/vfs_write")
int BPF_PROG(write_begins, struct file* file) { return begin(file, 0, 0); }
SEC("fexit/vfs_write")
int BPF_PROG(write_ends, struct file* file, const char* from, unsigned long bytes, long long* at,
             long ret) {
  return end(FATHOM_VFS_WRITE, ret, 0, true);
}

SEC("fentry/vfs_fsync_range")
int BPF_PROG(fsync_begins, struct file* file) { return begin(file, 0, 0); }
SEC("fexit/vfs_fsync_range")
int BPF_PROG(fsync_ends, struct file* file, long long from, long long to, int only_data, int ret) {
  return end(FATHOM_VFS_FSYNC, ret, 0, false);
}

SEC("fentry/vfs_open")
int BPF_PROG(open_begins, struct path* path, struct file* file) { return begin(file, 0, 0); }
SEC("fexit/vfs_open")
int BPF_PROG(open_ends, struct path* path, struct file* file, int ret) {
  return end(FATHOM_VFS_OPEN, ret, 0, false);
}

/* readv, preadv and their relatives. */
SEC("fentry/vfs_readv")
int BPF_PROG(vector_read_begins, struct file* file) { return begin(file, 0, 0); }
SEC("fexit/vfs_readv")
int BPF_PROG(vector_read_ends, struct file* file, const void* to, unsigned long count,
             long long* at, int flags, long ret) {
  return end(FATHOM_VFS_READ, ret, 0, true);
}

SEC("fentry/vfs_writev")
int BPF_PROG(vector_write_begins, struct file* file) { return begin(file, 0, 0); }
SEC("fexit/vfs_writev")
int BPF_PROG(vector_write_ends, struct file* file, const void* from, unsigned long count,
             long long* at, int flags, long ret) {
  return end(FATHOM_VFS_WRITE, ret, 0, true);
}

/* From one file to another. */
#define FATHOM_COPY(function)                                                                      \
  SEC("fentry/" #function)                                                                         \
  int BPF_PROG(function##_begins, struct file* in, long long* from, struct file* out) {            \
    return begin(in, out, 0);                                                                      \
  }                                                                                                \
  SEC("fexit/" #function)                                                                          \
  int BPF_PROG(function##_ends, struct file* in, long long* from, struct file* out, long long* to, \
               unsigned long bytes, unsigned int flags, long ret) {                                \
    return end(FATHOM_VFS_READ, ret, 0, true);                                                     \
  }
FATHOM_COPY(do_splice)           /* splice */
FATHOM_COPY(do_splice_direct)    /* sendfile */
FATHOM_COPY(vfs_copy_file_range) /* copy_file_range */

/* sendfile to a pipe */
SEC("fentry/splice_file_to_pipe")
int BPF_PROG(pipe_begins, struct file* in) { return begin(in, 0, 0); }
SEC("fexit/splice_file_to_pipe")
int BPF_PROG(pipe_ends, struct file* in, void* to, long long* from, unsigned long bytes,
             unsigned int flags, long ret) {
  return end(FATHOM_VFS_READ, ret, 0, true);
}
