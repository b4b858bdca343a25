// SPDX-License-Identifier: MIT
// Functions of C++ that are called as often as the argument says, and static probes that are passed
// as often: once for each, and twice for the second.
#include <cstdio>
#include <cstdlib>

// A static probe of provider "victim", as <sys/sdt.h> makes them where there is one.
#define POINT(name)                                       \
  asm volatile(                                           \
      "990: nop\n"                                        \
      ".pushsection .note.stapsdt, \"\", \"note\"\n"      \
      ".balign 4\n"                                       \
      ".4byte 992f - 991f, 994f - 993f, 3\n"              \
      "991: .asciz \"stapsdt\"\n"                         \
      "992: .balign 4\n"                                  \
      "993: .8byte 990b, _.stapsdt.base, 0\n"             \
      ".asciz \"victim\"\n"                               \
      ".asciz \"" name                                    \
      "\"\n"                                              \
      ".asciz \"\"\n"                                     \
      "994: .balign 4\n"                                  \
      ".popsection\n"                                     \
      ".ifndef _.stapsdt.base\n"                          \
      ".pushsection .stapsdt.base, \"a\", \"progbits\"\n" \
      ".weak _.stapsdt.base\n"                            \
      ".hidden _.stapsdt.base\n"                          \
      "_.stapsdt.base: .space 1\n"                        \
      ".size _.stapsdt.base, 1\n"                         \
      ".popsection\n"                                     \
      ".endif\n")

__attribute__((noipa)) int outer(int number) {
  POINT("step_one");
  POINT("step_two");
  POINT("step_two");
  return number + 1;
}
__attribute__((noipa)) long outer(long number, char more) { return number + more; }

namespace inner {
__attribute__((noipa)) int outer(int number) { return number + 2; }
}  // namespace inner

int main(int, char** words) {
  const int times = std::atoi(words[1]);
  long sum = 0;
  for (int i = 0; i < times; ++i) sum += outer(i) + outer(2L * i, 'x') + inner::outer(i);
  std::printf("%ld\n", sum);
  return 0;
}
