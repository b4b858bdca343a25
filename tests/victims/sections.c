// SPDX-License-Identifier: MIT
// sections NUMBER: annotations of every kind, NUMBER times.
#include <fathom/fathom.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void one(int i) {
  FATHOM_FUNCTION();
  FATHOM_ARG("i", i);
  FATHOM_INSTANT("moment");
  FATHOM_COUNTER("level", i * 0.5);
  FATHOM_REGION_IN("inner", "kind");
  FATHOM_ARG("text", "words");
}

int main(int argc, char** argv) {
  const int number = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < number; i++) one(i);
  char byte;
  const int fd = open("/etc/passwd", O_RDONLY);
  return pread(fd, &byte, 1, 0) != 1;
}
