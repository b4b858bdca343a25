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

uint64_t own_pid_namespace();  // its inode; 0: /proc does not tell
// Where the pid of this process counts (fathom_space), once the run's header is mapped.
uint32_t own_space();
// The same in a child: its parent has that number here only if both count in one namespace.
uint32_t space_of_child(int parent_pid);

}  // namespace fathom::guest
