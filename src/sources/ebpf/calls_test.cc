// SPDX-License-Identifier: MIT
#include "sources/ebpf/calls.h"

#include <gtest/gtest.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>

#include <set>

namespace fathom::sources::ebpf {
namespace {

TEST(EbpfCalls, AreCalledAsStracePrintsThem) {
  struct Case {
    std::uint32_t call;
    const char* name;
    bool moves;
  };
  const Case cases[] = {
      {SYS_pread64, "pread64", true},
      {SYS_openat, "openat", false},
      {SYS_newfstatat, "newfstatat", false},
      {SYS_lseek, "lseek", false},
      {SYS_copy_file_range, "copy_file_range", true},
      {500, "syscall_500", false},
      {FATHOM_BPF_NO_SUCH_CALL, "no_such_call", false},
      {FATHOM_BPF_URING + std::uint32_t{IORING_OP_READ}, "io_uring:read", true},
      {FATHOM_BPF_URING + std::uint32_t{IORING_OP_SENDMSG_ZC}, "io_uring:sendmsg_zc", true},
      {FATHOM_BPF_URING + std::uint32_t{IORING_OP_FSYNC}, "io_uring:fsync", false},
      {FATHOM_BPF_URING + 200, "io_uring:200", false},
      {FATHOM_BPF_AIO + std::uint32_t{IOCB_CMD_PREADV}, "aio:preadv", true},
      {FATHOM_BPF_AIO + std::uint32_t{IOCB_CMD_FDSYNC}, "aio:fdsync", false},
      {FATHOM_BPF_AIO + 4, "aio:4", false},
      {FATHOM_BPF_NARROW | 511U, "syscall32_511", false},
      {FATHOM_BPF_CALL(FATHOM_BPF_FS, FATHOM_FS_READ), "read", true},
      {FATHOM_BPF_CALL(FATHOM_BPF_FS, FATHOM_FS_JOURNAL), "journal", false},
      {FATHOM_BPF_CALL(FATHOM_BPF_SCHED, FATHOM_SCHED_RUNQUEUE), "runqueue", false},
      {FATHOM_BPF_CALL(FATHOM_BPF_FS, FATHOM_FS_FALLOCATE), "fallocate", false},
      {FATHOM_BPF_CALL(FATHOM_BPF_PAGECACHE, FATHOM_PAGECACHE_DIRTY), "dirty", false},
      {FATHOM_BPF_CALL(FATHOM_BPF_BLOCK, FATHOM_BLOCK_DISCARD), "discard", true},
      {FATHOM_BPF_CALL(FATHOM_BPF_NET, FATHOM_NET_RECEIVE), "receive", true},
      {FATHOM_BPF_CALL(FATHOM_BPF_VFS, FATHOM_VFS_OPEN), "open", false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(name_of_call(c.call), c.name);
    EXPECT_EQ(moves_bytes(c.call), c.moves) << c.name;
  }
}

TEST(EbpfCalls, Categories) {
  struct Case {
    std::uint32_t call;
    std::string_view category;
  };
  const Case cases[] = {
      {SYS_pread64, "read"},
      {SYS_writev, "write"},
      {SYS_copy_file_range, "read"},
      {SYS_copy_file_range | FATHOM_BPF_TARGET, "write"},
      {FATHOM_BPF_URING + std::uint32_t{IORING_OP_SPLICE}, "write"},  // its file is the target
      {SYS_vmsplice, "write"},
      {SYS_openat, "open"},
      {SYS_newfstatat, "metadata"},
      {SYS_getppid, ""},
      {500, ""},
      {FATHOM_BPF_URING + std::uint32_t{IORING_OP_READ_FIXED}, "read"},
      {FATHOM_BPF_URING + 200, ""},
      {FATHOM_BPF_AIO + std::uint32_t{IOCB_CMD_PWRITE}, "write"},
      {FATHOM_BPF_CALL(FATHOM_BPF_BLOCK, FATHOM_BLOCK_WRITE), "write"},
      {FATHOM_BPF_CALL(FATHOM_BPF_PAGECACHE, FATHOM_PAGECACHE_LOOKUP), ""},
      {FATHOM_BPF_CALL(FATHOM_BPF_VFS, FATHOM_VFS_READ), "read"},
  };
  for (const Case& c : cases) EXPECT_EQ(category_of_call(c.call), c.category) << c.call;
}

TEST(EbpfCalls, WhatArgumentsAre) {
  EXPECT_EQ(kind_of_system_call(SYS_read),
            FATHOM_CALL_FD | FATHOM_CALL_RETURNS_BYTES | FATHOM_CALL_SIZE | FATHOM_CALL_READS);
  EXPECT_EQ(kind_of_system_call(SYS_openat), FATHOM_CALL_RETURNS_FD | FATHOM_CALL_PATH_AT);
  EXPECT_EQ(kind_of_system_call(SYS_symlinkat), FATHOM_CALL_SECOND_PATH_AT);
  EXPECT_EQ(kind_of_system_call(SYS_chdir), FATHOM_CALL_PATH | FATHOM_CALL_MOVES);
  EXPECT_EQ(kind_of_system_call(SYS_mmap), FATHOM_CALL_FIFTH_FD);
  EXPECT_EQ(kind_of_system_call(SYS_exit_group), FATHOM_CALL_ENDS);
  EXPECT_EQ(kind_of_system_call(SYS_io_submit), FATHOM_CALL_SUBMITS);
  EXPECT_EQ(kind_of_system_call(SYS_io_getevents), FATHOM_CALL_FETCHES);
  const std::pair<std::uint32_t, unsigned> copies[] = {
      {SYS_sendfile, FATHOM_CALL_TO_FIRST},
      {SYS_tee, FATHOM_CALL_TO_SECOND},
      {SYS_splice, FATHOM_CALL_TO_THIRD},
      {SYS_copy_file_range, FATHOM_CALL_TO_THIRD},
      {SYS_vmsplice, 0},
  };
  for (const auto& [number, target] : copies)
    EXPECT_EQ(kind_of_system_call(number) & FATHOM_CALL_COPIES, target) << number;
  EXPECT_EQ(kind_of_system_call(SYS_getppid), 0);
  EXPECT_EQ(kind_of_system_call(500), 0);
}

#ifdef __x86_64__
// As <asm/unistd_32.h> numbers them.
TEST(EbpfCalls, ProgramsOf32BitsHaveATableOfTheirOwn) {
  EXPECT_EQ(name_of_call(FATHOM_BPF_NARROW | 20U), "getpid");
  EXPECT_EQ(name_of_call(FATHOM_BPF_NARROW | 199U), "getuid32");
  EXPECT_EQ(name_of_call(FATHOM_BPF_NARROW | 0U), "restart_syscall");
  EXPECT_EQ(category_of_call(FATHOM_BPF_NARROW | 3U), "read");
  EXPECT_EQ(kind_of_system_call(FATHOM_BPF_NARROW | 3U), kind_of_system_call(SYS_read));
  EXPECT_TRUE(moves_bytes(FATHOM_BPF_NARROW | 4U));
  constexpr std::uint32_t kSendfile64 = FATHOM_BPF_NARROW | 239U;
  EXPECT_EQ(category_of_call(kSendfile64 | FATHOM_BPF_TARGET), "write");
  EXPECT_EQ(name_of_call(kSendfile64 | FATHOM_BPF_TARGET), "sendfile64");
  const auto is_getpid = [](const std::string& name) { return name == "getpid"; };
  EXPECT_EQ(numbers_of_calls(FATHOM_BPF_SYSCALL, is_getpid),
            (std::vector<std::uint32_t>{SYS_getpid, FATHOM_BPF_NARROW | 20U}));
}
#endif

// Each call of a filter has a bit of its own.
TEST(EbpfCalls, BitsOfFilters) {
  std::set<std::uint32_t> bits;
  const std::vector<std::uint32_t> all =
      numbers_of_calls(FATHOM_BPF_SYSCALL, [](const std::string&) { return true; });
  for (const std::uint32_t number : all) bits.insert(FATHOM_BPF_BIT_OF(number));
  EXPECT_EQ(bits.size(), all.size());
  EXPECT_LT(*bits.rbegin(), std::uint32_t{FATHOM_BPF_BITS});
}

}  // namespace
}  // namespace fathom::sources::ebpf
