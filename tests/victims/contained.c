// SPDX-License-Identifier: MIT
// contained: an application for a container; the first word says what it does.
//   eats MIB           takes so much memory, says so before
//   crowds N           starts children until there are N processes or no more are allowed, says how
//   many reads CHILDREN N   each of these and the program itself read 100 bytes N times uses a
//   known amount of CPU, memory and processes, then what its control group counted, by its own
//   files
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kMiB = 1 << 20, kUsedMiB = 64, kUsedChildren = 7, kUsedCpuMs = 700, kHeldMs = 500 };

static void rest(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static char* taken(size_t size) {
  char* const memory = malloc(size);
  for (size_t i = 0; i < size; i += 4096) memory[i] = 1;
  return memory;
}

static int started(int most) {
  int number = 0;
  while (number < most) {
    const pid_t child = fork();
    if (child < 0) break;
    if (child == 0) {
      rest(kHeldMs);
      _exit(0);
    }
    number++;
  }
  return number;
}

static void reads(int times) {
  char bytes[100];
  const int file = open("/proc/self/exe", O_RDONLY);
  for (int i = 0; i < times; i++)
    if (pread(file, bytes, sizeof bytes, 0) != sizeof bytes) _exit(1);
  close(file);
}

static void work(void) {
  struct timespec now = {0, 0};
  while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < kUsedCpuMs)
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
}

// A number behind a word in a file of the group; the first one where the word is "". -1: there is
// none.
static long long number_of(const char* path, const char* word) {
  char line[200];
  long long found = -1;
  FILE* const file = fopen(path, "r");
  while (file != NULL && found < 0 && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, word, strlen(word)) == 0) found = atoll(line + strlen(word));
  if (file != NULL) fclose(file);
  return found;
}

static long long either(const char* of_two, const char* word, const char* of_one,
                        const char* same) {
  const long long found = number_of(of_two, word);
  return found >= 0 ? found : number_of(of_one, same);
}

static void tell_accounts(void) {
  long long cpu = number_of("/sys/fs/cgroup/cpu.stat", "usage_usec ") * 1000;
  if (cpu < 0) cpu = number_of("/sys/fs/cgroup/cpuacct/cpuacct.usage", "");
  const long long peak = either("/sys/fs/cgroup/memory.peak", "",
                                "/sys/fs/cgroup/memory/memory.max_usage_in_bytes", "");
  const long long throttled = either("/sys/fs/cgroup/cpu.stat", "nr_throttled ",
                                     "/sys/fs/cgroup/cpu/cpu.stat", "nr_throttled ");
  printf("cpu %lld\nmemory %lld\nthrottled %lld\n", cpu, peak, throttled);
}

static void uses(void) {
  char* const held = taken((size_t)kUsedMiB * kMiB);
  const int children = started(kUsedChildren);
  work();
  rest(kHeldMs);
  while (wait(NULL) > 0) continue;
  tell_accounts();
  printf("processes %d\nheld %d\n", children + 1, held[0] * kUsedMiB * kMiB);
}

static int reads_in_family(int children, int times) {
  for (int i = 0; i < children; i++)
    if (fork() == 0) {
      reads(times);
      _exit(0);
    }
  reads(times);
  int status = 0;
  while (wait(&status) > 0)
    if (status != 0) return 1;
  return 0;
}

int main(int count, char** words) {
  const char* const what = count > 1 ? words[1] : "";
  if (strcmp(what, "eats") == 0 && count == 3) {
    puts("hungry");
    fflush(stdout);
    return taken((size_t)atoi(words[2]) * kMiB)[0] - 1;
  }
  if (strcmp(what, "crowds") == 0 && count == 3) {
    printf("%d processes\n", 1 + started(atoi(words[2]) - 1));
    while (wait(NULL) > 0) continue;
    return 0;
  }
  if (strcmp(what, "reads") == 0 && count == 4)
    return reads_in_family(atoi(words[2]), atoi(words[3]));
  if (strcmp(what, "uses") != 0) return 2;
  uses();
  return 0;
}
