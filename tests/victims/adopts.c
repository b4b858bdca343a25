// SPDX-License-Identifier: MIT
// adopts reaps [FILE]: reads, has a child that reads, and counts what the kernel tells it about
// children. Then it waits for the file, or leaves behind another child that reads.
// adopts subreaper COMMAND…: runs the command as one.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void count(int number) {
  (void)number;
  signals++;
}

static void reads(void) {
  char byte;
  const int fd = open("/dev/zero", O_RDONLY);
  for (int i = 0; i < 100; i++) (void)!pread(fd, &byte, 1, 0);
  close(fd);
}

static pid_t child(void) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  reads();
  _exit(0);
}

static void leave_child_behind(void) {
  int ends[2];
  char byte = 0;
  if (pipe(ends) != 0) exit(4);
  if (fork() == 0) {
    reads();
    (void)!write(ends[1], &byte, 1);
    for (;;) pause();
  }
  while (read(ends[0], &byte, 1) < 0 && errno == EINTR) {
  }
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "subreaper") == 0) {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    execvp(argv[2], argv + 2);
    return 3;
  }
  struct sigaction action = {.sa_handler = count};
  sigaction(SIGCHLD, &action, NULL);
  reads();
  siginfo_t info;
  if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) != -1 || errno != ECHILD) return 2;
  const pid_t first = child();
  int own = 0, strangers = 0;
  for (pid_t ended; (ended = waitpid(-1, NULL, 0)) > 0 || errno == EINTR;) {
    if (ended > 0) *(ended == first ? &own : &strangers) += 1;
  }
  printf("own %d\nstrangers %d\nsignals %d\n", own, strangers, (int)signals);
  fflush(stdout);
  if (argc > 2) {
    while (access(argv[2], F_OK) != 0) usleep(10000);
  } else {
    leave_child_behind();
  }
  return 0;
}
