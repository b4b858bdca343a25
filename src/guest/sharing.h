// SPDX-License-Identifier: MIT
// Children that share this process's memory: vfork, and clone with CLONE_VM. Each is a process of
// its own, and no thread of ours.
//
// A lodger runs in the place of the thread that made it, which waits (CLONE_VFORK), and on the
// thread-local storage of that: its calls are recorded as those of another process, by the simple
// way of `lodged` (call.h). What the descriptors of the process mean is not touched, for the child
// has descriptors of its own.
//
// A stranger runs beside its parent, or on thread-local storage that is not libc's, where nothing
// of ours is: it passes through every hook, and its calls are counted. While there is one, hooks
// ask the kernel who calls them.
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

using CloneMain = int (*)(void*);
using CloneCall = int (*)(CloneMain, void*, int, void*, void*, void*, void*);

// Around vfork, in the parent; the child says that it is there.
void vfork_begins();
void vfork_child();
void vfork_is_over();
uint64_t vfork_began();  // tick, after it is over

// clone() with CLONE_VM.
int clone_with_memory(CloneCall call, CloneMain function, void* stack, int flags, void* argument,
                      void* a, void* b, void* c);
// A child that shares memory is about to be made where we cannot see it begin or end.
void expect_stranger();
void sharer_ended(int pid);  // a parent has waited for it
void forget_sharers();       // in a forked child

// Who calls a hook that does not record.
enum class Caller { kProgram, kLodger, kStranger };
FATHOM_COLD Caller caller_of(fathom_source source);  // counts the call of a stranger
FATHOM_COLD bool is_stranger();
bool is_lodger();
FATHOM_COLD bool unseen(fathom_source source);  // the same, where lodgers are not recorded: false

// For lodgers.
uint32_t file_of_lodger(int fd);
void lodger_moves();
uint32_t working_directory();

// While one exists, what a lodger writes is told as if the process wrote it whose memory it uses:
// definitions of texts, paths and sites are shared by both, and ids count in that process. Inside a
// Writer; both changes fit into the room that every record leaves.
class AsMemoryOwner {
 public:
  AsMemoryOwner();
  ~AsMemoryOwner();
  AsMemoryOwner(const AsMemoryOwner&) = delete;
  AsMemoryOwner& operator=(const AsMemoryOwner&) = delete;

 private:
  bool on_;
  Identity lodger_;
};

}  // namespace fathom::guest
