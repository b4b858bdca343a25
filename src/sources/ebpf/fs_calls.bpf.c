/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer fs: reads, direct I/O, and file systems that tell nothing of both ends of an operation:
 * there the call is all that is known. */
#include "sources/ebpf/arguments.bpf.h"
#include "sources/ebpf/files.bpf.h"
#include "sources/ebpf/record.bpf.h"

#if defined(__TARGET_ARCH_arm64)
#define FATHOM_DIRECT 0200000 /* O_DIRECT */
#else
#define FATHOM_DIRECT 040000
#endif
#define FATHOM_BAD_ADDRESS 14 /* EFAULT */
#define FATHOM_NOT_DIRECT 15  /* ENOTBLK */
#define FATHOM_KIND_OF_FILE 0170000
#define FATHOM_REGULAR 0100000

enum {
  MAGIC_EXT4 = 0xEF53,
  MAGIC_XFS = 0x58465342,
  MAGIC_BTRFS = 0x9123683E,
  MAGIC_NFS = 0x6969,
  MAGIC_OVERLAY = 0x794c7630,
  MAGIC_F2FS = 0xF2F52010,
  MAGIC_FUSE = 0x65735546,
  MAGIC_CEPH = 0x00c36400,
  MAGIC_LUSTRE = 0x0BD00BD0,
  MAGIC_CIFS = 0xFF534D42,
  MAGIC_SMB2 = 0xFE534D42,
};

/* Direct I/O and operations of io_uring, by what the kernel keeps of them. What never ends makes
 * room. */
struct fathom_direct {
  __u64 began;
  __u32 pid, tid;
  __u32 file;
  __u32 writes;
};
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 65536);
  __type(key, __u64);
  __type(value, struct fathom_direct);
} directs SEC(".maps");

/* (Functions that are not static are looked at once by the verifier. They take no pointers of the
 * kernel's.) */
__noinline __u32 number_of_open_file(__u64 file) {
  return number_of_file((struct file*)file, false);
}
__noinline __u32 number_of_host(__u64 inode) { return number_of_inode((struct inode*)inode); }

__noinline int tell(__u32 number, __u32 file, __s64 ret, __u64 begin, __u64 end) {
  struct fathom_call_record call =
      call_of(this_task(), FATHOM_BPF_CALL(FATHOM_BPF_FS, number), begin, end);
  call.file = file;
  call.ret = ret;
  account(&call, 0, number != FATHOM_FS_FSYNC);
  return 0;
}

/* A file system that lies on another one opens its files by a mount that nobody else sees, and no
 * path leads through it: there the one below knows the names. */
static __always_inline __u32 number_of_direct(struct file* file) {
  struct vfsmount* mnt = BPF_CORE_READ(file, f_path.mnt);
  struct mount* mount = (struct mount*)((char*)mnt - bpf_core_field_offset(struct mount, mnt));
  const __s64 of_whom = (__s64)BPF_CORE_READ(mount, mnt_ns);
  if (of_whom < 0 && of_whom >= -FATHOM_MAX_ERROR)
    return number_of_host((__u64)BPF_CORE_READ(file, f_inode));
  return number_of_open_file((__u64)file);
}

FATHOM_TRACEPOINT("iomap_dio_rw_begin")
int BPF_PROG(direct_begins, struct kiocb* iocb, struct iov_iter* iter) {
  const __u64 key = (__u64)iocb;
  struct task_struct* task = this_task();
  struct fathom_task* state = recorded(task);
  if (!state) return 0;
  struct file* file = BPF_CORE_READ(iocb, ki_filp);
  struct fathom_direct one = {.began = bpf_ktime_get_ns(),
                              .pid = FATHOM_FIELD(task, tgid),
                              .tid = FATHOM_FIELD(task, pid),
                              .file = number_of_direct(file),
                              .writes = BPF_CORE_READ(iter, data_source)};
  if ((__u64)BPF_CORE_READ(file, f_inode) == state->fs_call_inode) state->fs_told = 1;
  bpf_map_update_elem(&directs, &key, &one, BPF_ANY);
  return 0;
}

/* The file system tries again, or goes by the page cache. If not, the call tells. */
static __always_inline int try_again(__u32 thread) {
  struct task_struct* task = this_task();
  struct fathom_task* state = followed(task);
  if (state && FATHOM_FIELD(task, pid) == thread) state->fs_told = 0;
  return 0;
}

