/* SPDX-License-Identifier: MIT
 * bottlenecks NAME [mended|make]: a program with one known fault, named by the rule that is to find
 * it, or its twin that does the same work without; `good-…` has no fault. Prints the ns of the
 * work. `bottlenecks make` makes the files. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MUST(what)                                              \
  do {                                                          \
    if (!(what)) {                                              \
      dprintf(2, "%s:%d: not %s\n", __FILE__, __LINE__, #what); \
      exit(99);                                                 \
    }                                                           \
  } while (0)

enum { KIB = 1024, MIB = 1024 * 1024, SMALL = 1200, CALLS = 1200 };
static char bytes[MIB];
static int mended;

static void wait_ms(long ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static int opened(const char* name, int flags) {
  const int fd = open(name, flags, 0644);
  MUST(fd >= 0);
  return fd;
}

static void make(const char* name, off_t size) {
  const int fd = opened(name, O_CREAT | O_WRONLY | O_TRUNC);
  MUST(ftruncate(fd, size) == 0 && close(fd) == 0);
}

static void small_reads(void) {
  const int fd = opened("small", O_RDONLY);
  while (read(fd, bytes, mended ? MIB : 128) > 0) continue;
}

static void small_writes(void) {
  const int fd = opened("out", O_CREAT | O_WRONLY | O_TRUNC);
  for (int i = 0; i < (mended ? 1 : CALLS); i++)
    MUST(write(fd, bytes, mended ? 128 * CALLS : 128) > 0);
}

static void sync_in_a_loop(void) {
  const int fd = opened("journal", O_CREAT | O_WRONLY | O_TRUNC);
  for (int i = 0; i < 200; i++)
    MUST(write(fd, bytes, 100) == 100 && (mended || fdatasync(fd) == 0));
  MUST(fdatasync(fd) == 0);
}

static void open_close_churn(void) {
  for (int i = 0; i < (mended ? 1 : CALLS); i++) MUST(close(opened("small", O_RDONLY)) == 0);
}

static void repeated_stat(void) {
  struct stat facts;
  for (int i = 0; i < (mended ? 1 : CALLS); i++) MUST(stat("small", &facts) == 0);
}

static void failed_opens(void) {
  char name[64];
  for (int i = 0; i < (mended ? 1 : CALLS); i++) {
    snprintf(name, sizeof name, "nowhere/%d/module", i);
    MUST(open(name, O_RDONLY) == -1);
  }
}

/* All pages of a file: in an order that only jumps, or as they lie. */
static void random_reads(void) {
  const int fd = opened("pages", O_RDONLY);
  for (int i = 0; i < CALLS; i++)
    MUST(pread(fd, bytes, 4096, (off_t)4096 * (mended ? i : (i * 7919L) % CALLS)) == 4096);
}

static void* read_block(void* fd) {
  MUST(read(*(int*)fd, bytes, MIB) == MIB);
  return NULL;
}

/* A block is read, then something is computed of it; the twin reads the next one meanwhile. */
static void io_bound(void) {
  int fd = opened("blocks", O_RDONLY);
  pthread_t reader;
  for (int i = 0; i < 40; i++) {
    if (!mended) read_block(&fd);
    if (mended) MUST(pthread_create(&reader, NULL, read_block, &fd) == 0);
    wait_ms(4);
    if (mended) MUST(pthread_join(reader, NULL) == 0);
  }
}

/* Each record in a file of its own, renamed when it is complete. */
static void metadata_time(void) {
  char part[64], name[64];
  for (int i = 0; i < (mended ? 1 : CALLS / 2); i++) {
    snprintf(part, sizeof part, "new/%d.part", i);
    snprintf(name, sizeof name, "new/%d", i);
    const int fd = opened(part, O_CREAT | O_WRONLY | O_TRUNC);
    MUST(write(fd, bytes, mended ? 100 * CALLS / 2 : 100) > 0 && close(fd) == 0 &&
         rename(part, name) == 0);
  }
}

static void flush_each_line(void) {
  FILE* log = fopen("log", "w");
  MUST(log);
  for (int i = 0; i < CALLS; i++) {
    fprintf(log, "line %d\n", i);
    if (!mended) MUST(fflush(log) == 0);
  }
  MUST(fclose(log) == 0);
}

static void many_small_files(void) {
  char name[64];
  for (int i = 0; i < (mended ? 1 : SMALL); i++) {
    snprintf(name, sizeof name, "parts/%d", mended ? SMALL : i);
    const int fd = opened(name, O_RDONLY);
    MUST(read(fd, bytes, MIB) > 0 && close(fd) == 0);
  }
}

static void read_again(void) {
  const int fd = opened("blocks", O_RDONLY);
  for (int i = 0; i < (mended ? 1 : 40); i++)
    MUST(lseek(fd, 0, SEEK_SET) == 0 && read(fd, bytes, MIB) == MIB);
}

