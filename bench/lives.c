// SPDX-License-Identifier: MIT
// lives fork|exec TURNS: us of wall time for a child that is made and waited for: one that ends at
// once, or one that becomes /bin/true.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int execs = strcmp(argv[1], "exec") == 0;
  const long turns = atol(argv[2]);
  const double begin = now_us();
  for (long i = 0; i < turns; i++) {
    const pid_t child = fork();
    if (child == 0) {
      if (execs) execl("/bin/true", "true", (char*)NULL);
      _exit(execs);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  printf("%.2f\n", (now_us() - begin) / (double)turns);
  return 0;
}
