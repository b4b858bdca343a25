// SPDX-License-Identifier: MIT
// The objects of BPF code that are embedded (object.S), and what each is for.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "sources/ebpf/shared.h"

#define FATHOM_BPF_OBJECT(name)                   \
  extern "C" const std::byte fathom_bpf_##name[]; \
  extern "C" const std::byte fathom_bpf_##name##_end[]
FATHOM_BPF_OBJECT(lives);
FATHOM_BPF_OBJECT(syscall);
FATHOM_BPF_OBJECT(uring);
FATHOM_BPF_OBJECT(sched);
FATHOM_BPF_OBJECT(vfs);
FATHOM_BPF_OBJECT(fs);
FATHOM_BPF_OBJECT(pagecache);
FATHOM_BPF_OBJECT(block);
FATHOM_BPF_OBJECT(net);
FATHOM_BPF_OBJECT(user);
#undef FATHOM_BPF_OBJECT

namespace fathom::sources::ebpf {

struct Module {
  std::string_view what;
  std::optional<fathom_bpf_layer> layer;  // none: whom we record, which every layer needs
  bool is_extra;                          // the layer can do without it
  const std::byte* begin;
  const std::byte* end;

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

// The first one makes the maps that all share.
inline const Module kModules[] = {
    {"processes", std::nullopt, false, fathom_bpf_lives, fathom_bpf_lives_end},
    {"system calls", FATHOM_BPF_SYSCALL, false, fathom_bpf_syscall, fathom_bpf_syscall_end},
    {"io_uring", FATHOM_BPF_SYSCALL, true, fathom_bpf_uring, fathom_bpf_uring_end},
    {"scheduling", FATHOM_BPF_SCHED, false, fathom_bpf_sched, fathom_bpf_sched_end},
    {"functions of the VFS", FATHOM_BPF_VFS, false, fathom_bpf_vfs, fathom_bpf_vfs_end},
    {"ext4", FATHOM_BPF_FS, false, fathom_bpf_fs, fathom_bpf_fs_end},
    {"page cache", FATHOM_BPF_PAGECACHE, false, fathom_bpf_pagecache, fathom_bpf_pagecache_end},
    {"block devices", FATHOM_BPF_BLOCK, false, fathom_bpf_block, fathom_bpf_block_end},
    {"sockets", FATHOM_BPF_NET, false, fathom_bpf_net, fathom_bpf_net_end},
    {"functions of programs", FATHOM_BPF_USER, false, fathom_bpf_user, fathom_bpf_user_end},
};

}  // namespace fathom::sources::ebpf
