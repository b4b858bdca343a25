/* SPDX-License-Identifier: MIT
 * Operations by io_uring, without a library: CALLS reads of 512 bytes of `data`, CALLS of nothing,
 * three reads that fail and one that is cancelled. usage: uring CALLS plain|async|polled */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kEntries = 64 };

static int ring;
static int is_polled;
static unsigned *head, *tail, *mask, *flags, *done_head, *done_tail;
static struct io_uring_sqe* entries;
static unsigned* slots;

static void* map(size_t size, off_t offset) {
  return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, offset);
}

static void set_up(void) {
  struct io_uring_params params;
  memset(&params, 0, sizeof params);
  if (is_polled) params.flags = IORING_SETUP_SQPOLL;
  params.sq_thread_idle = 50;
  ring = (int)syscall(SYS_io_uring_setup, kEntries, &params);
  if (ring < 0) exit(3);
  char* submitted =
      map(params.sq_off.array + params.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
  char* done =
      map(params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
  entries = map(params.sq_entries * sizeof *entries, IORING_OFF_SQES);
  head = (unsigned*)(submitted + params.sq_off.head);
  tail = (unsigned*)(submitted + params.sq_off.tail);
  mask = (unsigned*)(submitted + params.sq_off.ring_mask);
  flags = (unsigned*)(submitted + params.sq_off.flags);
  slots = (unsigned*)(submitted + params.sq_off.array);
  done_head = (unsigned*)(done + params.cq_off.head);
  done_tail = (unsigned*)(done + params.cq_off.tail);
}

/* Hands over one, and waits until `results` of all are there. */
static void hand_over(int opcode, int fd, void* buffer, unsigned bytes, int is_async) {
  const unsigned at = *tail & *mask;
  memset(&entries[at], 0, sizeof entries[at]);
  entries[at].opcode = opcode;
  entries[at].fd = fd;
  entries[at].addr = (unsigned long)buffer;
  entries[at].len = bytes;
  entries[at].flags = is_async ? IOSQE_ASYNC : 0;
  slots[at] = at;
  __atomic_store_n(tail, *tail + 1, __ATOMIC_SEQ_CST);
  if (!is_polled) {
    if (syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0) != 1) exit(4);
    return;
  }
  if (__atomic_load_n(flags, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP)
    syscall(SYS_io_uring_enter, ring, 0, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0);
  while (__atomic_load_n(head, __ATOMIC_SEQ_CST) != *tail) usleep(10);
}

static void fetch(unsigned results) {
  while (__atomic_load_n(done_tail, __ATOMIC_SEQ_CST) - *done_head < results)
    syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
  __atomic_store_n(done_head, *done_head + results, __ATOMIC_SEQ_CST);
}

int main(int count, char** words) {
  if (count != 3) return 2;
  const int calls = atoi(words[1]), is_async = strcmp(words[2], "async") == 0;
  is_polled = strcmp(words[2], "polled") == 0;
  static char room[512];
  set_up();
  const int data = open("data", O_RDONLY);
  for (int i = 0; i < calls; i++) {
    hand_over(IORING_OP_READ, data, room, sizeof room, is_async);
    hand_over(IORING_OP_NOP, -1, NULL, 0, 0);
    fetch(2);
  }
  for (int i = 0; i < 3; i++) hand_over(IORING_OP_READ, 999, room, sizeof room, 0);
  fetch(3);
  int ends[2];
  if (pipe(ends) != 0) return 5;
  hand_over(IORING_OP_READ, ends[0], room, sizeof room, 0); /* nothing ever comes */
  hand_over(IORING_OP_ASYNC_CANCEL, -1, NULL, 0, 0);        /* of user_data 0: that one */
  fetch(2);
  printf("done\n");
  return 0;
}
