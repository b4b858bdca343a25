/* SPDX-License-Identifier: MIT
 * What the kernel's half and ours both know: keys and values of maps, and records of the ring.
 * Plain C, fixed layouts. */
#ifndef FATHOM_SOURCES_EBPF_SHARED_H
#define FATHOM_SOURCES_EBPF_SHARED_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* NOLINTBEGIN(readability-identifier-naming): names of C. */

enum {
  FATHOM_BPF_CALLS = 512,    /* system calls are numbered below this */
  FATHOM_BPF_HIST = 48,      /* log2 buckets: up to 78 hours */
  FATHOM_BPF_PATH = 4096,    /* bytes of a path, its components from the last to the first */
  FATHOM_BPF_NAME = 256,     /* of one of them */
  FATHOM_BPF_COMMAND = 2048, /* bytes of the arguments of a program */
  FATHOM_BPF_NO_FILE = 0,
  FATHOM_BPF_OTHERS = 1,  /* some file, for whose name its user had no room */
  FATHOM_BPF_BITS = 2048, /* of calls in a filter: system calls, then operations of io_uring and of
                             io_submit, then system calls of 32 bits */
};

/* In the place of the generation of a file that calls named. */
#define FATHOM_BPF_NAMED 0xfffffffe
/* In the number of a file that lies outside of all paths that are wanted. */
#define FATHOM_BPF_ELSEWHERE 0x80000000U
#define FATHOM_BPF_BIT_OF(number)                                            \
  (((number) & (FATHOM_BPF_CALLS - 1)) |                                     \
   ((number) & (FATHOM_BPF_URING | FATHOM_BPF_AIO) ? FATHOM_BPF_CALLS : 0) | \
   ((number)&FATHOM_BPF_AIO ? FATHOM_BPF_CALLS / 2 : 0) |                    \
   ((number)&FATHOM_BPF_NARROW ? FATHOM_BPF_CALLS * 2 : 0))

/* Kinds of rows. */
enum fathom_bpf_layer {
  FATHOM_BPF_SYSCALL,
  FATHOM_BPF_SCHED,
  FATHOM_BPF_VFS,
  FATHOM_BPF_FS,
  FATHOM_BPF_PAGECACHE,
  FATHOM_BPF_BLOCK,
  FATHOM_BPF_NET,
  FATHOM_BPF_USER,
  FATHOM_BPF_KERNEL,
  FATHOM_BPF_LAYERS,
  FATHOM_BPF_LAYER_MASK = 15, /* holds all of them */
};

/* What is counted: a layer, and a number that it gives its calls. */
#define FATHOM_BPF_CALL(layer, number) ((__u32)(layer) << 24 | (__u32)(number))
#define FATHOM_BPF_LAYER_OF(call) ((call) >> 24)
#define FATHOM_BPF_NUMBER_OF(call) ((call)&0xffffff)

enum {
  FATHOM_BPF_NO_SUCH_CALL = 0xffff, /* layer syscall: a number that no kernel gives */
  FATHOM_BPF_URING = 0x10000,       /* layer syscall: operations of io_uring begin here */
  FATHOM_BPF_AIO = 0x20000,         /* and those of io_submit */
  FATHOM_BPF_TARGET = 0x40000,      /* layer syscall: what such a call wrote to a second file */
  FATHOM_BPF_NARROW = 0x80000,      /* layer syscall: of the table for programs of 32 bits */
  FATHOM_BPF_UNTIMED = 0x800000,    /* layers user and kernel: counted when it began */
  /* layers user and kernel, of a cookie: */
  FATHOM_BPF_POINT = 0x1000000, /* its return is not probed, or it is passed and not called */
  FATHOM_BPF_ASK = 0x2000000,   /* its return is probed in programs that are known to be plain */
};
enum fathom_sched_call { FATHOM_SCHED_SLEEP, FATHOM_SCHED_BLOCK, FATHOM_SCHED_RUNQUEUE };
enum fathom_vfs_call { FATHOM_VFS_READ, FATHOM_VFS_WRITE, FATHOM_VFS_FSYNC, FATHOM_VFS_OPEN };
enum { FATHOM_VFS_DEEP = 4 }; /* calls of one thread inside of each other */
enum fathom_fs_call {
  FATHOM_FS_WRITE,
  FATHOM_FS_FSYNC,
  FATHOM_FS_WRITEBACK,
  FATHOM_FS_UNLINK,
  FATHOM_FS_TRUNCATE,
  FATHOM_FS_FALLOCATE,
  FATHOM_FS_READ,
  FATHOM_FS_JOURNAL, /* a wait for the journal to be on disk */
  FATHOM_FS_CALLS,
};
enum fathom_pagecache_call {
  FATHOM_PAGECACHE_LOOKUP,
  FATHOM_PAGECACHE_ADD,
  FATHOM_PAGECACHE_EVICT,
  FATHOM_PAGECACHE_FAULT,
  FATHOM_PAGECACHE_MAP,
  FATHOM_PAGECACHE_DIRTY,
};
enum fathom_block_call {
  FATHOM_BLOCK_READ,
  FATHOM_BLOCK_WRITE,
  FATHOM_BLOCK_FLUSH,
  FATHOM_BLOCK_DISCARD,
  FATHOM_BLOCK_OTHER,
};
enum fathom_net_call { FATHOM_NET_SEND, FATHOM_NET_RECEIVE };

