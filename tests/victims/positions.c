// SPDX-License-Identifier: MIT
// positions MODE NUMBER: reads and writes whose offset the program knows better than anybody: each
// lies in a region "step" with the truth as an argument. The files hold their own offsets as 8-byte
// words, so that what was read tells where it lay.
#define _GNU_SOURCE
#include <errno.h>
#include <fathom/fathom.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
enum { kWords = 8192 };
static int shared_fd;

// Asked behind the library's back.
static long where(int fd) { return syscall(SYS_lseek, fd, 0, SEEK_CUR); }
static long size_of(int fd) {
  const long now = where(fd), end = syscall(SYS_lseek, fd, 0, SEEK_END);
  syscall(SYS_lseek, fd, now, SEEK_SET);
  return end;
}

static int numbered(const char* path) {
  static uint64_t words[kWords];
  for (uint64_t i = 0; i < kWords; i++) words[i] = i * 8;
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || write(fd, words, sizeof words) != sizeof words) exit(3);
  close(fd);
  return open(path, O_RDWR);
}

static void read_step(int fd, size_t size) {
  char buffer[64];
  FATHOM_REGION("step");
  FATHOM_ARG("truth", where(fd));
  if (read(fd, buffer, size) < 0) exit(4);
}
static void readv_step(int fd) {
  char one[3], two[9];
  struct iovec pieces[2] = {{one, sizeof one}, {two, sizeof two}};
  FATHOM_REGION("step");
  FATHOM_ARG("truth", where(fd));
  if (readv(fd, pieces, 2) < 0) exit(4);
}
static void write_step(int fd, size_t size) {
  static const char text[64];
  FATHOM_REGION("step");
  const long before = where(fd);
  if (write(fd, text, size) != (ssize_t)size) exit(5);
  FATHOM_ARG("truth", fcntl(fd, F_GETFL) & O_APPEND ? where(fd) - (long)size : before);
}

static void plain(long number) {
  const int first = numbered("first"), log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
  int second = numbered("second");
  srand(7);
  for (long i = 0; i < number; i++) {
    const size_t size = 1 + (size_t)rand() % 60;
    switch (rand() % 9) {
      case 0:
        read_step(first, size);
        break;
      case 1:
        readv_step(second);
        break;
      case 2:
        write_step(second, size);
        break;
      case 3:
        write_step(log, size);
        break;
      case 4:
        lseek(first, rand() % 60000, SEEK_SET);
        break;
      case 5:
        lseek(second, -(rand() % 100), SEEK_END);
        break;
      case 6: {
        char byte;
        if (pread(first, &byte, 1, rand() % 60000) != 1) exit(6);
        lseek(first, -1 - (long)size * 100000, SEEK_CUR);  // fails: nothing moves
        break;
      }
      case 7: {
        close(second);
        second = open("second", O_RDWR);
        break;
      }
      default:
        read_step(second, size);
        break;
    }
  }
}

// A position that two descriptors share.
static void duplicates(long number) {
  const int first = numbered("first"), second = dup(first), third = fcntl(first, F_DUPFD, 40);
  const int fourth = dup2(first, 50);
  const int all[4] = {first, second, third, fourth};
  for (long i = 0; i < number; i++) read_step(all[i % 4], 5);
}

static void stdio(long number) {
  FILE* file = fopen("both", "w+");
  const int fd = fileno(file);
  for (long i = 0; i < number; i++) {
    fputs("buffered", file);
    write_step(fd, 3);
    fflush(NULL);
    write_step(fd, 4);
    fprintf(file, "%ld", i);
    fflush(file);
    write_step(fd, 5);
    fseek(file, 2, SEEK_SET);
    fgetc(file);
    read_step(fd, 6);
    lseek(fd, 0, SEEK_END);
    fseek(file, 0, SEEK_END);
  }
}

// Children that move a position which they inherited, however they were made.
static void children(long number) {
  const int fd = numbered("first");
  char command[100];
  snprintf(command, sizeof command, "head -c 8 <&%d >/dev/null", fd);
  char* arguments[] = {"sh", "-c", command, 0};
  for (long i = 0; i < number; i++) {
    read_step(fd, 8);
    switch (i % 5) {
      case 0:
        if (system(command) != 0) exit(6);
        break;
      case 1:
        if (pclose(popen(command, "r")) != 0) exit(6);
        break;
      case 2:
        if (vfork() == 0) {
          execv("/bin/sh", arguments);
          _exit(1);
        }
        break;
      case 3: {
        pid_t child;
        if (posix_spawn(&child, "/bin/sh", 0, 0, arguments, environ) != 0) exit(6);
        break;
      }
      default:
        if (fork() == 0) {
          read_step(fd, 8);
          _exit(0);
        }
    }
    wait(NULL);
    read_step(fd, 8);
    close(fd);
    if (numbered("first") != fd) exit(7);
  }
}

