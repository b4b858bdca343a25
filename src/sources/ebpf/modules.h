// SPDX-License-Identifier: MIT
// The objects of BPF code that are embedded (object.S), and what each is for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sources/ebpf/shared.h"

#define FATHOM_BPF_OBJECT(name)                   \
  extern "C" const std::byte fathom_bpf_##name[]; \
  extern "C" const std::byte fathom_bpf_##name##_end[]
FATHOM_BPF_OBJECT(lives);
FATHOM_BPF_OBJECT(joining);
FATHOM_BPF_OBJECT(syscall);
FATHOM_BPF_OBJECT(uring);
FATHOM_BPF_OBJECT(sched);
FATHOM_BPF_OBJECT(vfs);
FATHOM_BPF_OBJECT(fs);
FATHOM_BPF_OBJECT(pagecache);
FATHOM_BPF_OBJECT(block);
FATHOM_BPF_OBJECT(net);
FATHOM_BPF_OBJECT(user);
FATHOM_BPF_OBJECT(user_pair);
FATHOM_BPF_OBJECT(vfs_pair);
#undef FATHOM_BPF_OBJECT

namespace fathom::sources::ebpf {

enum class Role {
  kNeeded,
  kExtra,    // the layer can do without it
  kInstead,  // of the one before it, where that cannot be loaded or put to its place
};

// How functions of programs are reached: what libbpf 1.1 does not know yet of the kernel's
// interface (uprobe.multi since Linux 6.6, sessions since 6.13), or one by one.
enum class Uprobes : std::uint32_t { kNone = 0, kMulti = 48, kSession = 57, kPlain = 1 };

struct Module {
  std::string_view what;
  std::optional<fathom_bpf_layer> layer;  // none: whom we record, which every layer needs
  Role role;
  const std::byte* begin;
  const std::byte* end;
  Uprobes uprobes = Uprobes::kNone;

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

// The first one makes the maps that all share.
inline const Module kModules[] = {
    {"processes", std::nullopt, Role::kNeeded, fathom_bpf_lives, fathom_bpf_lives_end},
    {"system calls", FATHOM_BPF_SYSCALL, Role::kNeeded, fathom_bpf_syscall, fathom_bpf_syscall_end},
    {"io_uring", FATHOM_BPF_SYSCALL, Role::kExtra, fathom_bpf_uring, fathom_bpf_uring_end},
    {"scheduling", FATHOM_BPF_SCHED, Role::kNeeded, fathom_bpf_sched, fathom_bpf_sched_end},
    {"functions of the VFS", FATHOM_BPF_VFS, Role::kNeeded, fathom_bpf_vfs, fathom_bpf_vfs_end},
    {"functions of the VFS, by kprobes", FATHOM_BPF_VFS, Role::kInstead, fathom_bpf_vfs_pair,
     fathom_bpf_vfs_pair_end},
    {"ext4", FATHOM_BPF_FS, Role::kNeeded, fathom_bpf_fs, fathom_bpf_fs_end},
    {"page cache", FATHOM_BPF_PAGECACHE, Role::kNeeded, fathom_bpf_pagecache,
     fathom_bpf_pagecache_end},
    {"block devices", FATHOM_BPF_BLOCK, Role::kNeeded, fathom_bpf_block, fathom_bpf_block_end},
    {"sockets", FATHOM_BPF_NET, Role::kNeeded, fathom_bpf_net, fathom_bpf_net_end},
    {"functions, by sessions", FATHOM_BPF_USER, Role::kNeeded, fathom_bpf_user, fathom_bpf_user_end,
     Uprobes::kSession},
    {"functions, many at once", FATHOM_BPF_USER, Role::kInstead, fathom_bpf_user_pair,
     fathom_bpf_user_pair_end, Uprobes::kMulti},
    {"functions, one by one", FATHOM_BPF_USER, Role::kInstead, fathom_bpf_user_pair,
     fathom_bpf_user_pair_end, Uprobes::kPlain},
};

// For a daemon alone.
inline const Module kJoining = {"processes that run", std::nullopt, Role::kNeeded,
                                fathom_bpf_joining, fathom_bpf_joining_end};

// A hook that is taken where the kernel has not got the better one.
struct Substitute {
  std::string_view hook, better;
};
inline constexpr Substitute kSubstitutes[] = {
    {"block_rq_insert", "block_io_start"},
    {"block_rq_issue", "block_io_start"},
    {"io_uring_submit_sqe", "io_uring_submit_req"},
};

// Programs for hooks that have had other arguments: which one is used tells their number.
struct Variant {
  std::string_view program;
  int arguments;
};
inline constexpr Variant kVariants[] = {
    {"operation_ends", 3},
    {"operation_ends_plain", 7},
};

}  // namespace fathom::sources::ebpf
