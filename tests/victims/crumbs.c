// SPDX-License-Identifier: MIT
// crumbs: asks for its parent before, between and after DataCrumbs' calls.
#include <datacrumbs/datacrumbs.h>
#include <unistd.h>

static void ask(int times) {
  for (int i = 0; i < times; i++) (void)getppid();
}

int main(void) {
  datacrumbs_stop();
  ask(100);
  datacrumbs_start();
  ask(200);
  datacrumbs_stop();
  ask(100);
  return 0;
}
