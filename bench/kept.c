// SPDX-License-Identifier: MIT
// kept COUNTER DATA: writes 64 bytes to DATA again and again, and adds 1 to the number at the start
// of the file COUNTER, which is mapped shared, after each: what it says when the program is killed
// is how many calls had returned.
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  static const char bytes[64];
  if (argc != 3) return 2;
  const int counter = open(argv[1], O_RDWR | O_CREAT, 0600);
  const int data = open(argv[2], O_RDWR | O_CREAT, 0600);
  if (counter < 0 || data < 0 || ftruncate(counter, 4096) != 0) return 3;
  volatile uint64_t* done =
      (volatile uint64_t*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, counter, 0);
  if (done == MAP_FAILED) return 3;
  while (pwrite(data, bytes, sizeof bytes, 0) == sizeof bytes) *done = *done + 1;
  return 3;
}
