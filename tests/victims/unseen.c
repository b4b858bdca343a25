/* SPDX-License-Identifier: MIT
 * Writes BLOCKS of 4 KiB to `target` past every function of libc: by raw system calls, by the
 * kernel's queues, or through memory. usage: unseen BLOCKS raw|killed|requests|mapped; 77: not
 * offered. `killed`: raw system calls, and then a signal ends the program. */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kBlock = 4096 };
static char block[kBlock];

#ifdef GO_NOTE /* what Go's linker leaves in a program */
__attribute__((section(".note.go.buildid"), used, aligned(4))) static const struct {
  unsigned name, content, type;
  char text[4], id[4];
} note = {4, 4, 4, "Go", "id"};
#endif

#if defined(__x86_64__)
static long raw_write(int fd, const void* from, long size) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(SYS_write), "D"((long)fd), "S"(from), "d"(size)
                   : "rcx", "r11", "memory");
  return result;
}
#else
static long raw_write(int fd, const void* from, long size) {
  register long number __asm__("x8") = SYS_write;
  register long first __asm__("x0") = fd;
  register const void* second __asm__("x1") = from;
  register long third __asm__("x2") = size;
  __asm__ volatile("svc 0" : "+r"(first) : "r"(number), "r"(second), "r"(third) : "memory");
  return first;
}
#endif

static void raw(int fd, long blocks) {
  for (long i = 0; i < blocks; i++) {
    if (raw_write(fd, block, kBlock) != kBlock) exit(3);
  }
}

static void requests(int fd, long blocks) {
  aio_context_t context = 0;
  if (syscall(SYS_io_setup, 1, &context) != 0) exit(77);
  for (long i = 0; i < blocks; i++) {
    struct iocb one = {.aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = (unsigned)fd};
    one.aio_buf = (unsigned long)block;
    one.aio_nbytes = kBlock;
    one.aio_offset = i * kBlock;
    struct iocb* list[] = {&one};
    struct io_event done;
    if (syscall(SYS_io_submit, context, 1, list) != 1) exit(4);
    if (syscall(SYS_io_getevents, context, 1, 1, &done, NULL) != 1) exit(5);
  }
}

static void mapped(int fd, long blocks) {
  if (ftruncate(fd, blocks * kBlock) != 0) exit(6);
  char* all = mmap(NULL, blocks * kBlock, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (all == MAP_FAILED) exit(7);
  for (long i = 0; i < blocks; i++) memcpy(all + i * kBlock, block, kBlock);
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const long blocks = atol(arguments[1]);
  const int fd = open("target", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return 2;
  if (strcmp(arguments[2], "raw") == 0) raw(fd, blocks);
  if (strcmp(arguments[2], "killed") == 0) {
    raw(fd, blocks);
    raise(SIGKILL);
  }
  if (strcmp(arguments[2], "requests") == 0) requests(fd, blocks);
  if (strcmp(arguments[2], "mapped") == 0) mapped(fd, blocks);
  return 0;
}
