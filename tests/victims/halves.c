// SPDX-License-Identifier: MIT
// halves: one number, two files, opened by one layer and closed by the other, and a change of
// directory: whichever of the two layers is recorded, a name that it gives is right. What is read
// tells the file: "a" has lines of 5 bytes, "b" of 7, "sub/c" of 9.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void make(const char* path, const char* line) {
  FILE* file = fopen(path, "w");
  for (int i = 0; i < 10; i++) fputs(line, file);
  fclose(file);
}

static void look(FILE* file) {
  char line[32];
  if (!fgets(line, sizeof line, file)) _exit(3);
}

// Streams over one number; posix reads from it.
static void by_stream(const char* path, long size) {
  char bytes[32];
  FILE* file = fopen(path, "r");
  look(file);
  lseek(fileno(file), 0, SEEK_SET);
  if (read(fileno(file), bytes, (size_t)size) != size) _exit(4);
  fclose(file);
}

// A descriptor that posix opens and closes; the stream over it is left alone.
static void by_descriptor(const char* path) {
  const int fd = open(path, O_RDONLY);
  look(fdopen(fd, "r"));
  close(fd);
}

// The same number, replaced below a stream.
static void by_replacement(FILE* file, const char* path) {
  const int other = open(path, O_RDONLY);
  if (dup2(other, fileno(file)) < 0) _exit(5);
  close(other);
  fseek(file, 0, SEEK_SET);
  look(file);
}

int main(void) {
  mkdir("sub", 0700);
  make("a", "aaaa\n");
  make("b", "bbbbbb\n");
  make("sub/c", "cccccccc\n");
  for (int i = 0; i < 20; i++) {
    by_stream("a", 5);
    by_stream("b", 7);
    by_descriptor("a");
    by_descriptor("b");
    FILE* file = fopen("a", "r");
    look(file);
    by_replacement(file, "b");
    fclose(file);
  }
  if (chdir("sub") != 0) return 6;
  by_stream("c", 9);
  return 0;
}
