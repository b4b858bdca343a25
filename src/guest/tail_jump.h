// SPDX-License-Identifier: MIT
// A hook that calls `before` with the first three arguments as they came and the caller's address
// as the fourth, and then jumps to the original with the same registers and stack, so that the
// original sees the program's own return address. A pointer that `before` returns is the answer
// instead, and -1 the answer NULL. The fifth argument of `before` is where all of them lie, for
// saved_argument().
#pragma once

inline long saved_argument(const long* saved, int number) {  // of six, from 0 on
#if defined(__x86_64__)
  return saved[6 - number];
#else
  return saved[2 + number];
#endif
}

#if defined(__x86_64__)
#define FATHOM_TAIL_JUMP(name, before, original)                                                   \
  __asm__(                                                                                         \
      ".text\n.globl " name "\n.type " name ",@function\n" name                                    \
      ":\n"                                                                                        \
      "  pushq %rdi\n  pushq %rsi\n  pushq %rdx\n  pushq %rcx\n  pushq %r8\n  pushq %r9\n  pushq " \
      "%rax\n"                                                                                     \
      "  cmpq $0, " original                                                                       \
      "(%rip)\n"                                                                                   \
      "  jne 1f\n"                                                                                 \
      "  call fathom_resolve\n"                                                                    \
      "  movq 48(%rsp), %rdi\n  movq 40(%rsp), %rsi\n  movq 32(%rsp), %rdx\n"                      \
      "1: movq 56(%rsp), %rcx\n  movq %rsp, %r8\n"                                                 \
      "  call " before                                                                             \
      "\n"                                                                                         \
      "  movq %rax, %r11\n"                                                                        \
      "  popq %rax\n  popq %r9\n  popq %r8\n  popq %rcx\n  popq %rdx\n  popq %rsi\n  popq %rdi\n"  \
      "  testq %r11, %r11\n"                                                                       \
      "  jnz 2f\n"                                                                                 \
      "  jmp *" original                                                                           \
      "(%rip)\n"                                                                                   \
      "2: xorl %eax, %eax\n"                                                                       \
      "  cmpq $-1, %r11\n"                                                                         \
      "  cmovneq %r11, %rax\n"                                                                     \
      "  ret\n"                                                                                    \
      ".size " name ", .-" name "\n");
#elif defined(__aarch64__)
#define FATHOM_TAIL_JUMP(name, before, original)                                                  \
  __asm__(".text\n.globl " name "\n.type " name ",%function\n" name                               \
          ":\n"                                                                                   \
          "  stp x29, x30, [sp, #-80]!\n"                                                         \
          "  stp x0, x1, [sp, #16]\n  stp x2, x3, [sp, #32]\n  stp x4, x5, [sp, #48]\n  str x6, " \
          "[sp, #64]\n"                                                                           \
          "  adrp x9, " original "\n  ldr x9, [x9, :lo12:" original                               \
          "]\n"                                                                                   \
          "  cbnz x9, 1f\n"                                                                       \
          "  bl fathom_resolve\n"                                                                 \
          "  ldp x0, x1, [sp, #16]\n  ldp x2, x3, [sp, #32]\n"                                    \
          "1: ldr x3, [sp, #8]\n  mov x4, sp\n"                                                   \
          "  bl " before                                                                          \
          "\n"                                                                                    \
          "  mov x10, x0\n"                                                                       \
          "  adrp x9, " original "\n  ldr x9, [x9, :lo12:" original                               \
          "]\n"                                                                                   \
          "  ldp x0, x1, [sp, #16]\n  ldp x2, x3, [sp, #32]\n  ldp x4, x5, [sp, #48]\n  ldr x6, " \
          "[sp, #64]\n"                                                                           \
          "  ldp x29, x30, [sp], #80\n"                                                           \
          "  cbnz x10, 2f\n"                                                                      \
          "  br x9\n"                                                                             \
          "2: cmn x10, #1\n"                                                                      \
          "  csel x0, xzr, x10, eq\n"                                                             \
          "  ret\n"                                                                               \
          ".size " name ", .-" name "\n");
#endif
