/* SPDX-License-Identifier: MIT
   Events that a thread can read of itself without a descriptor, by perf's names, and what of the
   kernel's reading each is: those that regions can count. */
#pragma once

#define FATHOM_REGION_EVENTS_VARIABLE "FATHOM_REGION_EVENTS"
#define FATHOM_MOST_REGION_EVENTS 8

/* ROW(name, what) */
#define FATHOM_REGION_EVENTS(ROW)   \
  ROW("task-clock", clock)          \
  ROW("cpu-clock", clock)           \
  ROW("page-faults", faults)        \
  ROW("faults", faults)             \
  ROW("minor-faults", minor_faults) \
  ROW("major-faults", major_faults) \
  ROW("context-switches", switches) \
  ROW("cs", switches)
