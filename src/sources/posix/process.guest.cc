// SPDX-License-Identifier: MIT
// Calls that make no event but change what the runtime knows: closers and replacers of descriptors,
// ends of processes, and the ways to make a child that need care.
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/binding.h"
#include "guest/call.h"
#include "guest/collector.h"
#include "guest/sharing.h"
#include "guest/syscalls.h"
#include "guest/tail_jump.h"
#include "wire/exec.h"

#define FATHOM_EXPORT __attribute__((visibility("default")))

// Sanitizers have a vfork of their own, and ours stands before it. AddressSanitizer's forgets what
// the child left on the stack that it shared, by this function; ThreadSanitizer's, told by the
// other, is a fork.
extern "C" void __asan_handle_vfork(void* stack) __attribute__((weak));
extern "C" void __tsan_init() __attribute__((weak));
extern "C" void fathom_tell_vfork(long child);  // posix.guest.cc

namespace fathom::guest {

void rights_leave(int socket, const void* message);  // rights.guest.cc
// confinement.guest.cc: a raw system call may take rights away from this process.
void before_giving_up_rights(long number, const long* arguments);

namespace process {

// Originals that assembler jumps to, and what it calls before, have C names.
extern "C" {
#define FATHOM_HIDDEN __attribute__((visibility("hidden"), used))

FATHOM_HIDDEN void* fathom_original_syscall = nullptr;
extern __attribute__((visibility("hidden"))) void* fathom_original_dlsym;  // guest/binding.cc
extern __attribute__((visibility("hidden"))) void* fathom_original_dlopen;
extern __attribute__((visibility("hidden"))) void* fathom_original_setuid;  // confinement.guest.cc
extern __attribute__((visibility("hidden"))) void* fathom_original_setreuid;
extern __attribute__((visibility("hidden"))) void* fathom_original_setresuid;

// Whichever of them it was that assembler missed.
FATHOM_HIDDEN void fathom_resolve() {
  resolve(fathom_original_syscall, "syscall");
  resolve(fathom_original_dlsym, "dlsym");
  resolve(fathom_original_dlopen, "dlopen");
  resolve(fathom_original_setuid, "setuid");
  resolve(fathom_original_setreuid, "setreuid");
  resolve(fathom_original_setresuid, "setresuid");
}

// Whether clone, with these flags or those that lie there, makes a process on our memory.
static bool shares_memory(long number, long first) {
  uint64_t flags = static_cast<uint64_t>(first);
  if (number == SYS_clone3 &&
      sys_copy_own(&flags, reinterpret_cast<const void*>(first), sizeof flags) != sizeof flags)
    return false;
  return (flags & (CLONE_VM | CLONE_THREAD)) == CLONE_VM;
}

// Reads and writes that are asked for by other means than calls, told once by each process.
static void tell_of_requests(long number) {
  static constinit int told_by[2] = {};  // pids
  const bool rings = number == SYS_io_uring_enter;
  if (told_by[rings ? 1 : 0] == guest.pid) return;
  told_by[rings ? 1 : 0] = guest.pid;
  tell_unseen(rings ? FATHOM_META_UNSEEN "io_uring" : FATHOM_META_UNSEEN "libaio");
}

// What a raw system call is about to do to descriptors. Makers need no word: an entry that is clear
// is asked for at its first use.
FATHOM_HIDDEN void* fathom_before_syscall(long number, long first, long second, const void*,
                                          const long* saved) {
  if (is_stranger()) return nullptr;
  before_giving_up_rights(number, saved);
  if (!guest.attached || !in_program()) return nullptr;
  if (number == SYS_io_uring_enter || number == SYS_io_submit) tell_of_requests(number);
  if (number == SYS_close) descriptor_closes(static_cast<int>(first));
  if (number == SYS_close_range)
    descriptors_close(static_cast<unsigned>(first), static_cast<unsigned>(second));
#ifdef SYS_dup2
  if (number == SYS_dup2) descriptor_closes(static_cast<int>(second));
  if (number == SYS_fork) prepare_fork();
#endif
  if (number == SYS_dup3) descriptor_closes(static_cast<int>(second));
  if (number == SYS_clone || number == SYS_clone3) {
    prepare_fork();
    if (shares_memory(number, first)) expect_stranger();
  }
  if (number == SYS_sendmsg)
    rights_leave(static_cast<int>(first), reinterpret_cast<const void*>(second));
  return nullptr;
}

FATHOM_HIDDEN void* fathom_original_vfork = nullptr;
// Whom to jump to instead; nullptr: nobody.
FATHOM_HIDDEN void* fathom_before_vfork() {
  if (__tsan_init != nullptr || is_stranger()) {
    resolve(fathom_original_vfork, "vfork");
    if (guest.attached && in_program()) prepare_fork();
    return fathom_original_vfork;
  }
  vfork_begins();
  return nullptr;
}
FATHOM_HIDDEN void fathom_child_of_vfork() { vfork_child(); }
FATHOM_HIDDEN void fathom_after_vfork(void* stack, long child) {
  vfork_is_over();
  fathom_tell_vfork(child);
  if (__asan_handle_vfork != nullptr) __asan_handle_vfork(stack);
}
FATHOM_HIDDEN long fathom_failed_vfork(long error) {
  errno = static_cast<int>(-error);
  return -1;
}
}

// syscall() is jumped to with its arguments as they came: a wrapper's frame would not survive a
// call that returns twice.
FATHOM_TAIL_JUMP("syscall", "fathom_before_syscall", "fathom_original_syscall")

// vfork() returns twice into the caller's frame, so its return address is kept in a register, and
// nothing of ours on the stack; until the parent goes on, its thread passes through every hook (the
// child shares our memory, and is not us).
#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".globl vfork\n.type vfork,@function\nvfork:\n"
    "  subq $8, %rsp\n"
    "  call fathom_before_vfork\n"
    "  addq $8, %rsp\n"
    "  testq %rax, %rax\n"
    "  jnz 4f\n"
    "  popq %rdi\n"
    "  movl $58, %eax\n"
    "  syscall\n"
    "  pushq %rdi\n"
    "  testq %rax, %rax\n"
    "  jnz 2f\n"
    "  subq $8, %rsp\n"
    "  call fathom_child_of_vfork\n"
    "  addq $8, %rsp\n"
    "  xorl %eax, %eax\n"
    "  ret\n"
    "2: pushq %rax\n"
    "  leaq 16(%rsp), %rdi\n"  // the caller's stack
    "  movq %rax, %rsi\n"
    "  call fathom_after_vfork\n"
    "  popq %rax\n"
    "  cmpq $-4095, %rax\n"
    "  jae 3f\n"
    "  ret\n"
    "3: movq %rax, %rdi\n"
    "  jmp fathom_failed_vfork\n"
    "4: jmp *%rax\n"
    ".size vfork, .-vfork\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n"
    ".globl vfork\n.type vfork,%function\nvfork:\n"
    "  stp x29, x30, [sp, #-16]!\n"
    "  bl fathom_before_vfork\n"
    "  ldp x29, x30, [sp], #16\n"
    "  cbnz x0, 4f\n"
    "  mov x0, #0x4111\n"  // CLONE_VM | CLONE_VFORK | SIGCHLD
    "  mov x1, #0\n  mov x2, #0\n  mov x3, #0\n  mov x4, #0\n"
    "  mov x8, #220\n"
    "  svc #0\n"
    "  cbnz x0, 2f\n"
    "  stp x29, x30, [sp, #-16]!\n"
    "  bl fathom_child_of_vfork\n"
    "  ldp x29, x30, [sp], #16\n"
    "  mov x0, #0\n"
    "  ret\n"
    "2: stp x29, x30, [sp, #-32]!\n  str x0, [sp, #16]\n"
    "  mov x1, x0\n"
    "  add x0, sp, #32\n"  // the caller's stack
    "  bl fathom_after_vfork\n"
    "  ldr x0, [sp, #16]\n  ldp x29, x30, [sp], #32\n"
    "  cmn x0, #4095\n"
    "  b.cs 3f\n"
    "  ret\n"
    "3: b fathom_failed_vfork\n"
    "4: br x0\n"
    ".size vfork, .-vfork\n");
#endif

extern "C" {
FATHOM_EXPORT long hook_syscall(long number, ...) __asm__("syscall");
FATHOM_EXPORT int hook_vfork() __asm__("vfork");
FATHOM_EXPORT int hook_clone(int (*function)(void*), void* stack, int flags, void* argument,
                             void* a, void* b, void* c) __asm__("clone");
FATHOM_EXPORT int hook_close_range(unsigned first, unsigned last, int flags) __asm__("close_range");
FATHOM_EXPORT void hook_closefrom(int first) __asm__("closefrom");
FATHOM_EXPORT int hook_daemon(int keep_directory, int keep_streams) __asm__("daemon");
FATHOM_EXPORT void hook__exit(int status) __asm__("_exit");
FATHOM_EXPORT void hook__Exit(int status) __asm__("_Exit");
FATHOM_EXPORT void hook_quick_exit(int status) __asm__("quick_exit");
}

namespace {

int (*original_clone)(int (*)(void*), void*, int, void*, void*, void*, void*) = nullptr;
int (*original_close_range)(unsigned, unsigned, int) = nullptr;
void (*original_closefrom)(int) = nullptr;
int (*original_daemon)(int, int) = nullptr;
void (*original__exit)(int) __attribute__((noreturn)) = nullptr;
void (*original__Exit)(int) __attribute__((noreturn)) = nullptr;
void (*original_quick_exit)(int) __attribute__((noreturn)) = nullptr;

bool here() { return guest.attached && in_program(); }

// The process ends without the handlers of exit(): say so, and leave the segment to others.
void end_process(int status) {
  if (is_lodger()) return write_process_end(status, true);
  if (!recording(FATHOM_SOURCE_RUNTIME)) return;
  write_process_end(status, true);
  leave_run();
  leave_segments();
  tls.outside = 1;
}

}  // namespace

extern "C" {

// A child with memory of its own is found by its first hook.
int hook_clone(int (*function)(void*), void* stack, int flags, void* argument, void* a, void* b,
               void* c) {
  resolve(original_clone, "clone");
  if ((flags & CLONE_VM) != 0)
    return clone_with_memory(original_clone, function, stack, flags, argument, a, b, c);
  if (here()) prepare_fork();
  return original_clone(function, stack, flags, argument, a, b, c);
}

int hook_close_range(unsigned first, unsigned last, int flags) {
  resolve(original_close_range, "close_range");
  const bool closes = here() && (flags & 4 /* CLOSE_RANGE_CLOEXEC */) == 0;
  if (closes) {
    change_begins();
    descriptors_close(first, last);
  }
  const int ret = original_close_range(first, last, flags);
  if (closes) change_ends();
  return ret;
}

void hook_closefrom(int first) {
  resolve(original_closefrom, "closefrom");
  if (here()) descriptors_close(first < 0 ? 0 : static_cast<unsigned>(first), ~0u);
  original_closefrom(first);
}

int hook_daemon(int keep_directory, int keep_streams) {
  resolve(original_daemon, "daemon");
  (void)recording(FATHOM_SOURCE_RUNTIME);  // a child that was made behind our back attaches
  const bool ours = here();
  if (ours) prepare_fork();
  const int ret = original_daemon(keep_directory, keep_streams);
  if (ret == 0 && ours) {
    if (guest.live->alive == 0) attach_child();
    if (keep_streams == 0) descriptors_close(0, 2);
    if (keep_directory == 0) directory_changed();
  }
  return ret;
}

void hook__exit(int status) {
  resolve(original__exit, "_exit");
  end_process(status);
  original__exit(status);
}
void hook__Exit(int status) {
  resolve(original__Exit, "_Exit");
  end_process(status);
  original__Exit(status);
}
// Its handlers still run: only the status is noted.
void hook_quick_exit(int status) {
  resolve(original_quick_exit, "quick_exit");
  if (recording(FATHOM_SOURCE_RUNTIME)) {
    write_process_end(status, true);
    leave_run();
  }
  original_quick_exit(status);
}

}  // extern "C"

namespace {

#define ROW(symbol) FATHOM_BINDING(#symbol, &hook_##symbol, &original_##symbol)
const Binding kRows[] = {
    {"syscall", reinterpret_cast<void*>(&hook_syscall), &fathom_original_syscall},
    {"vfork", reinterpret_cast<void*>(&hook_vfork), &fathom_original_vfork},
    ROW(clone),
    ROW(close_range),
    ROW(closefrom),
    ROW(daemon),
    ROW(_exit),
    ROW(_Exit),
    ROW(quick_exit),
};
#undef ROW

}  // namespace
}  // namespace process

// Before a child is made that may end at once.
void resolve_end() { resolve(process::original__exit, "_exit"); }

extern const Bindings kProcessBindings;
const Bindings kProcessBindings{process::kRows, sizeof process::kRows / sizeof *process::kRows};

}  // namespace fathom::guest
