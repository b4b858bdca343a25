// SPDX-License-Identifier: MIT
// becomes_another PROGRAM [ARGUMENT...]: does nothing else.
#include <unistd.h>

int main(int count, char** words) {
  if (count > 1) execv(words[1], words + 1);
  return 127;
}
