/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer fs: what ext4 does for a thread. It tells of both ends of an operation. */
#include "sources/ebpf/files.bpf.h"
#include "sources/ebpf/record.bpf.h"

/* A thread is in one operation of a kind at a time: its begin waits in its own storage. */
static __always_inline int begin(__u32 number) {
  struct fathom_task* state = recorded(this_task());
  if (state) state->fs_began[number] = bpf_ktime_get_ns();
  return 0;
}

static __always_inline int end(__u32 number, struct inode* inode, __s64 result) {
  const __u64 now = bpf_ktime_get_ns();
  struct task_struct* task = this_task();
  struct fathom_task* state = recorded(task);
  if (!state || !state->fs_began[number]) return 0;
  struct fathom_call_record call =
      call_of(task, FATHOM_BPF_CALL(FATHOM_BPF_FS, number), state->fs_began[number], now);
  state->fs_began[number] = 0;
  if (number == FATHOM_FS_WRITE && state->fs_call_inode == (__u64)inode) state->fs_told = 1;
  call.file = number_of_inode(inode);
  call.ret = result;
  account(&call, 0, number == FATHOM_FS_WRITE);
  return 0;
}

FATHOM_TRACEPOINT("ext4_da_write_begin")
int BPF_PROG(delayed_write_begins, struct inode* inode, long long at, unsigned int bytes) {
  return begin(FATHOM_FS_WRITE);
}
FATHOM_TRACEPOINT("ext4_da_write_end")
int BPF_PROG(delayed_write_ends, struct inode* inode, long long at, unsigned int bytes,
             unsigned int copied) {
  return end(FATHOM_FS_WRITE, inode, copied);
}
FATHOM_TRACEPOINT("ext4_write_begin")
int BPF_PROG(write_begins, struct inode* inode, long long at, unsigned int bytes) {
  return begin(FATHOM_FS_WRITE);
}
FATHOM_TRACEPOINT("ext4_write_end")
int BPF_PROG(write_ends, struct inode* inode, long long at, unsigned int bytes,
             unsigned int copied) {
  return end(FATHOM_FS_WRITE, inode, copied);
}
FATHOM_TRACEPOINT("ext4_journalled_write_end")
int BPF_PROG(journalled_write_ends, struct inode* inode, long long at, unsigned int bytes,
             unsigned int copied) {
  return end(FATHOM_FS_WRITE, inode, copied);
}

/* What the journal of a file system did last, in a thread of its own. */
struct fathom_commit {
  __u64 begun;      /* the one that goes on, or the last */
  __u64 from, till; /* the last one that has ended */
};
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 1024);
  __type(key, __u32); /* device */
  __type(value, struct fathom_commit);
} commits SEC(".maps");

FATHOM_TRACEPOINT("jbd2_start_commit")
int BPF_PROG(commit_begins, struct journal_s* journal) {
  const __u32 device = BPF_CORE_READ(journal, j_fs_dev, bd_dev);
  struct fathom_commit* known = bpf_map_lookup_elem(&commits, &device);
  struct fathom_commit commit = {.begun = bpf_ktime_get_ns()};
  if (known) {
    known->begun = commit.begun;
  } else {
    bpf_map_update_elem(&commits, &device, &commit, BPF_ANY);
  }
  return 0;
}
FATHOM_TRACEPOINT("jbd2_end_commit")
int BPF_PROG(commit_ends, struct journal_s* journal) {
  const __u32 device = BPF_CORE_READ(journal, j_fs_dev, bd_dev);
  struct fathom_commit* known = bpf_map_lookup_elem(&commits, &device);
  if (!known) return 0;
  known->from = known->begun;
  known->till = bpf_ktime_get_ns();
  return 0;
}

/* A thread that makes sure of a file writes its pages, waits for them, and then for the journal:
 * from the commit's begin, or from when it was ready to wait, to the commit's end. */
static __noinline int tell_journal(struct inode* inode) {
  struct task_struct* task = this_task();
  struct fathom_task* state = recorded(task);
  if (!inode || !state || !state->fs_began[FATHOM_FS_FSYNC]) return 0;
  const __u32 device = BPF_CORE_READ(inode, i_sb, s_dev);
  struct fathom_commit* commit = bpf_map_lookup_elem(&commits, &device);
  if (!commit) return 0;
  __u64 since = state->fs_began[FATHOM_FS_FSYNC];
  if (state->fs_wrote > since) since = state->fs_wrote;
  if (commit->from > since) since = commit->from;
  if (commit->till <= since) return 0;
  struct fathom_call_record call =
      call_of(task, FATHOM_BPF_CALL(FATHOM_BPF_FS, FATHOM_FS_JOURNAL), since, commit->till);
  call.file = number_of_inode(inode);
  account(&call, 0, false);
  return 0;
}

FATHOM_TRACEPOINT("ext4_sync_file_enter")
int BPF_PROG(sync_begins, struct file* file, int only_data) { return begin(FATHOM_FS_FSYNC); }
FATHOM_TRACEPOINT("ext4_sync_file_exit")
int BPF_PROG(sync_ends, struct inode* inode, int result) {
  tell_journal(inode);
  return end(FATHOM_FS_FSYNC, inode, result);
}

FATHOM_TRACEPOINT("ext4_writepages")
int BPF_PROG(writeback_begins, struct inode* inode, struct writeback_control* control) {
  return begin(FATHOM_FS_WRITEBACK);
}
FATHOM_TRACEPOINT("ext4_writepages_result")
int BPF_PROG(writeback_ends, struct inode* inode, struct writeback_control* control, int result,
             int pages) {
  struct fathom_task* state = recorded(this_task());
  if (state) state->fs_wrote = bpf_ktime_get_ns();
  return end(FATHOM_FS_WRITEBACK, inode, result);
}

FATHOM_TRACEPOINT("ext4_unlink_enter")
int BPF_PROG(unlink_begins, struct inode* directory, struct dentry* name) {
  return begin(FATHOM_FS_UNLINK);
}
FATHOM_TRACEPOINT("ext4_unlink_exit")
int BPF_PROG(unlink_ends, struct dentry* name, int result) {
  return end(FATHOM_FS_UNLINK, BPF_CORE_READ(name, d_inode), result);
}

FATHOM_TRACEPOINT("ext4_truncate_enter")
int BPF_PROG(truncate_begins, struct inode* inode) { return begin(FATHOM_FS_TRUNCATE); }
FATHOM_TRACEPOINT("ext4_truncate_exit")
int BPF_PROG(truncate_ends, struct inode* inode) { return end(FATHOM_FS_TRUNCATE, inode, 0); }

FATHOM_TRACEPOINT("ext4_fallocate_enter")
int BPF_PROG(fallocate_begins, struct inode* inode, long long at, long long bytes, int mode) {
  return begin(FATHOM_FS_FALLOCATE);
}
FATHOM_TRACEPOINT("ext4_fallocate_exit")
int BPF_PROG(fallocate_ends, struct inode* inode, long long at, unsigned int blocks, int result) {
  return end(FATHOM_FS_FALLOCATE, inode, result);
}
