// SPDX-License-Identifier: MIT
// waits_for WHAT: waits 5 times for 20 ms, for what is named, and tells how long that took in all,
// and for how long of that the kernel says that it could have run (ns). "fight" is another matter:
// two threads want one lock, which each of them holds for 5 ms; in "share" each has a lock of its
// own.
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kTimes = 5, kNap = 20000, kHeld = 5000, kTurns = 30 };  // us

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static volatile int held, taken;

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

static long delayed(void) {
  long ran = 0;
  long ready = 0;
  FILE* file = fopen("/proc/thread-self/schedstat", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &ran, &ready) != 2) ready = 0;
  if (file != NULL) fclose(file);
  return ready;
}

static void* hold(void* unused) {
  for (int i = 1; i <= kTimes; i++) {
    pthread_mutex_lock(&lock);
    held = i;
    usleep(kNap);
    pthread_mutex_unlock(&lock);
    while (taken != i) usleep(500);
  }
  return unused;
}

static void* signals(void* unused) {
  usleep(kNap);
  pthread_mutex_lock(&lock);
  held = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&lock);
  return unused;
}

static void* naps(void* unused) {
  usleep(kNap);
  return unused;
}

static pthread_t start(void* (*work)(void*), void* with) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, with);
  return thread;
}

__attribute__((noinline)) static void take_lock(int turn) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  taken = turn;
}

static void writer_of(int fd) {
  if (fork() != 0) return;
  for (int i = 0; i < kTimes; i++) {
    usleep(kNap);
    (void)!write(fd, "x", 1);
  }
  _exit(0);
}

static void wait_once(const char* what, int fd, int set, int turn) {
  char byte;
  struct epoll_event event;
  if (strcmp(what, "lock") == 0) {
    while (held != turn) usleep(500);
    take_lock(turn);
  } else if (strcmp(what, "condition") == 0) {
    held = 0;
    pthread_detach(start(signals, NULL));
    pthread_mutex_lock(&lock);
    while (!held) pthread_cond_wait(&condition, &lock);
    pthread_mutex_unlock(&lock);
  } else if (strcmp(what, "join") == 0) {
    pthread_join(start(naps, NULL), NULL);
  } else if (strcmp(what, "sleep") == 0) {
    usleep(kNap);
  } else if (strcmp(what, "child") == 0) {
    const pid_t child = fork();
    if (child == 0) _exit(usleep(kNap));
    waitpid(child, NULL, 0);
  } else if (strcmp(what, "poll") == 0) {
    epoll_wait(set, &event, 1, -1);
    (void)!read(fd, &byte, 1);
  } else {
    (void)!read(fd, &byte, 1);
  }
}

__attribute__((noinline)) static void use(pthread_mutex_t* mine) {
  pthread_mutex_lock(mine);
  usleep(kHeld);
  pthread_mutex_unlock(mine);
}

static void* fights(void* mine) {
  for (int i = 0; i < kTurns; i++) use(mine);
  return mine;
}

static int fight(int share) {
  pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
  const pthread_t beside = start(fights, share ? &other : &lock);
  fights(&lock);
  pthread_join(beside, NULL);
  return 0;
}

int main(int argc, char** argv) {
  const char* what = argc == 2 ? argv[1] : "sleep";
  int fds[2];
  if (strcmp(what, "fight") == 0 || strcmp(what, "share") == 0) return fight(*what == 's');
  if (strcmp(what, "socket") == 0) {
    socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
  } else {
    (void)!pipe(fds);
  }
  const int set = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event);
  if (strcmp(what, "lock") == 0) pthread_detach(start(hold, NULL));
  if (strchr("ps", *what) != NULL && strcmp(what, "sleep") != 0) writer_of(fds[1]);
  const long begin = now();
  const long late = delayed();
  for (int i = 1; i <= kTimes; i++) wait_once(what, fds[0], set, i);
  printf("%ld %ld\n", now() - begin, delayed() - late);
  return 0;
}
