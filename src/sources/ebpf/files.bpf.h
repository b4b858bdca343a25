/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Which file a descriptor is. A file gets a number when it is first met, and its path goes out
 * once; another one when it is found under other names. */
#pragma once

#include "sources/ebpf/users.bpf.h"

/* From a file to the root of all. */
#define FATHOM_MAX_STEPS FATHOM_ROOM(2048, 256)
#define FATHOM_MAX_CPUS 2048

struct fathom_walk {
  struct dentry* dentry;
  struct mount* mount;
  struct dentry* root; /* of the mount */
  __u64 hash;
  __u32 tells; /* names go into what is in file_scratch; 0: the hash is all that is wanted */
  __u32 bytes; /* of them */
  __u32 arrived;
  __u32 is_wanted; /* lies at or below what is */
};

static __always_inline void walk_from_place(struct fathom_walk* walk, struct vfsmount* mnt,
                                            struct dentry* dentry) {
  walk->dentry = dentry;
  walk->mount = (struct mount*)((char*)mnt - bpf_core_field_offset(struct mount, mnt));
  walk->root = BPF_CORE_READ(mnt, mnt_root);
}

static __always_inline void walk_from(struct fathom_walk* walk, struct file* file) {
  walk_from_place(walk, BPF_CORE_READ(file, f_path.mnt), BPF_CORE_READ(file, f_path.dentry));
}

/* (What CO-RE reads from stands in variables: it would look for our own fields in the kernel, too.)
 */
static __always_inline bool leave_mount(struct fathom_walk* walk) {
  struct mount* mount = walk->mount;
  struct mount* parent = BPF_CORE_READ(mount, mnt_parent);
  if (parent == mount) return false;
  walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
  walk->root = BPF_CORE_READ(parent, mnt.mnt_root);
  walk->mount = parent;
  return true;
}

__noinline int is_wanted(__u64 address) {
  struct dentry* dentry = (struct dentry*)address;
  struct inode* inode = BPF_CORE_READ(dentry, d_inode);
  struct fathom_file_key key = {.inode = BPF_CORE_READ(inode, i_ino),
                                .device = BPF_CORE_READ(inode, i_sb, s_dev)};
  return bpf_map_lookup_elem(&wanted, &key) != 0;
}

static __always_inline long add_name(struct fathom_walk* walk, struct dentry* dentry) {
  __u32 zero = 0;
  struct fathom_file_record* out = bpf_map_lookup_elem(&file_scratch, &zero);
  const __u64 bytes = walk->bytes;
  if (!out || bytes >= FATHOM_BPF_PATH) return 1;
  const long length =
      bpf_probe_read_kernel_str(out->path + FATHOM_BELOW(bytes, FATHOM_BPF_PATH), FATHOM_BPF_NAME,
                                BPF_CORE_READ(dentry, d_name.name));
  if (length > 0) walk->bytes = bytes + length;
  return 0;
}

/* One step towards the root: by one name, or out of a mount. 1 ends the walk. */
static __always_inline long walk_step(__u32 index, struct fathom_walk* walk) {
  struct dentry* dentry = walk->dentry;
  if (settings.by_path && !walk->is_wanted) walk->is_wanted = is_wanted((__u64)dentry);
  if (walk->mount && dentry == walk->root) {
    if (leave_mount(walk)) return 0;
    walk->arrived = 1;
    return 1;
  }
  struct dentry* parent = BPF_CORE_READ(dentry, d_parent);
  if (parent == dentry) { /* a file of no directory: a pipe, a socket */
    walk->arrived = 1;
    return 1;
  }
  walk->hash = walk->hash * 0x9e3779b97f4a7c15ULL + BPF_CORE_READ(dentry, d_name.hash_len);
  walk->dentry = parent;
  return walk->tells ? add_name(walk, dentry) : 0;
}

