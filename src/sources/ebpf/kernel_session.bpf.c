/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer kernel: functions of the kernel that were named, where it has sessions for them (see
 * user.bpf.c). */
#define FATHOM_FUNCTION_LAYER FATHOM_BPF_KERNEL
#define FATHOM_FUNCTION_PROBE "kprobe"
#include "sources/ebpf/session.bpf.h"
