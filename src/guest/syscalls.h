// SPDX-License-Identifier: MIT
// System calls of our own, past libc: they never meet a hook (ours or another library's), never
// touch errno, and are safe in signal handlers. Failure is a negative errno, as the kernel gives
// it. A process that has confined itself (confinement.h) makes none: each fails with EPERM.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "guest/runtime.h"

namespace fathom::guest {

// The bare call, for the few places that must not ask, or must not look at `tls`. Never a call of
// its own: a process that clones onto this stack has no frame to return to.
__attribute__((always_inline)) inline long kernel_call(long number, long a = 0, long b = 0,
                                                       long c = 0, long d = 0, long e = 0,
                                                       long f = 0) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
#else
#error "Fathom records on x86_64 and aarch64"
#endif
}

// Whoever confines the process waits for threads that are past the question and not yet back.
inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                        long f = 0) {
  // A child that shares our memory may have no `tls` (sharing.h).
  Thread* const thread = FATHOM_LIKELY(guest.live->alive != kWatched) ? tls.thread : nullptr;
  if (FATHOM_LIKELY(thread != nullptr)) thread->calls = thread->calls + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const long result =
      FATHOM_LIKELY(!is_confined()) ? kernel_call(number, a, b, c, d, e, f) : -EPERM;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (FATHOM_LIKELY(thread != nullptr)) thread->calls = thread->calls - 1;
  return result;
}

inline long as_long(const void* pointer) {
  return static_cast<long>(reinterpret_cast<uintptr_t>(pointer));
}

inline int sys_openat(int directory, const char* path, int flags, int mode) {
  return static_cast<int>(
      raw_syscall(SYS_openat, directory, as_long(path), flags | O_CLOEXEC, mode));
}
inline void sys_close(int fd) { raw_syscall(SYS_close, fd); }
inline long sys_read(int fd, void* to, size_t size) {
  return raw_syscall(SYS_read, fd, as_long(to), static_cast<long>(size));
}
inline long sys_write(int fd, const void* from, size_t size) {
  return raw_syscall(SYS_write, fd, as_long(from), static_cast<long>(size));
}
inline int64_t sys_tell(int fd) { return raw_syscall(SYS_lseek, fd, 0, 1 /* SEEK_CUR */); }
inline int sys_getpid() { return static_cast<int>(raw_syscall(SYS_getpid)); }
inline int sys_getppid() { return static_cast<int>(raw_syscall(SYS_getppid)); }
inline int sys_gettid() { return static_cast<int>(raw_syscall(SYS_gettid)); }
inline long sys_readlink(const char* path, char* to, size_t room) {
  return raw_syscall(SYS_readlinkat, AT_FDCWD, as_long(path), as_long(to), static_cast<long>(room));
}
inline long sys_getcwd(char* to, size_t room) {
  return raw_syscall(SYS_getcwd, as_long(to), static_cast<long>(room));
}

// 4 KiB on most machines, 64 KiB on some: what is mapped, protected or advised begins and ends
// there.
inline size_t page_size() { return getauxval(AT_PAGESZ); }

// nullptr on failure.
inline void* sys_mmap(size_t size, int protection, int flags, int fd) {
  const long at = raw_syscall(SYS_mmap, 0, static_cast<long>(size), protection, flags, fd, 0);
  return at < 0 && at > -4096 ? nullptr : reinterpret_cast<void*>(at);
}
inline void sys_munmap(void* at, size_t size) {
  raw_syscall(SYS_munmap, as_long(at), static_cast<long>(size));
}

// Copies memory of this process that may not be there: bytes copied, or a negative errno.
inline long sys_copy_own(void* to, const void* from, size_t size) {
  struct {
    void* base;
    size_t length;
  } local{to, size}, remote{const_cast<void*>(from), size};
  return raw_syscall(SYS_process_vm_readv, sys_getpid(), as_long(&local), 1, as_long(&remote), 1,
                     0);
}

}  // namespace fathom::guest
