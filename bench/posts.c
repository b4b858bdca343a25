// SPDX-License-Identifier: MIT
// Many clients of one server (bench/server_load.py): each keeps a connection and posts a small
// batch again and again, with a pause in between. usage: posts PORT TOKEN JOB CLIENTS POSTS
// PAUSE_MS Prints milliseconds from the first byte of a request to the last of its answer: median,
// 99th percentile, longest; then the posts a second, and how many were refused.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER = 4096, EVENTS = 256 };

struct client {
  int fd, posted, waits;  // for an answer
  int64_t sent_ns, next_ns;
  size_t got;
  char answer[ANSWER];
};

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static int connected(int port) {
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, "127.0.0.1", &place.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const int one = 1;
  if (fd < 0 || connect(fd, (struct sockaddr*)&place, sizeof place) != 0) fail("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

static void post(struct client* client, int number, const char* token, const char* job) {
  char body[256], text[1024];
  const int size = snprintf(
      body, sizeof body,
      "{\"client\":\"c%d\",\"seq\":%d,\"rows\":[{\"node\":\"f%d\",\"exec\":\"a\",\"event\":"
      "\"cycles\",\"count\":1}]}",
      number, client->posted + 1, number % 100);
  const int whole =
      snprintf(text, sizeof text,
               "POST /api/v1/jobs/%s/profile HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
               "Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
               job, token, size, body);
  client->sent_ns = now_ns();
  client->waits = 1;
  client->got = 0;
  if (write(client->fd, text, (size_t)whole) != whole) fail("write");
}

// 1 where the answer is complete.
static int read_answer(struct client* client) {
  const ssize_t got = read(client->fd, client->answer + client->got, ANSWER - 1 - client->got);
  if (got <= 0) fail("the server closed a connection");
  client->got += (size_t)got;
  client->answer[client->got] = 0;
  const char* end = strstr(client->answer, "\r\n\r\n");
  const char* length = strcasestr(client->answer, "content-length:");
  return end != NULL && length != NULL &&
         client->got >= (size_t)(end + 4 - client->answer) + strtoul(length + 15, NULL, 10);
}

static int by_size(const void* a, const void* b) {
  const int64_t x = *(const int64_t*)a, y = *(const int64_t*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const int port = atoi(argv[1]), count = atoi(argv[4]), posts = atoi(argv[5]);
  const int64_t pause_ns = atoll(argv[6]) * 1000000;
  struct rlimit files = {65536, 65536};
  setrlimit(RLIMIT_NOFILE, &files);
  struct client* clients = calloc((size_t)count, sizeof *clients);
  int64_t* took = calloc((size_t)count * (size_t)posts, sizeof *took);
  const int poll = epoll_create1(0);
  for (int i = 0; i < count; i++) {
    clients[i].fd = connected(port);
    clients[i].next_ns = now_ns() + pause_ns * i / count;  // not all at the same moment
    struct epoll_event wanted = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, clients[i].fd, &wanted) != 0) fail("epoll_ctl");
  }
  const int64_t began_ns = now_ns();
  size_t done = 0, refused = 0;
  while (done < (size_t)count * (size_t)posts) {
    for (int i = 0; i < count; i++) {
      if (!clients[i].waits && clients[i].posted < posts && clients[i].next_ns <= now_ns())
        post(&clients[i], i, argv[2], argv[3]);
    }
    struct epoll_event ready[EVENTS];
    const int found = epoll_wait(poll, ready, EVENTS, 1);
    for (int i = 0; i < found; i++) {
      struct client* client = &clients[ready[i].data.u32];
      if (!read_answer(client)) continue;
      took[done++] = now_ns() - client->sent_ns;
      refused += strncmp(client->answer, "HTTP/1.1 200", 12) != 0;
      client->waits = 0;
      client->posted++;
      client->next_ns = client->sent_ns + pause_ns;
    }
  }
  const double seconds = (double)(now_ns() - began_ns) / 1e9;
  qsort(took, done, sizeof *took, by_size);
  printf("%.3f %.3f %.3f %.0f %zu\n", (double)took[done / 2] / 1e6,
         (double)took[done * 99 / 100] / 1e6, (double)took[done - 1] / 1e6, (double)done / seconds,
         refused);
  return 0;
}
