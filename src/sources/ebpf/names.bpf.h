/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Files that calls name by a path, whether they exist or not. Such a name has a number like a file
 * that is open: what it is made of are the text and where it begins. */
#pragma once

#include "sources/ebpf/files.bpf.h"

#define FATHOM_HERE (-100) /* AT_FDCWD */
#define FATHOM_HASHED 8    /* bytes of a text at a time */
#define FATHOM_ITSELF 0xffffffffU

struct fathom_name {
  __u64 hash;
  __u32 at, length; /* bytes; with the NUL */
  char text[FATHOM_BPF_PATH + FATHOM_HASHED];
  struct fathom_prefix prefix;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct fathom_name);
} name_scratch SEC(".maps");

static __always_inline struct fathom_name* this_name(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&name_scratch, &zero);
}

static __always_inline __u64 mix(__u64 hash, __u64 word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
  return hash ^ hash >> 32;
}

/* A function of its own for the verifier, which looks at it once instead of at every turn. 1 ends
 * it. */
__noinline int hash_on(void) {
  struct fathom_name* name = this_name();
  if (!name || name->at >= name->length || name->at >= FATHOM_BPF_PATH) return 1;
  __u64 word = 0;
  __builtin_memcpy(&word, name->text + FATHOM_BELOW(name->at, FATHOM_BPF_PATH), sizeof word);
  name->hash = mix(name->hash, word);
  name->at += sizeof word;
  return 0;
}

/* Reads it, and what it is found by. The hash begins with what no program knows. */
static __always_inline bool read_name(struct fathom_name* name, __u64 from) {
  const long length = bpf_probe_read_user_str(name->text, FATHOM_BPF_PATH, (void*)from);
  if (length <= 0 || length > FATHOM_BPF_PATH) return false;
  name->length = length;
  name->at = 0;
  name->hash = settings.start_ns;
  char* end = name->text + FATHOM_BELOW(length - 1, FATHOM_BPF_PATH);
  __builtin_memset(end, 0, FATHOM_HASHED);
  for (int i = 0; i < FATHOM_BPF_PATH / FATHOM_HASHED; i++)
    if (hash_on()) break;
  return true;
}

struct fathom_place {
  struct vfsmount* mnt;
  struct dentry* dentry;
};

/* Where a text begins: at the root, or where the thread or a descriptor is. */
static __always_inline bool place_of(struct task_struct* task, __s32 directory, bool at_root,
                                     struct fathom_place* place) {
  struct fs_struct* own = BPF_CORE_READ(task, fs);
  if (at_root) {
    place->mnt = BPF_CORE_READ(own, root.mnt);
    place->dentry = BPF_CORE_READ(own, root.dentry);
  } else if (directory == FATHOM_HERE) {
    place->mnt = BPF_CORE_READ(own, pwd.mnt);
    place->dentry = BPF_CORE_READ(own, pwd.dentry);
  } else {
    struct file* file = file_at(task, directory);
    if (!file) return false;
    place->mnt = BPF_CORE_READ(file, f_path.mnt);
    place->dentry = BPF_CORE_READ(file, f_path.dentry);
  }
  return place->mnt && place->dentry;
}

/* The text goes first: it is the last component. */
static __always_inline void send_name(struct fathom_name* name, struct fathom_walk* walk,
                                      struct fathom_place* place, __u32 id, __u32 user) {
  __u32 zero = 0;
  struct fathom_file_record* out = bpf_map_lookup_elem(&file_scratch, &zero);
  if (!out) return;
  __u64 length = name->length;
  barrier_var(length);
  if (length > FATHOM_BPF_PATH) return;
  bpf_probe_read_kernel(out->path, length, name->text);
  walk->bytes = length;
  walk_from_place(walk, place->mnt, place->dentry);
  walk_up();
  out->kind = FATHOM_RECORD_FILE;
  out->id = id;
  out->mode = out->inside = 0;
  out->named = 1;
  out->inode = out->device = out->before = 0;
  out->user = user;
  out->cut = !walk->arrived;
  out->bytes = walk->bytes;
  __u64 size = offsetof(struct fathom_file_record, path) + walk->bytes;
  barrier_var(size);
  if (size > sizeof *out) size = sizeof *out;
  if (bpf_ringbuf_output(&ring, out, size, ring_flags()) != 0) lose(FATHOM_LOST_FILE);
}

/* Whether what it names lies where it is wanted: by its text, or by where that begins. */
static __always_inline bool is_wanted_name(struct fathom_name* name, struct fathom_place* place) {
  if (name->text[0] == '/') {
    name->prefix.bits = 8 * FATHOM_BPF_NAME;
    bpf_probe_read_kernel(name->prefix.text, FATHOM_BPF_NAME, name->text);
    return bpf_map_lookup_elem(&wanted_texts, &name->prefix) != 0;
  }
  struct fathom_walk* walk = new_walk(0);
  if (!walk) return false;
  walk_from_place(walk, place->mnt, place->dentry);
  walk_up();
  return walk->is_wanted;
}

/* A user who asks for names without end leaves room for the files that he opens. */
static __noinline int may_name(__u32 number) {
  if (!settings.user_files) return 1;
  struct fathom_user* user = user_now(number);
  if (!user || user->names >= settings.user_files / 4 || !may_meet(number, 1)) return 0;
  user->names += 1;
  return 1;
}

static __noinline __u32 meet_name(struct fathom_name* name, struct fathom_file_key* key,
                                  struct fathom_place* place) {
  if (!name || !key || !place) return FATHOM_BPF_NO_FILE;
  const __u32 user = payer();
  if (!may_name(user)) {
    lose(FATHOM_LOST_NAME);
    return FATHOM_BPF_OTHERS;
  }
  const __u32 elsewhere =
      settings.by_path && !is_wanted_name(name, place) ? FATHOM_BPF_ELSEWHERE : 0;
  const __u32 id = keep_file(key, 1, elsewhere, user);
  struct fathom_walk* walk = new_walk(1);
  if (walk && id != FATHOM_BPF_NO_FILE && !elsewhere) send_name(name, walk, place, id, user);
  return id;
}

/* The number of what the text at `from` names; FATHOM_BPF_NO_FILE where it cannot be read (now),
 * FATHOM_ITSELF where it is empty: the descriptor's own file. (No static function: those are looked
 * at by the verifier again for each call.) */
__noinline __u32 number_of_name(__s32 directory, __u64 from) {
  struct task_struct* task = this_task();
  struct fathom_name* name = this_name();
  if (!name || !read_name(name, from)) return FATHOM_BPF_NO_FILE;
  if (name->length == 1) return FATHOM_ITSELF;
  const bool at_root = name->text[0] == '/';
  struct fathom_place place = {};
  if (!place_of(task, directory, at_root, &place)) return FATHOM_BPF_NO_FILE;
  __u64 hash = mix(mix(name->hash, (__u64)place.dentry), (__u64)place.mnt);
  if (!at_root) { /* a directory may be moved */
    struct fathom_walk* walk = new_walk(0);
    if (!walk) return FATHOM_BPF_NO_FILE;
    walk_from_place(walk, place.mnt, place.dentry);
    walk_up();
    hash = mix(hash, walk->hash);
  }
  struct fathom_file_key key = {.inode = hash, .generation = FATHOM_BPF_NAMED};
  struct fathom_file* known = known_file(&key);
  return known ? known->id : meet_name(name, &key, &place);
}
