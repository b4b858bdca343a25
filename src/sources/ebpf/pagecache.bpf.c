/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer pagecache: what threads look for, bring in, change and throw out. These are moments, but
 * for faults of mapped files, which last until the kernel counts them. */
#include "sources/ebpf/files.bpf.h"
#include "sources/ebpf/record.bpf.h"

/* (Functions that are not static are looked at once by the verifier, and not for each call. They
 * take no pointers of the kernel's.) */
__noinline __u32 number_of_host(__u64 inode) { return number_of_inode((struct inode*)inode); }

__noinline int tell(__u32 number, __u32 file, __u64 pages, __u64 begin, __u64 end) {
  struct fathom_call_record call =
      call_of(this_task(), FATHOM_BPF_CALL(FATHOM_BPF_PAGECACHE, number), begin, end);
  call.file = file;
  call.ret = pages * settings.page_size;
  account(&call, own_shard(), true);
  return 0;
}

static __always_inline __u64 host_of(struct address_space* mapping) {
  return mapping ? (__u64)BPF_CORE_READ(mapping, host) : 0;
}

__noinline int count(__u64 inode, __u32 number, __u64 pages) {
  if (!inode || !recorded(this_task())) return 0;
  const __u64 now = bpf_ktime_get_ns();
  tell(number, number_of_host(inode), pages, now, now);
  return 0;
}

/* Whatever fault the thread is in has ended. Of one that failed, or that the kernel made for a
 * call, no end is told: how long it took is not known. Where pages were there, and another one was
 * missing all the same, the time is that of the one. */
__noinline int end_faults(int is_told) {
  struct fathom_task* state = recorded(this_task());
  if (!state) return 0;
  const __u64 now = bpf_ktime_get_ns();
  bool timed = is_told;
  for (int kind = 0; kind < FATHOM_FAULT_KINDS; kind++) {
    struct fathom_fault* fault = &state->faults[kind];
    if (!fault->began) continue;
    tell(kind == FATHOM_FAULT_MISSED ? FATHOM_PAGECACHE_FAULT : FATHOM_PAGECACHE_MAP, fault->file,
         fault->pages, fault->began, timed ? now : fault->began);
    fault->began = 0;
    timed = false;
  }
  return 0;
}

/* A fault is tried again when it had to wait: the same page, and still the same fault. */
__noinline int begin_fault(__u32 kind, __u64 inode, __u64 first, __u64 pages) {
  struct fathom_task* state = recorded(this_task());
  if (!inode || !state || kind >= FATHOM_FAULT_KINDS) return 0;
  struct fathom_fault* missed = &state->faults[FATHOM_FAULT_MISSED];
  const bool again = missed->began && missed->inode == inode && missed->page - first < pages;
  if (again && kind == FATHOM_FAULT_MISSED) return 0;
  if (!again) end_faults(0);
  struct fathom_fault* fault = &state->faults[FATHOM_BELOW(kind, FATHOM_FAULT_KINDS)];
  fault->inode = inode;
  fault->page = first;
  fault->pages = pages;
  fault->file = number_of_host(inode);
  fault->began = bpf_ktime_get_ns();
  return 0;
}

FATHOM_TRACEPOINT("mm_filemap_get_pages")
int BPF_PROG(pages_looked_for, struct address_space* mapping, unsigned long first,
             unsigned long last) {
  return count(host_of(mapping), FATHOM_PAGECACHE_LOOKUP, last - first + 1);
}

FATHOM_TRACEPOINT("mm_filemap_add_to_page_cache")
int BPF_PROG(folio_added, struct folio* folio) {
  return count(host_of(mapping_of(folio)), FATHOM_PAGECACHE_ADD, 0);
}

FATHOM_TRACEPOINT("mm_filemap_delete_from_page_cache")
int BPF_PROG(folio_evicted, struct folio* folio) {
  return count(host_of(mapping_of(folio)), FATHOM_PAGECACHE_EVICT, 0);
}

FATHOM_TRACEPOINT("mm_filemap_fault")
int BPF_PROG(page_faulted, struct address_space* mapping, unsigned long page) {
  return settings.faults_end ? begin_fault(FATHOM_FAULT_MISSED, host_of(mapping), page, 1)
                             : count(host_of(mapping), FATHOM_PAGECACHE_FAULT, 1);
}

FATHOM_TRACEPOINT("mm_filemap_map_pages")
int BPF_PROG(pages_mapped, struct address_space* mapping, unsigned long first, unsigned long last) {
  const __u64 pages = last - first + 1;
  return settings.faults_end ? begin_fault(FATHOM_FAULT_MAPPED, host_of(mapping), first, pages)
                             : count(host_of(mapping), FATHOM_PAGECACHE_MAP, pages);
}

/* What the kernel counts as a page fault, minor or major: when it has ended. */
SEC("perf_event")
int fault_ended(void* context) { return end_faults(1); }

FATHOM_TRACEPOINT("sched_process_exit")
int BPF_PROG(thread_ends) { return settings.faults_end ? end_faults(0) : 0; }

FATHOM_TRACEPOINT("writeback_dirty_folio")
int BPF_PROG(folio_dirtied, struct folio* folio, struct address_space* mapping) {
  return count(host_of(mapping), FATHOM_PAGECACHE_DIRTY, 0);
}

#ifdef FATHOM_PLAIN
FATHOM_TRACEPOINT("writeback_dirty_page") /* as it was called before */
int BPF_PROG(page_dirtied, struct page* page, struct address_space* mapping) {
  return count(host_of(mapping), FATHOM_PAGECACHE_DIRTY, 0);
}
#endif
