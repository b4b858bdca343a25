// SPDX-License-Identifier: MIT
// What tools/cross.sh records on the other architecture: one open, three reads, one close of one
// file.
#include <fcntl.h>
#include <unistd.h>

int main(void) {
  char buffer[16];
  const int fd = open("tools/cross_victim.c", O_RDONLY);
  if (fd < 0) return 1;
  for (int i = 0; i < 3; ++i) {
    if (read(fd, buffer, sizeof buffer) != (ssize_t)sizeof buffer) return 2;
  }
  return close(fd) == 0 ? 0 : 3;
}
