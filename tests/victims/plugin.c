// SPDX-License-Identifier: MIT
// A library that is loaded and unloaded in a loop, built several times with another WHO.
#include <fathom/fathom.h>
#include <fcntl.h>
#include <unistd.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

// A function of another name at the same place in every build.
__attribute__((noinline)) int PASTE(work_of_, WHO)(int turn) { return turn + 1; }

int plugin_work(int turn) {
  FATHOM_REGION(TEXT(WHO));
  FATHOM_ARG("turn", turn);
  const int fd = open("plugin-" TEXT(WHO), O_RDWR | O_CREAT, 0600);
  if (fd < 0 || write(fd, "plugin", 6) != 6) return 1;
  close(fd);
  return PASTE(work_of_, WHO)(turn) != turn + 1;
}
