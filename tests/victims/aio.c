/* SPDX-License-Identifier: MIT
 * Reads and writes by io_submit, without a library: ROUNDS times eight reads of 512 bytes of `data`
 * and eight writes of 100 bytes to `out`; one thread hands over, another one fetches the results.
 * Then a few that fail, each in its way. usage: aio ROUNDS */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kOnce = 8, kRead = 512, kWritten = 100 };

static aio_context_t context;
static char room[kOnce][4096];
static int rounds;

static struct iocb block(int fd, int opcode, void* buffer, size_t bytes) {
  struct iocb asked;
  memset(&asked, 0, sizeof asked);
  asked.aio_fildes = fd;
  asked.aio_lio_opcode = opcode;
  asked.aio_buf = (unsigned long)buffer;
  asked.aio_nbytes = bytes;
  return asked;
}

static long submit(struct iocb* blocks, int count) {
  struct iocb* list[2 * kOnce];
  for (int i = 0; i < count; i++) list[i] = &blocks[i];
  return syscall(SYS_io_submit, context, (long)count, list);
}

static void* fetch(void* unused) {
  struct io_event events[2 * kOnce];
  for (int left = 2 * kOnce * rounds; left > 0;) {
    const long got = syscall(SYS_io_getevents, context, 1L, (long)2 * kOnce, events, NULL);
    if (got < 0) exit(3);
    left -= got;
  }
  return unused;
}

static void hand_over(int data, int out) {
  struct iocb* blocks = calloc((size_t)rounds * 2 * kOnce, sizeof *blocks);
  for (int round = 0; round < rounds; round++) {
    struct iocb* own = blocks + round * 2 * kOnce;
    for (int i = 0; i < kOnce; i++) own[i] = block(data, IOCB_CMD_PREAD, room[i], kRead);
    for (int i = 0; i < kOnce; i++) own[kOnce + i] = block(out, IOCB_CMD_PWRITE, room[i], kWritten);
    if (submit(own, 2 * kOnce) != 2 * kOnce) exit(4);
  }
}

int main(int count, char** words) {
  if (count != 2) return 2;
  rounds = atoi(words[1]);
  if (syscall(SYS_io_setup, (unsigned)(4 * kOnce * rounds + 64), &context) != 0) return 5;
  const int data = open("data", O_RDONLY), out = open("out", O_RDWR | O_CREAT, 0600);
  pthread_t thread;
  pthread_create(&thread, NULL, fetch, NULL);
  hand_over(data, out);
  pthread_join(thread, NULL);

  /* Of five the third is refused: two are taken. One fails, one is short. */
  struct iocb rest[5] = {
      block(data, IOCB_CMD_PREAD, (void*)8, kRead), block(data, IOCB_CMD_PREAD, room[0], kRead),
      block(-1, IOCB_CMD_PREAD, room[0], kRead), block(data, IOCB_CMD_PREAD, room[0], kRead),
      block(data, IOCB_CMD_PREAD, room[0], kRead)};
  rest[1].aio_offset = 4096 - 12;
  struct iovec parts[2] = {{room[0], 30}, {room[1], 70}};
  struct iocb others[2] = {block(data, IOCB_CMD_PREADV, parts, 2),
                           block(out, IOCB_CMD_FSYNC, NULL, 0)};
  struct io_event events[8];
  const long taken = submit(rest, 5), synced = submit(others, 2);
  for (long left = taken + synced; left > 0;)
    left -= syscall(SYS_io_getevents, context, left, left, events, NULL);
  struct iocb unseen = block(data, IOCB_CMD_PREAD, room[0], kRead);
  submit(&unseen, 1); /* nobody fetches it */
  printf("taken %ld\n", taken);
  return 0;
}
