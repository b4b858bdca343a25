// SPDX-License-Identifier: MIT
// Annotated for DFTracer: three functions with two regions each.
#include <dftracer/dftracer.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

static void work(int index) {
  DFTRACER_CPP_FUNCTION();
  DFTRACER_CPP_FUNCTION_UPDATE("index", index);
  DFTRACER_CPP_REGION(inner);
  DFTRACER_CPP_REGION_UPDATE(inner, "text", "a \"quoted\" one");
  DFTRACER_CPP_REGION_START(heap);
  DFTRACER_CPP_REGION_DYN_UPDATE(heap, "index", index);
  close(open(std::getenv("FILE"), O_CREAT | O_RDWR, 0644));
  DFTRACER_CPP_REGION_END(heap);
}

int main() {
  DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
  for (int i = 0; i < 3; i++) work(i);
  DFTRACER_CPP_METADATA(meta, "model", "small");
  DFTRACER_CPP_FINI();
  std::puts("done");
}