/* What a system call's arguments and result are. */
enum fathom_call_kind {
  FATHOM_CALL_FD = 1, /* the first argument is a descriptor */
  FATHOM_CALL_RETURNS_FD = 2,
  FATHOM_CALL_RETURNS_BYTES = 4,
  FATHOM_CALL_ENDS = 8,      /* does not return */
  FATHOM_CALL_SIZE = 16,     /* the third argument is how many bytes are asked for */
  FATHOM_CALL_OFFSET = 32,   /* the fourth argument is the position */
  FATHOM_CALL_SUBMITS = 64,  /* operations, which the second and third argument name */
  FATHOM_CALL_FETCHES = 128, /* results of such, to where the fourth argument says */
  /* Two descriptors: bytes go from that of the first argument to this one, */
  FATHOM_CALL_TO_SECOND = 256,
  FATHOM_CALL_TO_THIRD = 512,
  FATHOM_CALL_TO_FIRST = 1024, /* or from that of the second argument to the first. */
  FATHOM_CALL_COPIES = FATHOM_CALL_TO_FIRST | FATHOM_CALL_TO_SECOND | FATHOM_CALL_TO_THIRD,
  FATHOM_CALL_FIFTH_FD = 2048, /* the fifth argument is a descriptor */
  /* A path: the first argument; the second; the second and third, below the descriptor before it.
   */
  FATHOM_CALL_PATH = 4096,
  FATHOM_CALL_SECOND_PATH = 8192,
  FATHOM_CALL_PATH_AT = 16384,
  FATHOM_CALL_SECOND_PATH_AT = 32768,
  FATHOM_CALL_NAMES =
      FATHOM_CALL_PATH | FATHOM_CALL_SECOND_PATH | FATHOM_CALL_PATH_AT | FATHOM_CALL_SECOND_PATH_AT,
  FATHOM_CALL_MOVES = 65536, /* once it has ended, the path may mean something else */
  /* What it does to the file of the first argument. */
  FATHOM_CALL_READS = 131072,
  FATHOM_CALL_WRITES = 262144,
  FATHOM_CALL_SYNCS = 524288,
};

/* What of a layer is recorded. */
struct fathom_bpf_filter {
  __u64 least_ns; /* calls that took less are left out */
  __u32 one_in;   /* of so many calls one is taken, by chance; 0: all are */
  __u32 by_call;  /* only those whose bit is set below */
  __u32 by_path;  /* only those on files that lie where it is wanted */
  __u32 calls[FATHOM_BPF_BITS / 32];
};

/* Set before anybody is recorded. */
struct fathom_bpf_settings {
  __u64 start_ns; /* of the run, by the monotonic clock */
  __u64 interval_ns;
  __u32 detail; /* a bit for each layer with a record for each call */
  __u32 page_size;
  __u32 filtered;   /* a bit for each layer with a filter */
  __u32 by_path;    /* some filter asks where files lie */
  __u32 age;        /* counted on while we record: what is not met for some is forgotten */
  __u32 user_files; /* that a user may have in `files`; 0: as many as there is room for */
  __u64 window_ns;
  __u32 user_rows;  /* new ones with a file, and files that are met, of a user in such a time; 0: as
                       many as there is room for */
  __u32 user_most;  /* new rows in it, whatever they tell of */
  __u64 cgroup;     /* only tasks in it or below; 0: all */
  __u64 wake_bytes; /* in the ring: so many wake whoever waits for them */
  __u32 begins_when_issued; /* requests to devices: no hook tells of them before */
  __u32 faults_end;         /* faults are told of when they have ended, too */
  __u32 reads_by_call;      /* no hook tells when the page cache is asked */
  __u32 unused;
  struct fathom_bpf_filter filters[FATHOM_BPF_LAYER_MASK + 1]; /* by layer */
  __u32 call_kinds[2 * FATHOM_BPF_CALLS]; /* of this machine, then of 32 bits */
};

