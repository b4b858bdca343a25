/* SPDX-License-Identifier: MIT
   A program that copies by CUDA's run-time library, 3 times there and 2 times back, and 5 times
   without waiting, one of which fails.

   usage: runtime_program linked|library|looked-up [wait|kill|fork|quick]
   library    by a library of its own, that has a run-time library inside (libcopies.so)
   looked-up  by functions that dlsym gave out
   fork       its child, which begins afresh, does the same after it, while it lives
   wait       says "ready" then, and goes on when its input ends, with 100 copies more */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int cudaMalloc(void**, size_t);
int cudaMemcpy(void*, const void*, size_t, int);
int cudaMemcpyAsync(void*, const void*, size_t, int, void*);

static int (*take)(void**, size_t);
static int (*copy)(void*, const void*, size_t, int);
static int (*copy_async)(void*, const void*, size_t, int, void*);
static char here[65536];
static void* there;

static void bind_functions(const char* style) {
  if (strcmp(style, "linked") == 0) {
    take = cudaMalloc;
    copy = cudaMemcpy;
    copy_async = cudaMemcpyAsync;
    return;
  }
  void* library = dlopen(strcmp(style, "library") == 0 ? "libcopies.so" : "libcudart.so.12",
                         RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) exit(3);
  const char* prefix = strcmp(style, "library") == 0 ? "own_" : "";
  char name[64];
  snprintf(name, sizeof name, "%scudaMalloc", prefix);
  *(void**)&take = dlsym(library, name);
  snprintf(name, sizeof name, "%scudaMemcpy", prefix);
  *(void**)&copy = dlsym(library, name);
  snprintf(name, sizeof name, "%scudaMemcpyAsync", prefix);
  *(void**)&copy_async = dlsym(library, name);
}

static void work(void) {
  if (take(&there, sizeof here) != 0) exit(4);
  for (int i = 0; i < 3; i++)
    if (copy(there, here, 1000, 1) != 0) exit(5);
  for (int i = 0; i < 2; i++)
    if (copy(here, there, 2000, 2) != 0) exit(6);
  for (int i = 0; i < 4; i++)
    if (copy_async(there, here, 3000, 1, NULL) != 0) exit(7);
  printf("refused %d\n", copy_async(there, here, 3000, 9, NULL));
  fflush(stdout);
}

int main(int argc, char** argv) {
  const char* then = argc > 2 ? argv[2] : "";
  if (argc < 2) return 2;
  bind_functions(argv[1]);
  int turn[2];
  if (pipe(turn) != 0) return 8;
  const pid_t child = strcmp(then, "fork") == 0 ? fork() : -1;
  char now;
  if (child == 0 && read(turn[0], &now, 1) != 1) return 9;
  work();
  if (write(turn[1], "", 1) != 1) return 10;
  if (strcmp(then, "kill") == 0) raise(SIGKILL);
  if (strcmp(then, "quick") == 0) _exit(0);
  if (strcmp(then, "wait") == 0) {
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF) continue;
    for (int i = 0; i < 100; i++) copy(there, here, 1000, 1);
  }
  if (child > 0) waitpid(child, NULL, 0);
  return 0;
}