/* One walk at a time. It is not on the stack: kernels before 6.13 allow 512 bytes for all functions
 * that call each other. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct fathom_walk);
} walk_scratch SEC(".maps");

static __always_inline struct fathom_walk* this_walk(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&walk_scratch, &zero);
}

static __always_inline struct fathom_walk* new_walk(__u32 tells) {
  struct fathom_walk* walk = this_walk();
  if (!walk) return 0;
  __builtin_memset(walk, 0, sizeof *walk);
  walk->hash = 1;
  walk->tells = tells;
  return walk;
}

#ifdef FATHOM_PLAIN
/* A function of its own for the verifier, which looks at it once instead of at every turn. */
__noinline int walk_on(void) {
  struct fathom_walk* walk = this_walk();
  return walk ? walk_step(0, walk) : 1;
}

static __always_inline void walk_up(void) {
  for (int i = 0; i < FATHOM_MAX_STEPS; i++)
    if (walk_on()) break;
}
#else
static long walk_on(__u32 index, void* nothing) {
  struct fathom_walk* walk = this_walk();
  return walk ? walk_step(index, walk) : 1;
}

static __always_inline void walk_up(void) { bpf_loop(FATHOM_MAX_STEPS, walk_on, 0, 0); }
#endif

static __always_inline __u64 hash_of_names(struct file* file) {
  struct fathom_walk* walk = new_walk(0);
  if (!walk) return 1;
  walk_from(walk, file);
  walk_up();
  return walk->hash;
}

/* By way of a file that is open, or by the names that its file system gives it. */
static __always_inline void walk_names(struct file* file, struct inode* inode,
                                       struct fathom_walk* walk) {
  if (file) {
    walk_from(walk, file);
  } else {
    struct hlist_node* alias = BPF_CORE_READ(inode, i_dentry.first);
    if (alias)
      walk->dentry =
          (struct dentry*)((char*)alias - bpf_core_field_offset(struct dentry, d_u.d_alias));
  }
  if (walk->dentry) walk_up();
}

/* Its names are in file_scratch already. */
static __always_inline void send_path(const struct fathom_walk* walk, struct inode* inode, __u32 id,
                                      __u32 before, __u32 user) {
  __u32 zero = 0;
  struct fathom_file_record* out = bpf_map_lookup_elem(&file_scratch, &zero);
  if (!out) return;
  out->kind = FATHOM_RECORD_FILE;
  out->id = id;
  out->mode = BPF_CORE_READ(inode, i_mode);
  out->inode = BPF_CORE_READ(inode, i_ino);
  out->device = BPF_CORE_READ(inode, i_sb, s_dev);
  out->cut = !walk->arrived;
  out->inside = !walk->mount;
  out->named = 0;
  out->before = before;
  out->user = user;
  out->bytes = walk->bytes;
  __u64 size = offsetof(struct fathom_file_record, path) + walk->bytes;
  barrier_var(size);
  if (size > sizeof *out) size = sizeof *out;
  if (bpf_ringbuf_output(&ring, out, size, ring_flags()) != 0) lose(FATHOM_LOST_FILE);
}

/* The next number of a file. (Hooks of the plain flavor that meet files are not preempted.) */
static __always_inline __u32 next_number(void) {
  __u32 zero = 0;
  __u32* last = bpf_map_lookup_elem(&last_file, &zero);
  if (!last) return FATHOM_BPF_NO_FILE;
#ifdef FATHOM_PLAIN
  *last += 1;
  return *last * FATHOM_MAX_CPUS + bpf_get_smp_processor_id() % FATHOM_MAX_CPUS;
#else
  return FATHOM_BPF_OTHERS + 1 + __sync_fetch_and_add(last, 1);
#endif
}

/* Its number; FATHOM_BPF_NO_FILE where it cannot be kept. */
static __always_inline __u32 keep_file(struct fathom_file_key* key, __u64 names, __u32 elsewhere,
                                       __u32 user) {
  const __u32 number = next_number();
  if (number == FATHOM_BPF_NO_FILE) return FATHOM_BPF_NO_FILE;
  struct fathom_file known = {
      .names = names, .id = number | elsewhere, .seen = settings.age, .user = user};
  if (bpf_map_update_elem(&files, key, &known, BPF_ANY) == 0) return known.id;
  lose(FATHOM_LOST_FILE);
  return FATHOM_BPF_NO_FILE;
}

