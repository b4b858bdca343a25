/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Layer user: functions of programs and libraries, where the kernel has sessions: one program at
 * both ends of a function (session.bpf.h). */
#define FATHOM_FUNCTION_LAYER FATHOM_BPF_USER
#define FATHOM_FUNCTION_PROBE "uprobe"
#include "sources/ebpf/session.bpf.h"