// A word tells where it lay: whoever reads one knows its offset, though others read from the same
// position.
static void* words(void* unused) {
  for (;;) {
    uint64_t word;
    FATHOM_REGION("step");
    const ssize_t got = read(shared_fd, &word, sizeof word);
    if (got != sizeof word) return unused;
    FATHOM_ARG("truth", (long)word);
  }
}
static void threads(long number) {
  for (long i = 0; i < number; i++) {
    shared_fd = numbered("words");
    pthread_t ids[3];
    for (int k = 0; k < 3; k++) pthread_create(&ids[k], NULL, words, NULL);
    for (int k = 0; k < 3; k++) pthread_join(ids[k], NULL);
    close(shared_fd);
  }
}
static void processes(long number) {
  shared_fd = numbered("words");
  for (long i = 0; i < number; i++)
    if (fork() == 0) {
      words(NULL);
      exit(0);
    }
  words(NULL);
  while (wait(NULL) > 0) {
  }
}

// A process that was there before gets the descriptor by a message, and moves its position.
static void send_descriptor(int line, int fd, int how) {
  char byte = 'x', control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec piece = {&byte, 1};
  struct mmsghdr both = {.msg_hdr = {.msg_iov = &piece,
                                     .msg_iovlen = 1,
                                     .msg_control = control,
                                     .msg_controllen = sizeof control}};
  struct cmsghdr* head = CMSG_FIRSTHDR(&both.msg_hdr);
  *head = (struct cmsghdr){
      .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
  memcpy(CMSG_DATA(head), &fd, sizeof fd);
  const long sent = how == 0   ? sendmsg(line, &both.msg_hdr, 0)
                    : how == 1 ? sendmmsg(line, &both, 1, 0)
                               : syscall(SYS_sendmsg, line, &both.msg_hdr, 0);
  if (sent != 1) exit(8);
}
static int receive_descriptor(int line) {
  char byte, control[CMSG_SPACE(sizeof(int))];
  struct iovec piece = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  int fd = -1;
  if (recvmsg(line, &message, 0) != 1) return -1;
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}
static void rights(long number) {
  int line[2];
  char byte = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, line) != 0) exit(8);
  if (fork() == 0) {
    close(line[0]);
    for (int fd; (fd = receive_descriptor(line[1])) >= 0; close(fd)) {
      for (int i = 0; i < 3; i++) read_step(fd, 8);
      if (write(line[1], &byte, 1) != 1) exit(9);
    }
    _exit(0);
  }
  close(line[1]);
  for (long i = 0; i < number; i++) {
    const int fd = numbered("first");
    for (int k = 0; k < 3; k++) read_step(fd, 8);
    send_descriptor(line[0], fd, (int)(i % 3));
    if (read(line[0], &byte, 1) != 1) exit(9);
    for (int k = 0; k < 3; k++) read_step(fd, 8);
    close(fd);
  }
  // What the kernel refuses is refused.
  if (sendmsg(line[0], (struct msghdr*)8, 0) != -1 || errno != EFAULT) exit(10);
  close(line[0]);
  wait(NULL);
}

static void appenders(long number) {
  const int fd = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
  for (long i = 0; i < number; i++)
    if (fork() == 0) {
      char text[32];
      memset(text, 'a' + (int)i % 26, sizeof text);
      for (int k = 0; k < 200; k++)
        if (write(fd, text, sizeof text) != sizeof text) exit(5);
      exit(0);
    }
  while (wait(NULL) > 0) {
  }
}

// Calls with an offset of their own that is not where the bytes go, and offsets beyond 32 bits.
static void special(long number) {
  const int fd = numbered("first"), log = open("log", O_RDWR | O_CREAT | O_APPEND, 0600);
  char bytes[16] = {0};
  struct iovec piece = {bytes, sizeof bytes};
  for (long i = 0; i < number; i++) {
    read_step(fd, 8);
    if (preadv2(fd, &piece, 1, -1, 0) < 0) exit(4);  // from the position
    read_step(fd, 8);
    {
      FATHOM_REGION("step");
      FATHOM_ARG("truth", size_of(log));
      if (pwrite(log, bytes, sizeof bytes, 3) != sizeof bytes) exit(5);  // O_APPEND wins
    }
    {
      FATHOM_REGION("step");
      FATHOM_ARG("truth", size_of(fd));
      if (pwritev2(fd, &piece, 1, 5, RWF_APPEND) != sizeof bytes) exit(5);
    }
    lseek(fd, (INT64_C(5) << 30) + i, SEEK_SET);
    write_step(fd, 8);
    read_step(fd, 8);
    if (ftruncate(fd, kWords * 8) != 0) exit(6);
    lseek(fd, i, SEEK_SET);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const char* mode = argv[1];
  const long number = atol(argv[2]);
  if (strcmp(mode, "plain") == 0) plain(number);
  if (strcmp(mode, "duplicates") == 0) duplicates(number);
  if (strcmp(mode, "stdio") == 0) stdio(number);
  if (strcmp(mode, "children") == 0) children(number);
  if (strcmp(mode, "threads") == 0) threads(number);
  if (strcmp(mode, "processes") == 0) processes(number);
  if (strcmp(mode, "appenders") == 0) appenders(number);
  if (strcmp(mode, "rights") == 0) rights(number);
  if (strcmp(mode, "special") == 0) special(number);
  return 0;
}
