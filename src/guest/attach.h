// SPDX-License-Identifier: MIT
// How a process joins a recording and leaves it: the runtime's calls into attaching, and what
// sources in the same library offer to it (drop-ins, arrivals).
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

bool is_trusted_program();              // it has more rights than its caller: it is not recorded
const char* setting(const char* name);  // an environment variable, or nullptr
void switch_on();                       // recording begins
bool attach(unsigned how);
bool attach_to(const char* directory, unsigned how);  // a recording's
void attached_now();  // after an attach that worked: the exit is watched, hooks are bound
bool make_spool_of(const char* directory);
void arrive();  // takes neither memory nor locks
// From sources/in_process.guest.cc: what a source does once, when the process has attached.
extern void (*const kAllArrivals[])();  // nullptr for a source that has none
extern const size_t kAllArrivalsCount;
// The run has ended without this process, and its spool was removed: makes it anew, so that what
// comes now is a recording too. Whether there is a directory then.
bool remake_spool();

// From sources/gpu: in a forked child, which has nothing of what times a device's work.
void forget_device_work();
// From sources/posix: in a forked child, which has no threads that were about to begin.
void forget_starts();

// From sources/ebpf: where FATHOM_OUT names no run, a daemon that listens here is told of us.
void turn_to_daemon();

// Bytes that this process wrote to make the spool, not for the program.
uint64_t published_bytes();

// Drop-ins: files that somebody else's scripts expect, of runs that nobody supervises.
struct DropIn {
  bool (*attach)(unsigned how);  // to a run of its own, where FATHOM_OUT names none
  void (*leave)();  // of a process that ends: tells so; nullptr: it has nothing to tell
};
// From sources/in_process.guest.cc; the first one that attaches has the process. One without
// functions ends the list: a number of them would lie in a page that nothing else needs.
extern const DropIn kAllDropIns[];
void leave_drop_ins();

// From sources/alnair: a drop-in that waits for a program to use the driver joins its run now.
void cuda_is_used();
// From sources/alnair: whether this library was loaded for that drop-in, by its name.
bool is_alnair_library();

}  // namespace fathom::guest
