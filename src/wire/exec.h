/* SPDX-License-Identifier: MIT
   What an EXEC record tells of a program that cannot take the library in, and facts (META) about
   variables that meant nothing (docs/formats/spool.md, "Records"). */
#pragma once

#include "wire/record.h"

/* Further flags of EXEC: what stood against the library. */
enum {
  FATHOM_EXEC_STATIC = 2,        /* the program has no loader */
  FATHOM_EXEC_OTHER_MACHINE = 4, /* another architecture, or word size */
  FATHOM_EXEC_OTHER_LIBC = 8,
  FATHOM_EXEC_OTHER_ROOT = 16, /* the library is not there */
  FATHOM_EXEC_UNREADABLE = 32, /* the program's user may not read the library */
  FATHOM_EXEC_SMALL_STACK = 64,
  FATHOM_EXEC_CONFINED = 128,      /* a seccomp filter is there before the new image */
  FATHOM_EXEC_ANOTHER_USER = 256,  /* whose spool it is not */
  FATHOM_EXEC_FEW_ADDRESSES = 512, /* RLIMIT_AS: the library would take what the program needs */
  FATHOM_EXEC_OTHER_RUN = 1024,    /* FATHOM_OUT names another recording */
};

/* A loader that is to preload a library puts a path of 4 KiB on the stack of the main thread, and
   the kernel leaves up to 8 KiB of it unused: with less than this programs die before main(). */
#define FATHOM_LEAST_STACK 65536

/* The library and its first pools take some 4 MiB of address space. Where RLIMIT_AS (ulimit -v)
   leaves less than sixteen times that, the program may need all of it, and runs without us. */
#define FATHOM_LEAST_ADDRESSES (UINT64_C(64) << 20)
#define FATHOM_ADDRESS_SHARE 16

/* File of the spool in which processes say that the library entered them and left them alone: lines
   "pid flags path", with the flags of EXEC. Nobody adds to one that is longer than this. */
#define FATHOM_UNCOVERED_FILE "uncovered"
#define FATHOM_UNCOVERED_MAX (64 << 10)

/* Of runs that nobody supervises: bytes of all pools together. */
#define FATHOM_SPOOL_MAX_VARIABLE "FATHOM_SPOOL_MAX"

/* META `kernel:io`, told at the end: the bytes that the kernel saw a process read and write, of its
   threads and of the children that it waited for (rchar and wchar of /proc/PID/io). */
#define FATHOM_META_KERNEL_IO "kernel:io"
/* META `unseen:<what>`: the process makes requests that pass no hook: io_uring, libaio. The value
   is this where it has the library for them, whose own system calls are not seen either. */
#define FATHOM_META_UNSEEN "unseen:"
#define FATHOM_META_UNSEEN_LOADED "loaded"

/* META `refused:<variable>`: its value, which means nothing. */
#define FATHOM_META_REFUSED "refused:"

/* META of a process in another pid namespace than the run's: its number there, and the inode of the
   namespace. Pids and tids of its records are the recorder's numbers where it could ask for them,
   else those of the namespace; children that it waited for and its parent are of the namespace. */
#define FATHOM_META_NSPID "nspid"
#define FATHOM_META_NAMESPACE "pid_namespace"
