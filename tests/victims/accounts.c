/* SPDX-License-Identifier: MIT
 * A child moves bytes; what the kernel itself has on its account is printed when it has ended.
 * usage: accounts chars|direct|mapped ROUNDS   (of the files `data`, 64 KiB or more, and `out`) */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPage = 4096 };

static char room[16 * kPage] __attribute__((aligned(4096)));

static void move_chars(int rounds) {
  const int data = open("data", O_RDONLY), out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600);
  struct iovec parts[2] = {{room, 300}, {room + 300, 700}};
  for (int i = 0; i < rounds; i++) {
    off_t from = 0;
    lseek(data, 0, SEEK_SET);
    read(data, room, 1000);
    pread(data, room, 2000, 1);
    readv(data, parts, 2);
    preadv(data, parts, 2, 5);
    pread(data, room, 100, 1 << 30); /* nothing there */
    pread(-1, room, 100, 0);         /* in vain */
    write(out, room, 500);
    pwrite(out, room, 600, 0);
    writev(out, parts, 2);
    pwritev(out, parts, 1, 0);
    sendfile(out, data, &from, 4000);
    copy_file_range(data, &from, out, NULL, 5000, 0);
  }
}

/* Past the page cache. */
static void move_directly(int rounds) {
  const int out = open("out", O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);
  for (int i = 0; i < rounds; i++) pwrite(out, room, sizeof room, (off_t)i * (off_t)sizeof room);
  for (int i = 0; i < 2 * rounds; i++) pread(out, room, kPage, (off_t)i * kPage);
}

/* One page after the other that is not in memory yet. */
static void touch_pages(int rounds) {
  const int data = open("data", O_RDONLY);
  fsync(data);
  posix_fadvise(data, 0, 0, POSIX_FADV_DONTNEED);
  volatile char* at = mmap(NULL, (size_t)rounds * kPage, PROT_READ, MAP_PRIVATE, data, 0);
  madvise((void*)at, (size_t)rounds * kPage, MADV_RANDOM);
  for (int i = 0; i < rounds; i++) (void)at[(size_t)i * kPage];
}

int main(int count, char** words) {
  if (count != 3) return 2;
  const int rounds = atoi(words[2]);
  const pid_t child = fork();
  if (child == 0) {
    if (strcmp(words[1], "chars") == 0) move_chars(rounds);
    if (strcmp(words[1], "direct") == 0) move_directly(rounds);
    if (strcmp(words[1], "mapped") == 0) touch_pages(rounds);
    _exit(0);
  }
  siginfo_t how;
  waitid(P_PID, child, &how, WEXITED | WNOWAIT); /* its accounts stay until it is taken */
  char name[64], line[128];
  snprintf(name, sizeof name, "/proc/%d/io", child);
  FILE* accounts = fopen(name, "r");
  while (accounts && fgets(line, sizeof line, accounts)) {
    *strchr(line, ':') = ' ';
    fputs(line, stdout);
  }
  struct rusage used;
  wait4(child, NULL, 0, &used);
  printf("child %d\nmajor %ld\nminor %ld\n", child, used.ru_majflt, used.ru_minflt);
  return 0;
}
