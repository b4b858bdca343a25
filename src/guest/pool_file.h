// SPDX-License-Identifier: MIT
// The files that pools lie in: making one, and joining one that another process of the run made.
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

bool allowed_size(size_t bytes);  // of a file, by RLIMIT_FSIZE
bool limit_refused_pool();        // the last pool was not made for that reason
uint64_t address_limit();         // RLIMIT_AS; UINT64_MAX: none
void nap(long microseconds);

// Makes a pool and tells the run of it. nullptr: no room, no permission.
fathom_pool_header* make_pool_file(uint32_t segments, uint32_t* number);
// Maps the pool of that number. nullptr where it is gone or closed, or its records would be of
// another library's schema.
fathom_pool_header* join_pool_file(uint32_t number);
// Lets go of a file that the host has removed; its place in memory stays, empty.
void unmap_pool(fathom_pool_header* pool);

// One process of the run makes a pool at a time, so that the others can join it. A lock on the
// run's file, which the kernel takes back from a process that dies.
class PoolMakerLock {
 public:
  PoolMakerLock() = default;
  ~PoolMakerLock();
  PoolMakerLock(const PoolMakerLock&) = delete;
  PoolMakerLock& operator=(const PoolMakerLock&) = delete;

  // Takes it without waiting. True if it is ours, or the file system knows no locks.
  bool attempt();

 private:
  int fd_ = -1;
};

}  // namespace fathom::guest
