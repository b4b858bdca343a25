/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer pagecache: what threads look for, bring in, change and throw out. These are moments. */
#include "sources/ebpf/files.bpf.h"
#include "sources/ebpf/record.bpf.h"

static __noinline int count(struct address_space* mapping, __u32 number, __u64 pages) {
  struct task_struct* task = this_task();
  if (!mapping || !recorded(task)) return 0;
  const __u64 now = bpf_ktime_get_ns();
  struct fathom_call_record call =
      call_of(task, FATHOM_BPF_CALL(FATHOM_BPF_PAGECACHE, number), now, now);
  call.file = number_of_inode(BPF_CORE_READ(mapping, host));
  call.ret = pages * settings.page_size;
  account(&call, own_shard(), true);
  return 0;
}

FATHOM_TRACEPOINT("mm_filemap_get_pages")
int BPF_PROG(pages_looked_for, struct address_space* mapping, unsigned long first,
             unsigned long last) {
  return count(mapping, FATHOM_PAGECACHE_LOOKUP, last - first + 1);
}

FATHOM_TRACEPOINT("mm_filemap_add_to_page_cache")
int BPF_PROG(folio_added, struct folio* folio) {
  return count(mapping_of(folio), FATHOM_PAGECACHE_ADD, 0);
}

FATHOM_TRACEPOINT("mm_filemap_delete_from_page_cache")
int BPF_PROG(folio_evicted, struct folio* folio) {
  return count(mapping_of(folio), FATHOM_PAGECACHE_EVICT, 0);
}

FATHOM_TRACEPOINT("mm_filemap_fault")
int BPF_PROG(page_faulted, struct address_space* mapping, unsigned long page) {
  return count(mapping, FATHOM_PAGECACHE_FAULT, 1);
}

FATHOM_TRACEPOINT("mm_filemap_map_pages")
int BPF_PROG(pages_mapped, struct address_space* mapping, unsigned long first, unsigned long last) {
  return count(mapping, FATHOM_PAGECACHE_MAP, last - first + 1);
}

FATHOM_TRACEPOINT("writeback_dirty_folio")
int BPF_PROG(folio_dirtied, struct folio* folio, struct address_space* mapping) {
  return count(mapping, FATHOM_PAGECACHE_DIRTY, 0);
}

#ifdef FATHOM_PLAIN
FATHOM_TRACEPOINT("writeback_dirty_page") /* as it was called before */
int BPF_PROG(page_dirtied, struct page* page, struct address_space* mapping) {
  return count(mapping, FATHOM_PAGECACHE_DIRTY, 0);
}
#endif