/* Whether this user may meet a file now; `fresh`: one that nobody has met. */
__noinline int may_meet(__u32 number, int fresh) {
  if (!settings.user_files) return 1;
  struct fathom_user* user = user_now(number);
  if (!user) return 0;
  if (user->met >= settings.user_rows || (fresh && user->files >= settings.user_files)) return 0;
  user->met += 1;
  if (fresh) user->files += 1;
  return 1;
}

static __always_inline struct fathom_file_key key_of(struct inode* inode) {
  struct fathom_file_key key = {.inode = BPF_CORE_READ(inode, i_ino),
                                .device = BPF_CORE_READ(inode, i_sb, s_dev),
                                .generation = BPF_CORE_READ(inode, i_generation)};
  return key;
}

/* The number of a new file, or of one under new names. Those of a user who has no room for more
 * have one together, or the one that they had. */
__noinline __u32 meet_file(__u64 open, __u64 address, __u64 names) {
  struct file* file = (struct file*)open;
  struct inode* inode = (struct inode*)address;
  struct fathom_file_key key = key_of(inode);
  struct fathom_file* known = bpf_map_lookup_elem(&files, &key);
  const __u32 before = known ? known->id : FATHOM_BPF_NO_FILE;
  const __u32 user = payer();
  if (!may_meet(user, !known)) {
    lose(FATHOM_LOST_NAME);
    return known ? before : FATHOM_BPF_OTHERS;
  }
  struct fathom_walk* walk = new_walk(1);
  if (!walk) return FATHOM_BPF_NO_FILE;
  walk_names(file, inode, walk);
  const __u32 elsewhere = settings.by_path && !walk->is_wanted ? FATHOM_BPF_ELSEWHERE : 0;
  const __u32 id = keep_file(&key, names, elsewhere, user);
  if (id != FATHOM_BPF_NO_FILE && !elsewhere) send_path(walk, inode, id, before, user);
  return id;
}

static __always_inline struct fathom_file* known_file(struct fathom_file_key* key) {
  struct fathom_file* known = bpf_map_lookup_elem(&files, key);
  if (known && known->seen != settings.age) known->seen = settings.age;
  return known;
}

/* `opened`: just now, perhaps under another name than the last time. */
static __always_inline __u32 number_of_file(struct file* file, bool opened) {
  if (!file) return FATHOM_BPF_NO_FILE;
  struct inode* inode = BPF_CORE_READ(file, f_inode);
  struct fathom_file_key key = key_of(inode);
  struct fathom_file* known = known_file(&key);
  if (known && known->names && !opened) return known->id;
  const __u64 names = hash_of_names(file);
  if (known && known->names == names) return known->id;
  return meet_file(address_of(file), address_of(inode), names);
}

/* As it is found by a descriptor. */
__noinline __u32 number_of_open(__u64 file, __u32 opened) {
  return number_of_file((struct file*)file, opened);
}

static __always_inline struct file* file_at(struct task_struct* task, __s64 fd) {
  if (fd < 0) return 0;
  struct fdtable* table = BPF_CORE_READ(task, files, fdt);
  struct file* file = 0;
  if (!table || fd >= BPF_CORE_READ(table, max_fds)) return 0;
  bpf_probe_read_kernel(&file, sizeof file, BPF_CORE_READ(table, fd) + fd);
  return file;
}

static __always_inline __u32 number_of_descriptor(struct task_struct* task, __s64 fd, bool opened) {
  return number_of_open(address_of(file_at(task, fd)), opened);
}

/* Of a folio, or of a page, as it was before there were folios (Linux 5.16). */
static __always_inline struct address_space* mapping_of(void* folio) {
  struct page* page = folio;
  if (FATHOM_IS_PLAIN && !bpf_core_type_exists(struct folio)) return BPF_CORE_READ(page, mapping);
  return BPF_CORE_READ((struct folio*)folio, mapping);
}

/* Where only the file system knows which file is meant. */
static __always_inline __u32 number_of_inode(struct inode* inode) {
  if (!inode) return FATHOM_BPF_NO_FILE;
  struct fathom_file_key key = key_of(inode);
  struct fathom_file* known = known_file(&key);
  return known ? known->id : meet_file(0, address_of(inode), 0);
}