/* Two processes that could work at once, but for a lock that both hold while they do. */
static void lock_waits(void) {
  const pid_t child = fork();
  const int fd = opened("small", O_RDONLY);
  for (int i = 0; i < 100; i++) {
    if (!mended) MUST(flock(fd, LOCK_EX) == 0);
    wait_ms(2);
    if (!mended) MUST(flock(fd, LOCK_UN) == 0);
    if (!mended) wait_ms(0);
  }
  if (child == 0) _exit(0);
  MUST(waitpid(child, NULL, 0) == child);
}

/* Four ranks with a file each, of which the last has three times as much to read. */
static void slow_rank(void) {
  char rank[8];
  for (int i = 0; i < 4; i++) {
    if (fork() != 0) continue;
    snprintf(rank, sizeof rank, "%d", i);
    setenv("OMPI_COMM_WORLD_RANK", rank, 1);
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    execl("/proc/self/exe", "bottlenecks", "rank", i == 3 && !mended ? "150" : "50", (char*)NULL);
    _exit(98);
  }
  int status = 0;
  while (wait(&status) > 0) MUST(status == 0);
}

static void one_rank(int blocks) {
  char name[64];
  snprintf(name, sizeof name, "rank%s", getenv("OMPI_COMM_WORLD_RANK"));
  const int fd = opened(name, O_RDONLY);
  for (int i = 0; i < blocks; i++) MUST(read(fd, bytes, 256 * KIB) > 0);
}

static void compute(long ms) {
  struct timespec now;
  do MUST(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
  while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
}

static void good_compute(void) { compute(150); }

static void good_reads(void) {
  const int fd = opened("blocks", O_RDONLY);
  for (int i = 1; i <= 4; i++) {
    MUST(read(fd, bytes, MIB) == MIB);
    compute(i * 50);
  }
}

static void* doze(void* unused) {
  wait_ms(200);
  return unused;
}

static void good_pool(void) {
  pthread_t threads[16];
  for (int i = 0; i < 16; i++) MUST(pthread_create(&threads[i], NULL, doze, NULL) == 0);
  good_reads();
  for (int i = 0; i < 16; i++) MUST(pthread_join(threads[i], NULL) == 0);
}

static void good_waits(void) {
  MUST(mkfifo("words", 0644) == 0);
  const pid_t child = fork();
  const int fd = opened("words", child ? O_RDONLY : O_WRONLY);
  for (int i = 0; child == 0 && i < 5; i++) {
    wait_ms(40);
    MUST(write(fd, bytes, 100) == 100);
  }
  if (child == 0) _exit(0);
  while (read(fd, bytes, 100) > 0) continue;
  MUST(waitpid(child, NULL, 0) == child);
}

static void make_files(void) {
  char name[64];
  make("small", 128 * CALLS), make("pages", 5 * MIB), make("blocks", 40 * MIB);
  for (int i = 0; i < 4; i++) {
    snprintf(name, sizeof name, "rank%d", i);
    make(name, 40 * MIB);
  }
  MUST(mkdir("parts", 0755) == 0 && mkdir("new", 0755) == 0);
  for (int i = 0; i <= SMALL; i++) {
    snprintf(name, sizeof name, "parts/%d", i);
    make(name, i < SMALL ? 100 : 100 * SMALL);
  }
}

static const struct {
  const char* name;
  void (*work)(void);
} kPrograms[] = {{"small-reads", small_reads},
                 {"small-writes", small_writes},
                 {"sync-in-a-loop", sync_in_a_loop},
                 {"open-close-churn", open_close_churn},
                 {"repeated-stat", repeated_stat},
                 {"failed-opens", failed_opens},
                 {"random-reads", random_reads},
                 {"io-bound", io_bound},
                 {"metadata-time", metadata_time},
                 {"flush-each-line", flush_each_line},
                 {"many-small-files", many_small_files},
                 {"read-again", read_again},
                 {"lock-waits", lock_waits},
                 {"slow-rank", slow_rank},
                 {"good-compute", good_compute},
                 {"good-reads", good_reads},
                 {"good-pool", good_pool},
                 {"good-waits", good_waits},
                 {"make", make_files}};

int main(int argc, char** argv) {
  MUST(argc >= 2);
  mended = argc > 2 && strcmp(argv[2], "mended") == 0;
  if (strcmp(argv[1], "rank") == 0) return one_rank(atoi(argv[2])), 0;
  for (size_t i = 0; i < sizeof kPrograms / sizeof *kPrograms; i++) {
    if (strcmp(argv[1], kPrograms[i].name) != 0) continue;
    struct timespec begin, end;
    MUST(clock_gettime(CLOCK_MONOTONIC, &begin) == 0);
    kPrograms[i].work();
    MUST(clock_gettime(CLOCK_MONOTONIC, &end) == 0);
    printf("%ld\n", (end.tv_sec - begin.tv_sec) * 1000000000L + end.tv_nsec - begin.tv_nsec);
    return 0;
  }
  return 97;
}
