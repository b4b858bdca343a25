// SPDX-License-Identifier: MIT
// stepping ACT SUBJECT: runs a recorded call one instruction at a time (the processor's trap flag),
// and at one of its instructions, another one in each round, does what a signal handler may do
// there. Then the thread leaves the segment that it wrote to, so that whatever the interrupted call
// still believes of it is wrong. Prints "key value" a line.
//   fork   a child is made there, and comes back into the call when its parent is far away
//   write  more is recorded there than a segment holds
#define _GNU_SOURCE
#include <fathom/fathom.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { kTrapFlag = 0x100, kAllSteps = 2500, kAround = 50, kSegmentOfRegions = 4000 };

static int data;
static FILE* stream;
static char long_name[8000];
static volatile long step, act_at = -1, fills, children;
static volatile int was_quiet;
static long edges[64];  // steps at which signals were held back, or came through again
static volatile int edge_count;
static int gate[2];
static pid_t child;  // of this round
static volatile int in_child;
static int forks;

static void fill_a_segment(void) {
  for (int i = 0; i < kSegmentOfRegions; i++) {
    FATHOM_REGION("fill");
  }
  fills++;
}

// The child goes on only when the parent closed its end.
static void make_child(ucontext_t* context) {
  if (pipe(gate) != 0) _exit(10);
  child = fork();
  if (child < 0) _exit(11);
  if (child == 0) {
    char nothing;
    in_child = 1;
    context->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
    close(gate[1]);
    while (read(gate[0], &nothing, 1) > 0) continue;
  } else {
    close(gate[0]);
    children++;
  }
}

// Where our own slow paths hold signals back, no handler but this one would come.
static void one_step(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  ucontext_t* const interrupted = context;
  const int quiet = sigismember(&interrupted->uc_sigmask, SIGALRM);
  const long now = step++;
  if (quiet != was_quiet && edge_count < 64) edges[edge_count++] = now;
  was_quiet = quiet;
  if (now < act_at || act_at < 0 || quiet) return;
  act_at = -1;
  if (forks)
    make_child(interrupted);
  else
    fill_a_segment();
}

static void trap(int on) {
  if (on)
    __asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq" ::: "memory", "cc");
  else
    __asm__ volatile("pushfq\n andq $~0x100, (%%rsp)\n popfq" ::: "memory", "cc");
}

static void subject(const char* name, long round) {
  char buffer[11];
  if (strcmp(name, "pread") == 0) {
    if (pread(data, buffer, sizeof buffer, 0) != sizeof buffer) _exit(12);
  } else if (strcmp(name, "fputc") == 0) {
    if (fputc('x', stream) != 'x') _exit(13);
  } else if (strcmp(name, "exec") == 0) {
    if (execl("/nowhere", "nowhere", NULL) != -1) _exit(14);
  } else if (strcmp(name, "memalign") == 0) {
    free(memalign(64, 64));
  } else {  // a name that is new, and so long that a segment holds few of them
    snprintf(long_name, 20, "%018ld", round);
    long_name[18] = 'x';
    FATHOM_REGION("subject");
    FATHOM_ARG("text", long_name);
  }
}

static void round_of(const char* name, long round, long at) {
  step = 0;
  act_at = at;
  trap(1);
  subject(name, round);
  trap(0);
  if (in_child) {
    for (int i = 0; i < 20; i++) {
      FATHOM_REGION("child");
    }
    _exit(0);
  }
  FATHOM_REGION("round");
  if (!forks) return;
  fill_a_segment();
  if (child == 0) return;
  int status = 0;
  close(gate[1]);
  if (waitpid(child, &status, 0) != child || status != 0) _exit(15);
  child = 0;
}

// Every step of a short call; of a long one, those around its slow paths.
static int wanted(long at, long steps) {
  if (steps <= kAllSteps) return 1;
  for (int i = 0; i < edge_count; i++)
    if (labs(at - edges[i]) <= kAround) return 1;
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  forks = strcmp(argv[1], "fork") == 0;
  memset(long_name, 'x', sizeof long_name - 1);
  data = open("data", O_RDWR | O_CREAT, 0600);
  stream = fopen("stream", "w");
  if (data < 0 || !stream || pwrite(data, "twenty bytes of data", 20, 0) != 20) return 3;
  struct sigaction action = {.sa_sigaction = one_step, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  long rounds = 0, steps = 0;
  for (int i = 0; i < 8; i++) {  // names are made, functions are looked up, segments are changed
    round_of(argv[2], rounds++, -1);
    if (i <= 1 || step > steps) steps = step;  // the first makes more of them
  }
  const int known = edge_count;
  for (long at = 0; at < steps; at++) {
    edge_count = known;
    if (wanted(at, steps)) round_of(argv[2], rounds++, at);
  }
  printf("rounds %ld\nsteps %ld\nfills %ld\nchildren %ld\n", rounds, steps, fills, children);
  return 0;
}
