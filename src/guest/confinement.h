// SPDX-License-Identifier: MIT
// Programs that give up rights. From the call on by which a program confines itself (seccomp, by
// prctl or by a system call of its own), the kernel may end it for any call that it did not expect:
// the guest makes none then, in no thread and in no forked child. Records go into segments that are
// mapped already; what would have to be asked for is not known, and is counted.
//
// PR_SET_TSC and seccomp's strict mode also take away the CPU's counter, and with it the fine
// clocks of the vDSO.
#pragma once

#include <stdint.h>

#include "guest/runtime.h"

namespace fathom::guest {

// Right before the program's own call: gets what recording needs later, and waits for threads that
// are inside a call of ours. `counter_goes`: the call takes the CPU's counter away, too.
void confine(bool counter_goes);
// Files may be out of reach from now on: gets room for records before, where nobody will give us
// any.
void rights_go(bool recorder_stays);
void unconfine();     // that call has failed
void lose_counter();  // right before the counter goes, and system calls stay
void silence();       // what recording needs is not known: from now on events are lost, and counted

// At attach: whether a filter came upon this process between the start of the run, or of its
// container, and its own start. Nobody knows what that filter forbids, so it is left alone. Asks
// by such calls alone as the loader itself has just made.
bool starts_confined();
// At attach: whether the counter may be read here; then, with the run's header, whether there is a
// clock.
void look_for_counter();
bool choose_clock();

uint64_t converted_tick(uint64_t monotonic_ns);

// Known without a system call, too; 0: not known.
int own_tid();
int pid_of_child();  // in a child that was just forked

void count_unasked();  // a name or a position that was not asked for

}  // namespace fathom::guest
