// SPDX-License-Identifier: MIT
// Facts about the process, and what happens at fork, exec and exit.
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

uint8_t* put_process(uint8_t* at, uint64_t parent_key, int pid, int ppid, uint32_t inherited,
                     uint64_t start, unsigned how);
void write_process(uint64_t parent_key, uint32_t inherited, unsigned how, int parent_pid);
void write_process_facts();
void write_meta(const char* key, const char* value, size_t length);
void watch_exit();
// As the loader hands them to constructors. The kernel is asked where nobody has told.
void note_arguments(int count, char* const* values);

// In another pid namespace than the run's: which one it is, and the number there.
FATHOM_COLD void write_namespace();

}  // namespace fathom::guest
