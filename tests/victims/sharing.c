// SPDX-License-Identifier: MIT
// sharing HOW [NUMBER]: children that share their parent's memory, made one of the ways below; each
// reads 20 times and ends with 7. Their parent reads 100 times before and 1000 times after.
//
//   vfork         vfork, _exit
//   waits         clone: the parent waits
//   beside        clone: they run beside each other
//   files         the same, with one table of descriptors
//   storage       the parent waits; thread-local storage that is not libc's
//   beside-storage  the same, beside each other
//   raw           by system call
//   nested        vfork in a child of vfork
//   forks         a child of vfork forks a child that reads
//   many          NUMBER of "beside", at once
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMost = 40, kStack = 65536 };
static char stacks[kMost][kStack] __attribute__((aligned(64)));
static char storage[65536] __attribute__((aligned(64)));
static int data;

static void look(int times) {
  char bytes[13];
  for (int i = 0; i < times; i++) {
    if (pread(data, bytes, sizeof bytes, 0) != sizeof bytes) _exit(98);
  }
}

static int child(void* unused) {
  (void)unused;
  look(20);
  _exit(7);
}

// With other thread-local storage nothing of libc's may be relied on.
static int silent_child(void* slow) {
  if (slow != 0) usleep(20000);
  if (chdir("/") != 0) _exit(97);
  _exit(7);
}

static pid_t beside(int number, int flags) {
  return clone(child, stacks[number] + kStack - 64, CLONE_VM | SIGCHLD | flags, 0);
}

static pid_t with_storage(int flags, void* slow) {
  return clone(silent_child, stacks[0] + kStack - 64, CLONE_VM | CLONE_SETTLS | SIGCHLD | flags,
               slow, 0, storage + 16384, 0);
}

static pid_t by_vfork(const char* how) {
  const pid_t pid = vfork();
  if (pid != 0) return pid;
  if (strcmp(how, "nested") == 0) {
    const pid_t inner = vfork();
    if (inner == 0) _exit(0);
  }
  if (strcmp(how, "forks") == 0) {
    const pid_t inner = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (inner == 0) {
      look(20);
      _exit(0);
    }
    waitpid(inner, 0, 0);
  }
  look(20);
  _exit(7);
}

static pid_t make(const char* how) {
  if (strcmp(how, "waits") == 0) return beside(0, CLONE_VFORK);
  if (strcmp(how, "beside") == 0) return beside(0, 0);
  if (strcmp(how, "files") == 0) return beside(0, CLONE_FILES | CLONE_FS);
  if (strcmp(how, "storage") == 0) return with_storage(CLONE_VFORK, 0);
  if (strcmp(how, "beside-storage") == 0) return with_storage(0, storage);
  return by_vfork(how);
}

static int ended(pid_t pid) {
  int status = 0;
  if (pid <= 0 || waitpid(pid, &status, 0) != pid) return 99;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char** argv) {
  data = open("looked-at", O_RDWR | O_CREAT, 0600);
  if (data < 0 || pwrite(data, "thirteen bytes", 14, 0) != 14) return 96;
  look(100);
  const char* const how = argc > 1 ? argv[1] : "vfork";
  const int number = argc > 2 ? atoi(argv[2]) : 1;
  pid_t pids[kMost];
  int wrong = 0;
  for (int i = 0; i < number && i < kMost; i++)
    pids[i] = strcmp(how, "many") == 0 ? beside(i, 0) : make(how);
  for (int i = 0; i < number && i < kMost; i++) wrong += ended(pids[i]) != 7;
  look(1000);
  return wrong;
}
