/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer vfs where the kernel has no trampolines for functions: kprobes at both ends of each. The
 * kernel follows so many calls at a time to their end; others are counted when they begin. */
#include "sources/ebpf/vfs.bpf.h"

static __always_inline int enter(struct pt_regs* context, unsigned long file) {
  return begin((struct file*)file, 0, FATHOM_STACK(context));
}
static __always_inline int leave(struct pt_regs* context, __u32 number, bool moves) {
  const long result = FATHOM_RESULT(context);
  return end(number, moves ? result : (int)result, FATHOM_STACK(context) - FATHOM_RETURN_BYTES,
             moves);
}

SEC("kprobe/vfs_read")
int read_begins(struct pt_regs* context) { return enter(context, FATHOM_FIRST(context)); }
SEC("kretprobe/vfs_read")
int read_ends(struct pt_regs* context) { return leave(context, FATHOM_VFS_READ, true); }

SEC("kprobe/vfs_write")
int write_begins(struct pt_regs* context) { return enter(context, FATHOM_FIRST(context)); }
SEC("kretprobe/vfs_write")
int write_ends(struct pt_regs* context) { return leave(context, FATHOM_VFS_WRITE, true); }

SEC("kprobe/vfs_fsync_range")
int fsync_begins(struct pt_regs* context) { return enter(context, FATHOM_FIRST(context)); }
SEC("kretprobe/vfs_fsync_range")
int fsync_ends(struct pt_regs* context) { return leave(context, FATHOM_VFS_FSYNC, false); }

SEC("kprobe/vfs_open")
int open_begins(struct pt_regs* context) { return enter(context, FATHOM_SECOND(context)); }
SEC("kretprobe/vfs_open")
int open_ends(struct pt_regs* context) { return leave(context, FATHOM_VFS_OPEN, false); }

SEC("kprobe/vfs_readv")
int vector_read_begins(struct pt_regs* context) { return enter(context, FATHOM_FIRST(context)); }
SEC("kretprobe/vfs_readv")
int vector_read_ends(struct pt_regs* context) { return leave(context, FATHOM_VFS_READ, true); }

SEC("kprobe/vfs_writev")
int vector_write_begins(struct pt_regs* context) { return enter(context, FATHOM_FIRST(context)); }
SEC("kretprobe/vfs_writev")
int vector_write_ends(struct pt_regs* context) { return leave(context, FATHOM_VFS_WRITE, true); }

#define FATHOM_COPY(function)                                                              \
  SEC("kprobe/" #function)                                                                 \
  int function##_begins(struct pt_regs* context) {                                         \
    return begin((struct file*)FATHOM_FIRST(context), (struct file*)FATHOM_THIRD(context), \
                 FATHOM_STACK(context));                                                   \
  }                                                                                        \
  SEC("kretprobe/" #function)                                                              \
  int function##_ends(struct pt_regs* context) { return leave(context, FATHOM_VFS_READ, true); }
FATHOM_COPY(do_splice)
FATHOM_COPY(do_splice_direct)
FATHOM_COPY(vfs_copy_file_range)

SEC("kprobe/splice_file_to_pipe")
int pipe_begins(struct pt_regs* context) { return enter(context, FATHOM_FIRST(context)); }
SEC("kretprobe/splice_file_to_pipe")
int pipe_ends(struct pt_regs* context) { return leave(context, FATHOM_VFS_READ, true); }
