// SPDX-License-Identifier: MIT
// lives MODE [NUMBER]: ways in which processes begin and end. Every process that ever runs makes
// one pread of 13 bytes, unless its mode says otherwise; the number of them is printed by the first
// one, or follows from NUMBER.
#define _GNU_SOURCE
#include <errno.h>
#include <fathom/fathom.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
static int data;
static const char* self;

static void look(void) {
  char buffer[13];
  if (pread(data, buffer, sizeof buffer, 0) != sizeof buffer) _exit(9);
}

static void wait_all(void) {
  int status;
  while (wait(&status) > 0)
    if (status != 0) _exit(8);
}

// Every process forks two until the depth is reached: 2^(depth+1) - 1 processes.
static void nested(int depth) {
  for (int i = 0; i < 2 && depth > 0; i++) {
    const pid_t child = fork();
    if (child < 0) _exit(7);
    if (child == 0) {
      nested(depth - 1);
      _exit(0);
    }
  }
  look();
  wait_all();
}

static void forks(int number, int raw) {
  for (int i = 0; i < number; i++) {
    const pid_t child = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
    if (child < 0) _exit(7);
    if (child == 0) {
      look();
      _exit(0);
    }
    if (i % 50 == 49) wait_all();
  }
  wait_all();
  look();
}

static void vforks(int number) {
  for (int i = 0; i < number; i++) {
    const pid_t child = vfork();
    if (child < 0) _exit(7);
    if (child == 0) {
      if (i % 2) execl("/nowhere/to/be/found", "nowhere", (char*)0);
      close(0);  // the child's business alone
      execl(self, self, "look", (char*)0);
      _exit(6);
    }
    look();
    wait_all();
  }
}

static void spawns(int number) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 5, "spawned", O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 5, 1);
  posix_spawn_file_actions_addclose(&actions, 5);
  char* arguments[] = {(char*)self, "look", 0};
  for (int i = 0; i < number; i++) {
    pid_t child;
    if (posix_spawn(&child, self, &actions, 0, arguments, environ) != 0) _exit(7);
    if (i % 20 == 19) wait_all();
  }
  pid_t nobody;
  if (posix_spawn(&nobody, "/nowhere/to/be/found", 0, 0, arguments, environ) != ENOENT) _exit(6);
  wait_all();
  look();
}

static void shells(int number) {
  char command[4200], line[100];
  snprintf(command, sizeof command, "exec '%s' look", self);
  for (int i = 0; i < number; i++) {
    if (system(command) != 0) _exit(7);
    FILE* pipe = popen(command, "r");
    if (!pipe || !fgets(line, sizeof line, pipe) || strcmp(line, "looked\n") != 0 ||
        pclose(pipe) != 0)
      _exit(6);
  }
  look();
}

// The grandchild lives on when the command has ended: it looks every 10 ms, NUMBER times, then
// writes a file.
static void daemon_life(int number) {
  if (fork() != 0) {
    look();
    exit(0);
  }
  setsid();
  if (fork() != 0) _exit(0);
  for (int fd = 0; fd < 3; fd++) close(fd);
  for (int i = 0; i < number; i++) {
    look();
    usleep(10000);
  }
  close(creat("daemon.done", 0600));
  _exit(0);
}

static void exec_fails_then_works(void) {
  for (int i = 0; i < 10; i++) {
    errno = 0;
    execl("nowhere", "nowhere", (char*)0);
    if (errno != ENOENT) _exit(7);
    look();
  }
  errno = 0;
  if (execlp("surely-not-a-program", "x", (char*)0) != -1 || errno != ENOENT) _exit(6);
  char* arguments[] = {(char*)self, "look", 0};
  execve(self, arguments, environ);
  _exit(5);
}

static void exit_again(void) {
  look();
  exit(7);
}
static void look_and_die(int number) {
  (void)number;
  look();
}

static int ends(const char* mode) {
  look();
  if (strcmp(mode, "exit-in-atexit") == 0) {
    atexit(exit_again);
    exit(3);
  }
  if (strcmp(mode, "abort-handled") == 0) {
    signal(SIGABRT, look_and_die);
    abort();
  }
  if (strcmp(mode, "segv") == 0) raise(SIGSEGV);
  if (strcmp(mode, "kill") == 0) raise(SIGKILL);
  if (strcmp(mode, "quick") == 0) quick_exit(11);
  if (strcmp(mode, "raw") == 0) syscall(SYS_exit_group, 12);
  if (strcmp(mode, "underscore") == 0) _exit(13);
  return 14;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* mode = argv[1];
  const int number = argc > 2 ? atoi(argv[2]) : 0;
  char own[4096] = {0};
  if (readlink("/proc/self/exe", own, sizeof own - 1) <= 0) return 3;
  self = own;
  data = open("data", O_RDWR | O_CREAT, 0600);
  if (data < 0 || pwrite(data, "twenty bytes of data", 20, 0) != 20) return 3;
  if (strcmp(mode, "look") == 0) {
    look();
    return write(1, "looked\n", 7) != 7;
  }
  if (strcmp(mode, "nested") == 0)
    nested(number);
  else if (strcmp(mode, "forks") == 0)
    forks(number, 0);
  else if (strcmp(mode, "raw-forks") == 0)
    forks(number, 1);
  else if (strcmp(mode, "vforks") == 0)
    vforks(number);
  else if (strcmp(mode, "spawns") == 0)
    spawns(number);
  else if (strcmp(mode, "shells") == 0)
    shells(number);
  else if (strcmp(mode, "daemon") == 0)
    daemon_life(number);
  else if (strcmp(mode, "exec-fails") == 0)
    exec_fails_then_works();
  else
    return ends(mode);
  return 0;
}
