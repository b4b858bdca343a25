/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer kernel where it has no sessions for its functions: a kprobe and a kretprobe at each. */
#define FATHOM_FUNCTION_LAYER FATHOM_BPF_KERNEL
#define FATHOM_FUNCTION_PROBE "kprobe"
#define FATHOM_FUNCTION_RETURN "kretprobe"
#include "sources/ebpf/pair.bpf.h"