/* A call of the VFS that has not ended. */
struct fathom_vfs_state {
  __u64 file;
  __u64 target; /* of a call that copies: the file that is written to */
  __u64 stack;
  __u64 began; /* 0: inside of another one on the same file, which tells of it */
};

/* A fault of a mapped file that has not ended. */
struct fathom_fault {
  __u64 began; /* 0: none */
  __u64 inode, page;
  __u64 pages;
  __u32 file;
  __u32 unused;
};
/* A page that had to be looked for, or pages that were there. */
enum { FATHOM_FAULT_MISSED, FATHOM_FAULT_MAPPED, FATHOM_FAULT_KINDS };

/* Of a task that is recorded. */
struct fathom_task {
  __u64 task;  /* its address in the kernel, where it is found by its number */
  __u64 began; /* ns; 0: in no call */
  __u64 size;
  __u64 offset;
  __u32 number;
  __u32 file;
  __s32 fd;
  __u32 on;     /* 0: waits for the program to begin */
  __u32 target; /* the file that is written to by a call that copies */
  __s32 target_fd;
  /* layer sched */
  __u64 asleep;   /* ns, since when; 0: it is not */
  __u64 runnable; /* ns, since when it waits for a CPU; 0: it does not */
  __u32 why_asleep;
  __u32 vfs_depth;
  __u32 age;   /* in which the call began */
  __u32 plain; /* its program is one of `plain_programs` */
  __u32 ended; /* its end was told: what it still waits for is not part of its life */
  __u32 unused;
  /* layers vfs and fs */
  struct fathom_vfs_state vfs[FATHOM_VFS_DEEP]; /* calls that it is in, the innermost last */
  __u64 fs_began[FATHOM_FS_CALLS];
  __u64 fs_wrote;      /* when it ended to write pages back */
  __u64 fs_call_began; /* a call on a file system that tells nothing; 0: in none */
  __u64 fs_call_inode;
  __u64 fs_read_inode;
  __u32 fs_call_file;
  __u32 fs_told; /* a hook tells what the call does with its file */
  /* layer pagecache: the fault that it is in */
  struct fathom_fault faults[FATHOM_FAULT_KINDS];
};

struct fathom_call_key {
  __u32 interval;
  __u32 pid;
  __u32 tid;
  __u32 call;
  __u32 file;
  __u32 shard; /* rows that only one at a time adds to need no atomic operation */
};

struct fathom_call_sums {
  __u64 calls, errors, bytes;
  __u64 ns, least_ns, most_ns;
  __u32 hist[FATHOM_BPF_HIST];
};

struct fathom_file_key {
  __u64 inode;
  __u32 device;
  __u32 generation; /* of the inode: its number is given to others once the file is gone */
};

/* Texts that begin like this; up to FATHOM_BPF_NAME bytes. */
struct fathom_prefix {
  __u32 bits;
  char text[FATHOM_BPF_NAME];
};

struct fathom_file {
  __u64 names; /* a hash of all names from the file to the root: another one, another path. 0: as
                  its file system calls it */
  __u32 id;
  __u32 seen; /* the age in which it was met */
  __u32 user; /* who met it first */
  __u32 unused;
};

/* What a user has taken of what all share. */
struct fathom_user {
  __u32 files;
  __u32 names;  /* those of them that calls named: a quarter at most */
  __u32 window; /* the one that these are of: */
  __u32 rows;
  __u32 met; /* files */
};
enum {
  FATHOM_BPF_EVERYBODY = 0xffffffff
}; /* those who came when there was no room for more users */

