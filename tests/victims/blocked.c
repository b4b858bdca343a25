// SPDX-License-Identifier: MIT
// Says "ready" by making a file, then waits for ever in a read of an empty pipe.
#include <fcntl.h>
#include <unistd.h>

int main(void) {
  int pipes[2];
  char byte;
  if (pipe(pipes) != 0 || close(creat("ready", 0600)) != 0) return 3;
  return read(pipes[0], &byte, 1) == 1;
}
