/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer user where the kernel has no sessions: a probe at the entry and one at the return
 * (pair.bpf.h). */
#define FATHOM_FUNCTION_LAYER FATHOM_BPF_USER
#define FATHOM_FUNCTION_PROBE "uprobe"
#define FATHOM_FUNCTION_RETURN "uretprobe"
#include "sources/ebpf/pair.bpf.h"
