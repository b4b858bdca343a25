/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Which system call it is, and its arguments: programs of 32 bits have other numbers for them, and
 * pass them in other registers. */
#pragma once

#include "sources/ebpf/maps.bpf.h"

struct fathom_arguments {
  __u64 first, second, third, fourth, fifth;
};

static __always_inline bool is_narrow(__u32 number) { return number & FATHOM_BPF_NARROW; }

static __always_inline __u32 number_of_call(struct task_struct* task, long number) {
  if (number < 0 || number >= FATHOM_BPF_NO_SUCH_CALL) return FATHOM_BPF_NO_SUCH_CALL;
  return FATHOM_IS_NARROW(task) ? FATHOM_BPF_NARROW | number : number;
}

static __always_inline __u32 kind_of(__u32 number) {
  const __u32 own = number & ~FATHOM_BPF_NARROW;
  if (own >= FATHOM_BPF_CALLS) return 0;
  const __u32 place = number & FATHOM_BPF_NARROW ? FATHOM_BPF_CALLS + own : own;
  return settings.call_kinds[FATHOM_BELOW(place, 2 * FATHOM_BPF_CALLS)];
}

static __always_inline struct fathom_arguments arguments_of(struct pt_regs* regs, __u32 number) {
  struct fathom_arguments all;
  if (is_narrow(number)) {
    all.first = (__u32)FATHOM_NARROW1(regs);
    all.second = (__u32)FATHOM_NARROW2(regs);
    all.third = (__u32)FATHOM_NARROW3(regs);
    all.fourth = (__u32)FATHOM_NARROW4(regs);
    all.fifth = (__u32)FATHOM_NARROW5(regs);
  } else {
    all.first = FATHOM_ARG1(regs);
    all.second = FATHOM_ARG2(regs);
    all.third = FATHOM_ARG3(regs);
    all.fourth = FATHOM_ARG4(regs);
    all.fifth = FATHOM_ARG5(regs);
  }
  return all;
}

/* The position of a call that has one as its fourth argument: with 32 bits in two of them. */
static __always_inline __u64 position_in(const struct fathom_arguments* all, __u32 number) {
  return is_narrow(number) ? all->fifth << 32 | all->fourth : all->fourth;
}
