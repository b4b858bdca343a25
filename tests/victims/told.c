// SPDX-License-Identifier: MIT
// told: counts the signals that it gets, until SIGUSR2; prints "NUMBER count" a line, and how many
// of them its parent sent. A file "ready" says that it listens, one "told-N" that signal N came at
// least once.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t counts[NSIG];
static volatile sig_atomic_t forwarded;

static void note(int number, siginfo_t* info, void* context) {
  char name[] = "told-00";
  (void)context;
  counts[number]++;
  if (info->si_pid == getppid()) forwarded++;
  name[5] = (char)('0' + number / 10);
  name[6] = (char)('0' + number % 10);
  close(open(name, O_CREAT | O_WRONLY, 0600));
}

int main(void) {
  const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM};
  struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
  sigset_t none;
  sigemptyset(&none);
  for (int i = 0; i < 6; i++) sigaddset(&action.sa_mask, numbers[i]);
  for (int i = 0; i < 6; i++) sigaction(numbers[i], &action, NULL);
  sigprocmask(SIG_BLOCK, &action.sa_mask, NULL);
  close(open("ready", O_CREAT | O_WRONLY, 0600));
  while (counts[SIGUSR2] == 0) sigsuspend(&none);
  for (int i = 0; i < 6; i++) printf("%d %d\n", numbers[i], (int)counts[numbers[i]]);
  printf("forwarded %d\n", (int)forwarded);
  return 0;
}