/* In whichever thread. */
FATHOM_TRACEPOINT("iomap_dio_complete")
int BPF_PROG(direct_ends, struct kiocb* iocb, int error, long ret) {
  const __u64 key = (__u64)iocb;
  struct fathom_direct* begun = bpf_map_lookup_elem(&directs, &key);
  if (!begun) return 0;
  struct fathom_call_record call = call_of(
      this_task(), FATHOM_BPF_CALL(FATHOM_BPF_FS, begun->writes ? FATHOM_FS_WRITE : FATHOM_FS_READ),
      begun->began, bpf_ktime_get_ns());
  call.pid = begun->pid;
  call.tid = begun->tid;
  call.file = begun->file;
  call.ret = ret;
  bpf_map_delete_elem(&directs, &key);
  if (ret == -FATHOM_BAD_ADDRESS || ret == -FATHOM_NOT_DIRECT) return try_again(call.tid);
  account(&call, own_shard(), true);
  return 0;
}

/* A read lasts from when the page cache is first asked until the call returns. (A device that is
 * read like a file has no file system.) */
FATHOM_TRACEPOINT("mm_filemap_get_pages")
int BPF_PROG(read_begins, struct address_space* mapping) {
  struct fathom_task* state = recorded(this_task());
  if (!state || state->fs_began[FATHOM_FS_READ]) return 0;
  struct inode* inode = BPF_CORE_READ(mapping, host);
  if ((BPF_CORE_READ(inode, i_mode) & FATHOM_KIND_OF_FILE) != FATHOM_REGULAR) return 0;
  state->fs_read_inode = (__u64)inode;
  state->fs_began[FATHOM_FS_READ] = bpf_ktime_get_ns();
  return 0;
}

/* Whether the call may be all that is known of what the file system does. Hooks tell of most reads,
 * and of direct I/O (Linux 6.6) where it does not go over a network. */
static __always_inline bool tells_nothing(struct file* file, __u32 kind) {
  const bool direct = BPF_CORE_READ(file, f_flags) & FATHOM_DIRECT;
  const bool read_untold = direct || settings.reads_by_call;
  switch (BPF_CORE_READ(file, f_inode, i_sb, s_magic)) {
    case MAGIC_OVERLAY: /* reads are those of the one below, too */
      return true;
    case MAGIC_EXT4:
      return kind & FATHOM_CALL_READS ? read_untold : direct && !(kind & FATHOM_CALL_SYNCS);
    case MAGIC_XFS:
    case MAGIC_BTRFS:
    case MAGIC_NFS:
    case MAGIC_F2FS:
    case MAGIC_FUSE:
    case MAGIC_CEPH:
    case MAGIC_LUSTRE:
    case MAGIC_CIFS:
    case MAGIC_SMB2:
      return !(kind & FATHOM_CALL_READS) || read_untold;
    default:
      return false;
  }
}

FATHOM_TRACEPOINT("sys_enter")
int BPF_PROG(call_begins, struct pt_regs* regs, long id) {
  struct task_struct* task = this_task();
  struct fathom_task* state = followed(task);
  if (!state) return 0;
  state->fs_began[FATHOM_FS_READ] = state->fs_call_began = 0;
  state->fs_call_inode = state->fs_told = 0;
  const __u32 number = number_of_call(task, id);
  const __u32 kind = kind_of(number);
  const __u32 wanted =
      FATHOM_CALL_READS | FATHOM_CALL_WRITES | FATHOM_CALL_SYNCS | FATHOM_CALL_COPIES;
  if (!(kind & wanted) || !recorded(task)) return 0;
  const struct fathom_arguments all = arguments_of(regs, number);
  const __s32 fd = kind & FATHOM_CALL_TO_SECOND  ? (__s32)all.second
                   : kind & FATHOM_CALL_TO_THIRD ? (__s32)all.third
                                                 : (__s32)all.first;
  struct file* file = file_at(task, fd);
  if (!file || !tells_nothing(file, kind)) return 0;
  state->fs_call_inode = (__u64)BPF_CORE_READ(file, f_inode);
  state->fs_call_file = number_of_open_file((__u64)file);
  state->fs_call_began = bpf_ktime_get_ns();
  return 0;
}

