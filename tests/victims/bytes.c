/* SPDX-License-Identifier: MIT
 * Moves 256 KiB of `source` to `target` in the way that it is told, or reads 256 blocks of `source`
 * in the order that it is told. usage: bytes WAY */
#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kSize = 256 << 10, kPiece = 32 << 10, kBlock = 1024, kBlocks = kSize / kBlock };
static char room[kPiece];
static int from, to;

static void need(int is_so, const char* what) {
  if (is_so) return;
  perror(what);
  exit(1);
}

static int again(void) {
  const int fd = open("source", O_RDONLY);
  need(fd >= 0, "source");
  return fd;
}

/* --- copies */

static void ranges(void) {
  for (int i = 0; i < kSize; i += kPiece)
    need(copy_file_range(from, NULL, to, NULL, kPiece, 0) == kPiece, "copy_file_range");
}

static void ranges_at(void) {
  off_t in = 0, out = 0;
  while (in < kSize)
    need(copy_file_range(from, &in, to, &out, kPiece, 0) == kPiece, "copy_file_range");
}

static void send(void) {
  for (int i = 0; i < kSize; i += kPiece)
    need(sendfile(to, from, NULL, kPiece) == kPiece, "sendfile");
}

static void splices(void) {
  int both[2];
  need(pipe(both) == 0, "pipe");
  for (int i = 0; i < kSize; i += kPiece) {
    need(splice(from, NULL, both[1], NULL, kPiece, 0) == kPiece, "splice");
    for (ssize_t left = kPiece, now; left > 0; left -= now) {
      now = splice(both[0], NULL, to, NULL, (size_t)left, 0);
      need(now > 0, "splice");
    }
  }
}

/* Half a piece in each of two parts, from where the file stands or at a position. */
static void vectors(void) {
  const struct iovec parts[] = {{room, kPiece / 2}, {room + kPiece / 2, kPiece / 2}};
  for (int i = 0; i < kSize; i += 2 * kPiece) {
    need(readv(from, parts, 2) == kPiece && writev(to, parts, 2) == kPiece, "readv");
    need(preadv(from, parts, 2, i) == kPiece && pwritev(to, parts, 2, i) == kPiece, "preadv");
  }
}

static void wait_for(struct aiocb* request) {
  const struct aiocb* list[] = {request};
  while (aio_error(request) != 0) aio_suspend(list, 1, NULL);
  need(aio_return(request) == kPiece, "aio_return");
}

static void requests(void) {
  for (int at = 0; at < kSize; at += kPiece) {
    struct aiocb request;
    memset(&request, 0, sizeof request);
    request.aio_fildes = from;
    request.aio_buf = room;
    request.aio_nbytes = kPiece;
    request.aio_offset = at;
    need(aio_read(&request) == 0, "aio_read");
    wait_for(&request);
    request.aio_fildes = to;
    need(aio_write(&request) == 0, "aio_write");
    wait_for(&request);
  }
}

/* --- orders */

static void in_turns(void) {
  const int high = again();
  need(lseek(high, kSize / 2, SEEK_SET) > 0, "lseek");
  for (int i = 0; i < kBlocks / 2; i++) {
    need(read(from, room, kBlock) == kBlock && read(high, room, kBlock) == kBlock, "read");
  }
}

/* Of other lengths each time: no pass ends where another did. */
static void anew(void) {
  for (int left = kBlocks, pass = 1; left > 0; pass = pass % 7 + 1) {
    const int fd = again();
    for (int i = 0; i < pass && left > 0; i++, left--)
      need(read(fd, room, kBlock) == kBlock, "read");
    close(fd);
  }
}

static void rewound(void) {
  for (int i = 0; i < kBlocks; i++) {
    if (i % 8 == 0) lseek(from, 0, SEEK_SET);
    need(read(from, room, kBlock) == kBlock, "read");
  }
}

static void jumps(void) {
  unsigned long state = 7;
  for (int i = 0; i < kBlocks; i++) {
    state = state * 6364136223846793005UL + 1;
    need(pread(from, room, kBlock, (off_t)((state >> 33) % kBlocks) * kBlock) == kBlock, "pread");
  }
}

static void strides(void) {
  for (int i = 0; i < kBlocks; i++)
    need(pread(from, room, kBlock / 4, (off_t)i * kBlock) == kBlock / 4, "pread");
}

static const struct {
  const char* name;
  void (*run)(void);
} kWays[] = {
    {"ranges", ranges},     {"ranges_at", ranges_at}, {"send", send},       {"splices", splices},
    {"requests", requests}, {"in_turns", in_turns},   {"anew", anew},       {"rewound", rewound},
    {"jumps", jumps},       {"strides", strides},     {"vectors", vectors},
};

int main(int count, char** arguments) {
  need(count == 2, "usage");
  from = again();
  to = open("target", O_RDWR | O_CREAT | O_TRUNC, 0644);
  need(to >= 0, "target");
  for (size_t i = 0; i < sizeof kWays / sizeof *kWays; i++)
    if (strcmp(kWays[i].name, arguments[1]) == 0) kWays[i].run();
  return 0;
}
