// SPDX-License-Identifier: MIT
// Facts about the process, and what happens at fork, exec and exit.
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

void write_process(uint64_t parent_key, uint32_t inherited, unsigned how, int parent_pid);
void write_process_facts();
void write_meta(const char* key, const char* value, size_t length);
void watch_exit();

}  // namespace fathom::guest