/* By the name that it was opened under, where the call's descriptor is what was read. */
static __always_inline __u32 number_of_read(struct task_struct* task, struct pt_regs* regs,
                                            __u32 number, __u64 inode) {
  const struct fathom_arguments all = arguments_of(regs, number);
  const bool second = kind_of(number) & FATHOM_CALL_TO_FIRST;
  struct file* file = file_at(task, second ? (__s32)all.second : (__s32)all.first);
  if (file && (__u64)BPF_CORE_READ(file, f_inode) == inode) return number_of_open_file((__u64)file);
  return number_of_host(inode);
}

FATHOM_TRACEPOINT("sys_exit")
int BPF_PROG(call_ends, struct pt_regs* regs, long ret) {
  const __u64 now = bpf_ktime_get_ns();
  struct task_struct* task = this_task();
  struct fathom_task* state = followed(task);
  if (!state || (!state->fs_began[FATHOM_FS_READ] && !state->fs_call_began)) return 0;
  const __u64 read = state->fs_began[FATHOM_FS_READ];
  const bool is_told = state->fs_told || (read && state->fs_read_inode == state->fs_call_inode);
  const __u64 call = is_told ? 0 : state->fs_call_began;
  state->fs_began[FATHOM_FS_READ] = state->fs_call_began = 0;
  if (!recorded(task)) return 0;
  const __u32 number = number_of_call(task, FATHOM_NUMBER(regs));
  const __u32 kind = kind_of(number);
  if (read && (kind & FATHOM_CALL_RETURNS_BYTES))
    tell(FATHOM_FS_READ, number_of_read(task, regs, number, state->fs_read_inode), ret, read, now);
  if (call)
    tell(kind & FATHOM_CALL_SYNCS   ? FATHOM_FS_FSYNC
         : kind & FATHOM_CALL_READS ? FATHOM_FS_READ
                                    : FATHOM_FS_WRITE,
         state->fs_call_file, ret, call, now);
  return 0;
}

/* Operations of io_uring are done by whichever thread: what is known is what is known of them. */
enum {
  URING_READV = 1,
  URING_WRITEV = 2,
  URING_READ_FIXED = 4,
  URING_WRITE_FIXED = 5,
  URING_READ = 22,
  URING_WRITE = 23,
};

FATHOM_TRACEPOINT("io_uring_submit_req")
int BPF_PROG(operation_begins, struct io_kiocb* req) {
  struct task_struct* task = this_task();
  if (!recorded(task)) return 0;
  const __u64 key = (__u64)req;
  struct fathom_direct one = {
      .began = bpf_ktime_get_ns(), .pid = FATHOM_FIELD(task, tgid), .tid = FATHOM_FIELD(task, pid)};
  bpf_map_update_elem(&directs, &key, &one, BPF_ANY);
  return 0;
}

/* Whether nobody else tells of it: neither direct I/O nor ext4, which writes in the thread's name.
 */
static __always_inline bool is_untold(struct file* file, bool reads) {
  if (!file || BPF_CORE_READ(file, f_flags) & FATHOM_DIRECT) return false;
  const __u32 mode = BPF_CORE_READ(file, f_inode, i_mode);
  if ((mode & FATHOM_KIND_OF_FILE) != FATHOM_REGULAR) return false;
  return reads || tells_nothing(file, FATHOM_CALL_WRITES);
}

FATHOM_TRACEPOINT("io_uring_complete")
int BPF_PROG(operation_ends, struct io_ring_ctx* ring_of_it, struct io_kiocb* req,
             struct io_uring_cqe* cqe) {
  const __u64 key = (__u64)req;
  struct fathom_direct* begun = bpf_map_lookup_elem(&directs, &key);
  if (!begun) return 0;
  const __u32 opcode = BPF_CORE_READ(req, opcode);
  const bool reads = opcode == URING_READ || opcode == URING_READV || opcode == URING_READ_FIXED;
  const bool writes =
      opcode == URING_WRITE || opcode == URING_WRITEV || opcode == URING_WRITE_FIXED;
  struct file* file = BPF_CORE_READ(req, file);
  struct fathom_call_record call =
      call_of(this_task(), FATHOM_BPF_CALL(FATHOM_BPF_FS, reads ? FATHOM_FS_READ : FATHOM_FS_WRITE),
              begun->began, bpf_ktime_get_ns());
  call.pid = begun->pid;
  call.tid = begun->tid;
  bpf_map_delete_elem(&directs, &key);
  if (!(reads || writes) || !is_untold(file, reads)) return 0;
  call.file = number_of_open_file((__u64)file);
  call.ret = BPF_CORE_READ(cqe, res);
  account(&call, own_shard(), true);
  return 0;
}
