/* SPDX-License-Identifier: MIT
 * The kernel's half, as the compiler for BPF left it. */
    .macro embed_one name
    .balign 16
    .global fathom_bpf_\name, fathom_bpf_\name\()_end
fathom_bpf_\name:
    .incbin "\name\().bpf.o"
fathom_bpf_\name\()_end:
    .endm
    .macro embed name
    embed_one \name
    embed_one \name\()_plain
    .endm

    .section .rodata
    embed lives
    embed joining
    embed syscall
    embed uring
    embed sched
    embed vfs
    embed fs
    embed fs_calls
    embed pagecache
    embed block
    embed net
    embed_one user
    embed_one kernel_session
    embed kernel_pair
    embed kernel_points
    embed user_pair
    embed vfs_pair
    .section .note.GNU-stack, "", %progbits
