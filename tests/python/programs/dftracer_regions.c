/* SPDX-License-Identifier: MIT
   Annotated for DFTracer: three functions with a region each; one returns without its END. */
#include <dftracer/dftracer.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(int index) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_INT("index", index);
  DFTRACER_C_REGION_START(inner);
  DFTRACER_C_REGION_UPDATE_STR(inner, "text", "a \"quoted\" one");
  int file = open(getenv("FILE"), O_CREAT | O_RDWR, 0644);
  if (write(file, "12345678", 8) != 8) return 1;
  close(file);
  DFTRACER_C_REGION_END(inner);
  if (index == 1) return 0;
  DFTRACER_C_FUNCTION_END();
  return 0;
}

int main(void) {
  DFTRACER_C_INIT(NULL, NULL, NULL);
  for (int i = 0; i < 3; i++) {
    if (work(i) != 0) return 1;
  }
  DFTRACER_C_METADATA(meta, "model", "small");
  DFTRACER_C_FINI();
  if (wait(NULL) != -1) return 2; /* a child that is not ours */
  puts("done");
  return 0;
}
