// SPDX-License-Identifier: MIT
// storm PROCESSES THREADS TURNS: a tree of processes, each with threads that come and go, each
// thread with regions and reads, while a timer's handler reads too. Every process prints what it
// did: "regions R reads N handled H".
#define _GNU_SOURCE
#include <fathom/fathom.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int data;
static long turns;
static atomic_long handled;

static void on_alarm(int unused) {
  (void)unused;
  char buffer[7];
  if (pread(data, buffer, sizeof buffer, 0) != sizeof buffer) _exit(9);
  atomic_fetch_add(&handled, 1);
}

static void* work(void* unused) {
  char buffer[11];
  for (long i = 0; i < turns; i++) {
    FATHOM_REGION("turn");
    FATHOM_ARG("i", i);
    if (pread(data, buffer, sizeof buffer, 0) != sizeof buffer) _exit(8);
  }
  return unused;
}

static int one_process(int threads) {
  const struct itimerval every_ms = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &every_ms, NULL);
  for (int done = 0; done < threads; done += 4) {
    pthread_t ids[4];
    const int now = threads - done < 4 ? threads - done : 4;
    for (int i = 0; i < now; i++)
      if (pthread_create(&ids[i], NULL, work, NULL) != 0) return 7;
    for (int i = 0; i < now; i++) pthread_join(ids[i], NULL);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  char line[100];
  const int length =
      snprintf(line, sizeof line, "%ld %ld\n", threads * turns, atomic_load(&handled));
  return write(1, line, (size_t)length) == length ? 0 : 6;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int processes = atoi(argv[1]), threads = atoi(argv[2]);
  turns = atol(argv[3]);
  data = open("data", O_RDWR | O_CREAT, 0600);
  if (data < 0 || pwrite(data, "twenty bytes of data", 20, 0) != 20) return 3;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  for (int i = 0; i < processes; i++) {
    const pid_t child = fork();
    if (child == 0) _exit(one_process(threads));
    if (child < 0) return 4;
  }
  int status, bad = 0;
  for (int ended = 0; ended < processes;) {
    if (wait(&status) < 0) continue;
    ended++;
    bad += status != 0;
  }
  return bad != 0 ? 5 : one_process(threads);
}
