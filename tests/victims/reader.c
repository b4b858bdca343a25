// SPDX-License-Identifier: MIT
// reader TURNS [PATH]: reads 100 bytes at offset 0, TURNS times, and prints how often; then one
// regular write.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* path = argc > 2 ? argv[2] : "data";
  char buffer[100];
  memset(buffer, 1, sizeof buffer);
  int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || pwrite(fd, buffer, sizeof buffer, 0) != sizeof buffer) return 3;
  for (long i = 0; i < atol(argv[1]); i++)
    if (pread(fd, buffer, sizeof buffer, 0) != sizeof buffer) return 4;
  printf("%s reads\n", argv[1]);
  return 0;
}
