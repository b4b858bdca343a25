/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer block: requests to devices, from the thread that made them to their completion, which the
 * kernel tells in whatever thread runs then. So who made a request is kept by its address until it
 * is done; one that nobody of ours made has no place there. */
#include "sources/ebpf/files.bpf.h"
#include "sources/ebpf/record.bpf.h"

#define FATHOM_EIO 5
#define FATHOM_DISK 0xffffffff /* in the place of a file's generation */

enum { OP_READ = 0, OP_WRITE = 1, OP_FLUSH = 2, OP_DISCARD = 3, OP_MASK = 0xff };

static __always_inline __u32 number_of_request(struct request* rq, __u64 bytes) {
  switch (BPF_CORE_READ(rq, cmd_flags) & OP_MASK) {
    case OP_READ:
      return FATHOM_BLOCK_READ;
    case OP_WRITE:
      return bytes ? FATHOM_BLOCK_WRITE : FATHOM_BLOCK_FLUSH;
    case OP_FLUSH:
      return FATHOM_BLOCK_FLUSH;
    case OP_DISCARD:
      return FATHOM_BLOCK_DISCARD;
    default:
      return FATHOM_BLOCK_OTHER;
  }
}

/* A disk is told as a file is, once, by its path: "/dev" and its name. */
static __noinline __u32 meet_disk(struct gendisk* disk, struct fathom_file_key* key) {
  if (!disk || !key) return FATHOM_BPF_NO_FILE;
  __u32 zero = 0;
  struct fathom_file_record* out = bpf_map_lookup_elem(&file_scratch, &zero);
  const __u32 id = out ? keep_file(key, 1, 0, FATHOM_BPF_EVERYBODY) : FATHOM_BPF_NO_FILE;
  if (id == FATHOM_BPF_NO_FILE) return id;
  long length = bpf_probe_read_kernel_str(out->path, 32, disk->disk_name);
  if (length < 1 || length > 32) return FATHOM_BPF_NO_FILE;
  __builtin_memcpy(out->path + length, "dev", 4);
  out->kind = FATHOM_RECORD_FILE;
  out->id = id;
  out->mode = out->cut = out->inside = out->named = 0;
  out->before = FATHOM_BPF_NO_FILE;
  out->user = FATHOM_BPF_EVERYBODY;
  out->inode = 0;
  out->device = key->device;
  out->bytes = length + 4;
  const __u64 size = offsetof(struct fathom_file_record, path) + 64;
  if (bpf_ringbuf_output(&ring, out, size, ring_flags()) != 0) lose(FATHOM_LOST_FILE);
  return id;
}

/* Linux 5.17 moved it from the request to its queue. */
static __always_inline struct gendisk* disk_of(struct request* rq) {
  struct request___old* old = (struct request___old*)rq;
  if (FATHOM_IS_PLAIN && bpf_core_field_exists(old->rq_disk)) return BPF_CORE_READ(old, rq_disk);
  return BPF_CORE_READ(rq, q, disk);
}

static __always_inline __u32 number_of_disk(struct request* rq) {
  struct gendisk* disk = disk_of(rq);
  if (!disk) return FATHOM_BPF_NO_FILE;
  struct fathom_file_key key = {
      .device = BPF_CORE_READ(disk, major) << 20 | BPF_CORE_READ(disk, first_minor),
      .generation = FATHOM_DISK};
  struct fathom_file* known = known_file(&key);
  return known ? known->id : meet_disk(disk, &key);
}

/* Whether it holds a page of a file that somebody whom we record has used. */
static __always_inline bool is_of_known_file(struct request* rq) {
  struct page* page = BPF_CORE_READ(rq, bio, bi_io_vec, bv_page);
  const unsigned long head = BPF_CORE_READ(page, compound_head);
  struct address_space* mapping = mapping_of((void*)(head & 1 ? head - 1 : (unsigned long)page));
  struct inode* inode = BPF_CORE_READ(mapping, host);
  if (!inode) return false;
  struct fathom_file_key key = key_of(inode);
  return bpf_map_lookup_elem(&files, &key) != 0;
}

/* In the thread that asks for it; a request that was merged into another one leaves its place to
 * whoever comes next. What the kernel's own threads write of files that were used is of process 0.
 */
static __always_inline int begin(struct request* rq) {
  const __u64 key = (__u64)rq;
  struct task_struct* task = this_task();
  const bool own = recorded(task) != 0;
  if (!own && (BPF_CORE_READ(task, mm) || !is_of_known_file(rq))) {
    bpf_map_delete_elem(&requests, &key);
    return 0;
  }
  struct fathom_request request = {.began = bpf_ktime_get_ns(),
                                   .pid = own ? FATHOM_FIELD(task, tgid) : 0,
                                   .tid = own ? FATHOM_FIELD(task, pid) : 0};
  if (bpf_map_update_elem(&requests, &key, &request, BPF_ANY) != 0)
    tally(FATHOM_BPF_BLOCK, FATHOM_LOST_REQUEST);
  return 0;
}

FATHOM_TRACEPOINT("block_io_start")
int BPF_PROG(request_begins, struct request* rq) { return begin(rq); }

/* When it leaves the queue. Where nothing told of it before (before Linux 6.5), it begins when it
 * is queued, or here. */
static __always_inline int issue(struct request* rq) {
  const __u64 key = (__u64)rq;
  struct fathom_request* begun = bpf_map_lookup_elem(&requests, &key);
  if (!begun && settings.begins_when_issued) {
    begin(rq);
    begun = bpf_map_lookup_elem(&requests, &key);
  }
  if (begun) begun->issued = bpf_ktime_get_ns();
  return 0;
}
FATHOM_TRACEPOINT("block_rq_insert")
int BPF_PROG(request_queued, struct request* rq) { return begin(rq); }
FATHOM_TRACEPOINT("block_rq_issue")
int BPF_PROG(request_issued, struct request* rq) { return issue(rq); }

#ifdef FATHOM_PLAIN
/* Before Linux 5.11 they told the queue, too. */
FATHOM_TRACEPOINT("block_rq_insert")
int BPF_PROG(request_queued_there, void* queue, struct request* rq) { return begin(rq); }
FATHOM_TRACEPOINT("block_rq_issue")
int BPF_PROG(request_issued_there, void* queue, struct request* rq) { return issue(rq); }
#endif

FATHOM_TRACEPOINT("block_rq_complete")
int BPF_PROG(request_ends, struct request* rq, unsigned char error, unsigned int bytes) {
  const __u64 key = (__u64)rq;
  struct fathom_request* begun = bpf_map_lookup_elem(&requests, &key);
  if (!begun) return 0;
  begun->bytes += bytes;
  if (!error && BPF_CORE_READ(rq, __data_len) > bytes) return 0; /* a part of it */
  struct task_struct* task = this_task();
  struct fathom_call_record call =
      call_of(task, FATHOM_BPF_CALL(FATHOM_BPF_BLOCK, number_of_request(rq, begun->bytes)),
              begun->began, bpf_ktime_get_ns());
  call.pid = begun->pid;
  call.tid = begun->tid;
  call.ret = error ? -FATHOM_EIO : (__s64)begun->bytes;
  call.size = begun->bytes;
  if (begun->issued) call.offset = begun->issued - begun->began;
  call.file = number_of_disk(rq);
  bpf_map_delete_elem(&requests, &key);
  account(&call, own_shard(), true);
  return 0;
}
