// SPDX-License-Identifier: MIT
// told [all]: counts the signals that it gets, until SIGUSR2; prints "NUMBER count" a line, how
// many of them its parent sent, and the sum of the values that came with them. A file "ready" says
// that it listens, one "told-N" that signal N came at least once. With `all` it listens to all that
// can be caught but for SIGCHLD, faults and those of job control.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t counts[NSIG];
static volatile sig_atomic_t forwarded;
static volatile sig_atomic_t values;

static void note(int number, siginfo_t* info, void* context) {
  char name[] = "told-00";
  (void)context;
  counts[number]++;
  if (info->si_pid == getppid()) forwarded++;
  if (info->si_code == SI_QUEUE) values += info->si_value.sival_int;
  name[5] = (char)('0' + number / 10);
  name[6] = (char)('0' + number % 10);
  close(open(name, O_CREAT | O_WRONLY, 0600));
}

static int is_listened_to(int number, int all) {
  const int few[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM};
  const int never[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
                       SIGABRT, SIGTRAP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT};
  for (int i = 0; !all && i < (int)(sizeof few / sizeof *few); i++)
    if (few[i] == number) return 1;
  for (int i = 0; all && i < (int)(sizeof never / sizeof *never); i++)
    if (never[i] == number) return 0;
  return all && (number < 32 || (number >= SIGRTMIN && number <= SIGRTMAX));
}

int main(int count, char** words) {
  (void)words;
  struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
  sigset_t none;
  sigemptyset(&none);
  for (int i = 1; i < NSIG; i++)
    if (is_listened_to(i, count > 1)) sigaddset(&action.sa_mask, i);
  for (int i = 1; i < NSIG; i++)
    if (is_listened_to(i, count > 1)) sigaction(i, &action, NULL);
  sigprocmask(SIG_BLOCK, &action.sa_mask, NULL);
  close(open("ready", O_CREAT | O_WRONLY, 0600));
  while (counts[SIGUSR2] == 0) sigsuspend(&none);
  for (int i = 1; i < NSIG; i++)
    if (is_listened_to(i, count > 1)) printf("%d %d\n", i, (int)counts[i]);
  printf("forwarded %d\n", (int)forwarded);
  if (count > 1) printf("values %d\n", (int)values);
  return 0;
}
