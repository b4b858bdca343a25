// SPDX-License-Identifier: MIT
// signals MODE NUMBER: handlers that interrupt hooks anywhere and do what handlers do. Prints what
// was done, "key value" a line.
#define _GNU_SOURCE
#include <errno.h>
#include <fathom/fathom.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int data;
static FILE* stream;
static atomic_long handled, finished, jumped, children, errors;
static sigjmp_buf back;
static volatile sig_atomic_t armed;

static void check_errno(int wanted) {
  if (errno != wanted) atomic_fetch_add(&errors, 1);
}

static void busy_handler(int unused) {
  (void)unused;
  const int before = errno;
  char buffer[7];
  {
    FATHOM_REGION("handler");
    if (pread(data, buffer, sizeof buffer, 0) != sizeof buffer) _exit(9);
    FATHOM_ARG("n", atomic_fetch_add(&handled, 1));
  }
  errno = before;
}

static void jump_handler(int unused) {
  (void)unused;
  char buffer[7];
  atomic_fetch_add(&handled, 1);  // another handler may come now, and jump over this one
  if (pread(data, buffer, sizeof buffer, 0) != sizeof buffer) _exit(9);
  atomic_fetch_add(&finished, 1);
  if (armed) {
    armed = 0;
    siglongjmp(back, 1);
  }
}

// The child comes back from the handler, into whatever was interrupted, and goes on for a while.
static void fork_handler(int unused) {
  (void)unused;
  const int before = errno;
  const pid_t child = fork();
  if (child < 0) _exit(8);
  if (child == 0) {
    signal(SIGALRM, SIG_IGN);
    armed = 2;
  } else {
    atomic_fetch_add(&children, 1);
  }
  errno = before;
}

static void every(int microseconds, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | flags;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval timer = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

static void quiet(void) {
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  signal(SIGALRM, SIG_IGN);
}

static void one_turn(long i) {
  char buffer[11];
  FATHOM_REGION("turn");
  FATHOM_ARG("i", i);
  errno = 77;
  if (pread(data, buffer, sizeof buffer, 0) != sizeof buffer) _exit(7);
  check_errno(77);
  if (fputc('x', stream) != 'x') _exit(6);
  if (close(-1) != -1) _exit(5);
  check_errno(EBADF);
}

static void storm(long number) {
  every(100, busy_handler, 0);
  for (long i = 0; i < number; i++) one_turn(i);
  quiet();
}

// Three timers, whose handlers interrupt each other and themselves.
static void crossing(long number) {
  const int signals[] = {SIGALRM, SIGVTALRM, SIGPROF};
  const int timers[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = busy_handler;
  action.sa_flags = SA_RESTART;
  for (int i = 0; i < 3; i++) {
    const struct itimerval timer = {{0, 150 + 40 * i}, {0, 150 + 40 * i}};
    sigaction(signals[i], &action, NULL);
    setitimer(timers[i], &timer, NULL);
  }
  for (long i = 0; i < number; i++) {
    one_turn(i);
    if (i % 64 == 0) raise(SIGPROF);
  }
  const struct itimerval never = {{0, 0}, {0, 0}};
  for (int i = 0; i < 3; i++) {
    setitimer(timers[i], &never, NULL);
    signal(signals[i], SIG_IGN);
  }
}

static void jumps(long number) {
  every(300, jump_handler, SA_NODEFER);
  for (volatile long i = 0; i < number; i++) {
    if (sigsetjmp(back, 1) == 0) {
      armed = 1;
      char buffer[11];
      for (int k = 0; k < 50; k++)
        if (pread(data, buffer, sizeof buffer, 0) != sizeof buffer) _exit(7);
      armed = 0;
    } else {
      atomic_fetch_add(&jumped, 1);
    }
    FATHOM_REGION("after");
  }
  quiet();
}

static void forks(long number) {
  every(2000, fork_handler, 0);
  long i = 0;
  for (; i < number && armed != 2; i++) one_turn(i);
  if (armed == 2) {
    for (int k = 0; k < 20; k++) {
      FATHOM_REGION("child");
    }
    _exit(atomic_load(&errors) != 0);
  }
  quiet();
  int status;
  while (wait(&status) > 0)
    if (status != 0) atomic_fetch_add(&errors, 1);
}

static void* on_other_stack(void* area) {
  stack_t stack = {.ss_sp = area, .ss_size = 1 << 16};
  sigaltstack(&stack, NULL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  for (long i = 0; i < 40000; i++) one_turn(i);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  return NULL;
}

// A stack for handlers that lies above the thread's, and one that lies below it: mappings are made
// from above.
static void alternate(int above) {
  const size_t size = 1 << 20;
  char* area = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, above ? area : area + size, size);
  every(100, busy_handler, SA_ONSTACK);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, on_other_stack, above ? area + size : area) != 0)
    _exit(4);
  pthread_join(thread, NULL);
  quiet();
}

static jmp_buf plain;
static void dive(volatile int left) {
  FATHOM_REGION("dive");
  if (left > 0) dive(left - 1);
  if (left == 0) longjmp(plain, 1);
}

// longjmp over open regions: what follows is as deep as what was before.
static void over_regions(long number) {
  for (volatile long i = 0; i < number; i++) {
    FATHOM_REGION("shore");
    if (setjmp(plain) == 0) dive(5);
    FATHOM_REGION("land");
    char byte;
    if (pread(data, &byte, 1, 0) != 1) _exit(3);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const char* mode = argv[1];
  const long number = atol(argv[2]);
  data = open("data", O_RDWR | O_CREAT, 0600);
  stream = fopen("stream", "w");
  if (data < 0 || !stream || pwrite(data, "twenty bytes of data", 20, 0) != 20) return 3;
  if (strcmp(mode, "storm") == 0) storm(number);
  if (strcmp(mode, "crossing") == 0) crossing(number);
  if (strcmp(mode, "jumps") == 0) jumps(number);
  if (strcmp(mode, "forks") == 0) forks(number);
  if (strcmp(mode, "above") == 0) alternate(1);
  if (strcmp(mode, "below") == 0) alternate(0);
  if (strcmp(mode, "regions") == 0) over_regions(number);
  printf("handled %ld\nfinished %ld\njumped %ld\nchildren %ld\nerrors %ld\n", atomic_load(&handled),
         atomic_load(&finished), atomic_load(&jumped), atomic_load(&children),
         atomic_load(&errors));
  return 0;
}
