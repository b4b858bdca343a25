/* SPDX-License-Identifier: MIT
 * Functions that do nothing, each beginning with another kind of instruction: what a probe at a
 * function costs depends on it. */
    .macro function name
    .balign 16
    .global fathom_null_\name
    .type fathom_null_\name, %function
fathom_null_\name:
    .endm

    .text
#if defined(__x86_64__)
    function nop5 /* the kernel may put a jump in its place */
    .byte 0x0f, 0x1f, 0x44, 0x00, 0x00
    ret
    function emulated
    push %rbp
    pop %rbp
    ret
    function stepped
    xor %eax, %eax
    ret
#elif defined(__aarch64__)
    function nop5
    nop
    ret
    function emulated
    b 1f
1:  ret
    function stepped
    mov x0, xzr
    ret
#endif
    .section .note.GNU-stack, "", %progbits
