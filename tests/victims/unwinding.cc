// SPDX-License-Identifier: MIT
// unwinding NUMBER: threads cancelled in a blocked read have their destructors run, and an
// exception thrown in a callback of libc passes through the call that brought it. Prints how many
// destructors ran and how many exceptions arrived.
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

static int pipes[2];
static std::atomic<int> destroyed, caught;

struct Guard {
  ~Guard() { destroyed++; }
};

static void* blocked(void*) {
  Guard guard;
  char byte;
  if (read(pipes[0], &byte, 1) >= 0) _exit(8);
  return nullptr;
}

static int refuse(const dirent*) { throw 1; }

int main(int argc, char** argv) {
  if (argc != 2 || pipe(pipes) != 0) return 2;
  for (int i = 0; i < std::atoi(argv[1]); i++) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, blocked, nullptr) != 0) return 3;
    usleep(1000);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
    try {
      dirent** entries;
      scandir("/", &entries, refuse, nullptr);
    } catch (int) {
      caught++;
    }
  }
  std::printf("destroyed %d\ncaught %d\n", destroyed.load(), caught.load());
  return 0;
}