enum fathom_record_kind {
  FATHOM_RECORD_CALL = 1, /* of layers that are recorded in detail */
  FATHOM_RECORD_SUM = 2,  /* a call that found no room in the map of sums */
  FATHOM_RECORD_FILE = 3,
  FATHOM_RECORD_FORK = 4,
  FATHOM_RECORD_EXEC = 5,
  FATHOM_RECORD_EXIT = 6,
  FATHOM_RECORD_JOIN = 7, /* a task that was there before; `command` is its name alone */
};

struct fathom_call_record {
  __u32 kind;
  __u32 call;
  __u32 pid, tid;
  __u64 begin, end; /* ns of the monotonic clock */
  __s64 ret;
  __u64 size;
  __u64 offset; /* layer block: ns before the device got it */
  __u32 file;
  __s32 fd;
};

struct fathom_file_record {
  __u32 kind;
  __u32 id;
  __u32 device;
  __u32 mode;
  __u64 inode;
  __u32 bytes;  /* of `path` */
  __u16 cut;    /* the path was longer */
  __u8 inside;  /* begins where its file system is mounted */
  __u8 named;   /* as a call named it: a text, below what the other components lead to */
  __u32 before; /* its number under other names; 0: none */
  __u32 user;
  char path[FATHOM_BPF_PATH +
            FATHOM_BPF_NAME]; /* components, each ended by NUL, the last one first */
};

/* A request that is on its way to a device, or an operation of io_uring. */
struct fathom_request {
  __u64 began;
  __u64 issued; /* to the device; 0: not yet */
  __u64 bytes;
  __u32 pid, tid;
};

struct fathom_process_record {
  __u32 kind;
  __u32 pid, tid;
  __u32 parent; /* fork, exec: who made it */
  __u64 at;
  __s32 status; /* exit: as wait() tells it */
  __u32 bytes;  /* exec: of `command`; exit: of its name there */
  __u32 nspid;  /* fork, exec, join: the process's number in its own pid namespace; 0: it is in the
                   first one */
  __u32 unused;
  __u64 since; /* exit: when the thread was made, should nobody have told */
  char command[FATHOM_BPF_COMMAND];
};

/* Whom a daemon records: while it walks through all tasks, and of programs that begin later. */
enum fathom_choice_place { FATHOM_CHOICE_OF_WALK, FATHOM_CHOICE_STANDING, FATHOM_CHOICES };
enum fathom_choice_by {
  FATHOM_CHOICE_NOBODY,
  FATHOM_CHOICE_PROCESS,
  FATHOM_CHOICE_USER,
  FATHOM_CHOICE_GROUP,
  FATHOM_CHOICE_ALL,
};
struct fathom_choice {
  __u32 by;
  __u32 leaves; /* these are not recorded any more */
  __u32 process;
  __u32 user;
  __u32 hierarchy; /* of control groups; 0: version 2 */
  __u32 recorder;  /* the daemon, never chosen */
  __u64 group;     /* inode of the control group */
};

/* What is counted of each layer, and of none: an array of counters. */
#define FATHOM_BPF_COUNTER(layer, what) \
  ((__u32)(layer) * (__u32)FATHOM_BPF_COUNTERS + (__u32)(what))
enum fathom_bpf_loss {
  FATHOM_LOST_CALL, /* the ring was full: a call of a layer in detail */
  FATHOM_LOST_SUM,  /* neither map nor ring had room */
  FATHOM_LOST_FILE, /* a path did not go out */
  FATHOM_LOST_PROCESS,
  FATHOM_LOST_TASK,    /* a child could not be followed */
  FATHOM_LOST_REQUEST, /* too many at once */
  FATHOM_LOST_NAME,    /* a call on one file more than its user has room for */
  FATHOM_LOST_USER,    /* a call in one row more than its user has room for */
  FATHOM_LOST_INSIDE,  /* probes that were met inside of a program of ours, by whomever */
  FATHOM_LEFT_CALL,    /* filters: it is not one of the calls that are wanted */
  FATHOM_LEFT_PATH,
  FATHOM_LEFT_SHORT,
  FATHOM_LEFT_CHANCE,
  FATHOM_BPF_LOSSES,
  /* functions (layers user, kernel and vfs), operations of io_submit: what came and did not go is a
   * loss at the end */
  FATHOM_ENTERED = FATHOM_BPF_LOSSES,
  FATHOM_RETURNED,
  FATHOM_NEW_ROWS, /* of none: how often the map of sums got one */
  FATHOM_BPF_COUNTERS,
};

/* NOLINTEND(readability-identifier-naming) */

#endif
