/* SPDX-License-Identifier: MIT
 * The kernel's types, as far as we look into them. The loader finds where each field is in the
 * kernel that runs (CO-RE). */
#ifndef FATHOM_SOURCES_EBPF_KERNEL_H
#define FATHOM_SOURCES_EBPF_KERNEL_H

/* The kernel's own headers are not included: they are of the machine that builds, and the program
 * runs on another. */
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;

/* Numbers of the interface of BPF, which never change. */
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum {
  BPF_MAP_TYPE_HASH = 1,
  BPF_MAP_TYPE_ARRAY = 2,
  BPF_MAP_TYPE_PERCPU_ARRAY = 6,
  BPF_MAP_TYPE_LRU_HASH = 9,
  BPF_MAP_TYPE_LPM_TRIE = 11,
  BPF_MAP_TYPE_RINGBUF = 27,
  BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum { BPF_F_NO_PREALLOC = 1 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_AVAIL_DATA = 0, BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };

/* Every access to a field below is noted in the object, and the loader writes the place of the
 * field in the running kernel over it. So only names and types have to be right: fields that we do
 * not read are left out, and the order means nothing. A field that a kernel does not have is asked
 * for first (bpf_core_field_exists). */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct qstr {
  union {
    struct {
      u32 hash;
      u32 len;
    };
    u64 hash_len;
  };
  const unsigned char* name;
};
struct super_block {
  u32 s_dev;
  unsigned long s_magic;
};
struct hlist_node {
  struct hlist_node* next;
};
struct hlist_head {
  struct hlist_node* first;
};
struct inode {
  unsigned short i_mode;
  unsigned long i_ino;
  struct super_block* i_sb;
  u32 i_generation;
  struct hlist_head i_dentry;
};
struct dentry {
  struct dentry* d_parent;
  struct qstr d_name;
  struct inode* d_inode;
  union {
    struct hlist_node d_alias;
  } d_u;
};
struct vfsmount {
  struct dentry* mnt_root;
};
struct mnt_namespace;
struct mount {
  struct mount* mnt_parent;
  struct dentry* mnt_mountpoint;
  struct vfsmount mnt;
  struct mnt_namespace* mnt_ns;
};
struct path {
  struct vfsmount* mnt;
  struct dentry* dentry;
};
struct file {
  struct path f_path;
  struct inode* f_inode;
  unsigned int f_flags;
};
struct fdtable {
  unsigned int max_fds;
  struct file** fd;
};
struct files_struct {
  struct fdtable* fdt;
};
struct mm_struct {
  unsigned long arg_start;
  unsigned long arg_end;
  struct file* exe_file;
};
struct signal_struct {
  int group_exit_code;
};
typedef struct {
  u32 val;
} kuid_t;
struct user_namespace {
  int level; /* 0: the machine's */
  struct user_namespace* parent;
  kuid_t owner;
};
struct cred {
  kuid_t uid;
  struct user_namespace* user_ns;
};
struct kernfs_node {
  u64 id;
};
struct cgroup_subsys_state {
  struct cgroup* cgroup;
  struct cgroup_subsys_state* parent;
};
struct cgroup_root {
  int hierarchy_id;
};
struct cgroup {
  struct cgroup_subsys_state self;
  int level;
  struct kernfs_node* kn;
  struct cgroup_root* root;
  struct cgroup* ancestors[];
};
struct css_set {
  struct cgroup_subsys_state* subsys[1];
  struct cgroup* dfl_cgrp;
};
struct fs_struct {
  struct path root;
  struct path pwd;
};
struct thread_info {
  unsigned long flags;
  u32 status;
};
struct upid {
  int nr;
};
struct pid {
  unsigned int level;
  struct upid numbers[];
};
struct task_struct {
  struct thread_info thread_info;
  unsigned int flags;
  int pid;
  int tgid;
  u64 start_time;
  char comm[16];
  const struct cred* cred;
  struct css_set* cgroups;
  int exit_code;
  struct task_struct* real_parent;
  struct task_struct* group_leader;
  struct mm_struct* mm;
  struct files_struct* files;
  struct fs_struct* fs;
  struct signal_struct* signal;
  struct pid* thread_pid;
};
struct bpf_iter__task {
  struct task_struct* task;
};
struct kiocb {
  struct file* ki_filp;
  int ki_flags;
};
struct iov_iter {
  bool data_source;
};
struct block_device {
  u32 bd_dev;
};
struct journal_s {
  struct block_device* j_fs_dev;
};
struct linux_binprm;
struct sock;
struct io_ring_ctx;
struct writeback_control;
struct address_space {
  struct inode* host;
};
struct folio {
  struct address_space* mapping;
};
struct gendisk {
  int major;
  int first_minor;
  char disk_name[32];
};
struct request_queue {
  struct gendisk* disk;
};
struct page {
  unsigned long compound_head;
  struct address_space* mapping;
};
struct bio_vec {
  struct page* bv_page;
};
struct bio {
  struct bio_vec* bi_io_vec;
};
struct request {
  struct request_queue* q;
  struct bio* bio;
  u32 cmd_flags;
  unsigned int __data_len;
};
/* As they were: the disk of a request (before Linux 5.15), what a task does (5.14). */
struct request___old {
  struct gendisk* rq_disk;
};
struct task_struct___old {
  long state;
};
struct task_struct___new {
  unsigned int __state;
};
struct io_kiocb {
  struct file* file;
  u8 opcode;
};
struct io_uring_cqe {
  int res;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
  unsigned long bx, cx, r10, r8, ax, dx, si, di, orig_ax, sp;
};
#define FATHOM_NUMBER(regs) (long)FATHOM_FIELD(regs, orig_ax)
#define FATHOM_ARG1(regs) FATHOM_FIELD(regs, di)
#define FATHOM_ARG2(regs) FATHOM_FIELD(regs, si)
#define FATHOM_ARG3(regs) FATHOM_FIELD(regs, dx)
#define FATHOM_ARG4(regs) FATHOM_FIELD(regs, r10)
#define FATHOM_ARG5(regs) FATHOM_FIELD(regs, r8)
/* Of programs of 32 bits. */
#define FATHOM_IS_NARROW(task) (FATHOM_FIELD(task, thread_info.status) & 2) /* TS_COMPAT */
#define FATHOM_NARROW1(regs) FATHOM_FIELD(regs, bx)
#define FATHOM_NARROW2(regs) FATHOM_FIELD(regs, cx)
#define FATHOM_NARROW3(regs) FATHOM_FIELD(regs, dx)
#define FATHOM_NARROW4(regs) FATHOM_FIELD(regs, si)
#define FATHOM_NARROW5(regs) FATHOM_FIELD(regs, di)
/* Of functions. */
#define FATHOM_FIRST(at) BPF_CORE_READ(at, di)
#define FATHOM_SECOND(at) BPF_CORE_READ(at, si)
#define FATHOM_THIRD(at) BPF_CORE_READ(at, dx)
#define FATHOM_RESULT(at) BPF_CORE_READ(at, ax)
#define FATHOM_STACK(at) BPF_CORE_READ(at, sp)
#define FATHOM_RETURN_BYTES 8 /* that a return takes off the stack */
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
  u64 regs[31];
  u64 sp;
  u64 orig_x0;
  int syscallno;
};
#define FATHOM_NUMBER(regs) FATHOM_FIELD(regs, syscallno)
#define FATHOM_ARG1(regs) FATHOM_FIELD(regs, orig_x0)
#define FATHOM_ARG2(regs) FATHOM_FIELD(regs, regs[1])
#define FATHOM_ARG3(regs) FATHOM_FIELD(regs, regs[2])
#define FATHOM_ARG4(regs) FATHOM_FIELD(regs, regs[3])
#define FATHOM_ARG5(regs) FATHOM_FIELD(regs, regs[4])
/* Of programs of 32 bits. */
#define FATHOM_IS_NARROW(task) (FATHOM_FIELD(task, thread_info.flags) & 1 << 22) /* TIF_32BIT */
#define FATHOM_NARROW1(regs) FATHOM_ARG1(regs)
#define FATHOM_NARROW2(regs) FATHOM_ARG2(regs)
#define FATHOM_NARROW3(regs) FATHOM_ARG3(regs)
#define FATHOM_NARROW4(regs) FATHOM_ARG4(regs)
#define FATHOM_NARROW5(regs) FATHOM_ARG5(regs)
/* Of functions. */
#define FATHOM_FIRST(at) BPF_CORE_READ(at, regs[0])
#define FATHOM_SECOND(at) BPF_CORE_READ(at, regs[1])
#define FATHOM_THIRD(at) BPF_CORE_READ(at, regs[2])
#define FATHOM_RESULT(at) BPF_CORE_READ(at, regs[0])
#define FATHOM_STACK(at) BPF_CORE_READ(at, sp)
#define FATHOM_RETURN_BYTES 0
#endif

#pragma clang attribute pop

#endif
