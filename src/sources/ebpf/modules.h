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
#define FATHOM_BPF_OBJECTS(name) \
  FATHOM_BPF_OBJECT(name);       \
  FATHOM_BPF_OBJECT(name##_plain)
FATHOM_BPF_OBJECTS(lives);
FATHOM_BPF_OBJECTS(joining);
FATHOM_BPF_OBJECTS(syscall);
FATHOM_BPF_OBJECTS(uring);
FATHOM_BPF_OBJECTS(sched);
FATHOM_BPF_OBJECTS(vfs);
FATHOM_BPF_OBJECTS(vfs_pair);
FATHOM_BPF_OBJECTS(fs);
FATHOM_BPF_OBJECTS(fs_calls);
FATHOM_BPF_OBJECTS(pagecache);
FATHOM_BPF_OBJECTS(block);
FATHOM_BPF_OBJECTS(net);
FATHOM_BPF_OBJECT(user);
FATHOM_BPF_OBJECTS(user_pair);
FATHOM_BPF_OBJECT(kernel_session);
FATHOM_BPF_OBJECTS(kernel_pair);
FATHOM_BPF_OBJECTS(kernel_points);
#undef FATHOM_BPF_OBJECTS
#undef FATHOM_BPF_OBJECT

namespace fathom::sources::ebpf {

enum class Role {
  kNeeded,
  kExtra,    // the layer can do without it
  kInstead,  // of the one before it, where that cannot be loaded or put to its place
};

// How what the user named is reached, in programs or in the kernel: what libbpf 1.1 does not know
// yet of the kernel's interface (uprobe.multi since Linux 6.6, sessions since 6.13, of the kernel's
// own functions since 6.10), or one by one.
enum class Uprobes : std::uint32_t {
  kNone = 0,
  kMulti = 48,
  kSession = 57,
  kPlain = 1,
  kKernelSession = 56,
  kKernelPair = 2,
  kPoints = 3,
};

// What programs are compiled for (flavors.bpf.h). Those that share maps are on one flavor.
enum class Flavor : std::uint8_t { kTyped, kPlain };

// An object of BPF code, as it lies in this program.
struct Programs {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

// A part of the kernel's half that is loaded or left out as a whole.
struct Module {
  std::string_view what;
  std::optional<fathom_bpf_layer> layer;  // none: whom we record, which every layer needs
  Role role;
  Programs typed, plain;        // plain: empty where older kernels have nothing like it
  std::string_view needs = "";  // what FATHOM_KERNEL_WITHOUT calls it
  Uprobes uprobes = Uprobes::kNone;

  // One of several ways to record a layer.
  [[nodiscard]] bool is_a_way() const { return !needs.empty() || role == Role::kInstead; }
  [[nodiscard]] const Programs& code(Flavor flavor) const {
    return flavor == Flavor::kPlain ? plain : typed;
  }
};

#define FATHOM_CODE(name) \
  Programs { fathom_bpf_##name, fathom_bpf_##name##_end }
#define FATHOM_CODES(name) FATHOM_CODE(name), FATHOM_CODE(name##_plain)

// The first one makes the maps that all share.
inline const Module kModules[] = {
    {"processes", std::nullopt, Role::kNeeded, FATHOM_CODES(lives)},
    {"system calls", FATHOM_BPF_SYSCALL, Role::kNeeded, FATHOM_CODES(syscall)},
    {"io_uring", FATHOM_BPF_SYSCALL, Role::kExtra, FATHOM_CODES(uring)},
    {"scheduling", FATHOM_BPF_SCHED, Role::kNeeded, FATHOM_CODES(sched)},
    {"fentry and fexit", FATHOM_BPF_VFS, Role::kNeeded, FATHOM_CODES(vfs), "fentry"},
    {"kprobes", FATHOM_BPF_VFS, Role::kInstead, FATHOM_CODES(vfs_pair), "kprobes"},
    {"reads", FATHOM_BPF_FS, Role::kNeeded, FATHOM_CODES(fs_calls)},
    {"ext4", FATHOM_BPF_FS, Role::kExtra, FATHOM_CODES(fs)},
    {"page cache", FATHOM_BPF_PAGECACHE, Role::kNeeded, FATHOM_CODES(pagecache)},
    {"block devices", FATHOM_BPF_BLOCK, Role::kNeeded, FATHOM_CODES(block)},
    {"sockets", FATHOM_BPF_NET, Role::kNeeded, FATHOM_CODES(net)},
    {"sessions of probes",
     FATHOM_BPF_USER,
     Role::kNeeded,
     FATHOM_CODE(user),
     {},
     "sessions",
     Uprobes::kSession},
    {"many probes at once", FATHOM_BPF_USER, Role::kInstead, FATHOM_CODES(user_pair), "multi",
     Uprobes::kMulti},
    {"probes one by one", FATHOM_BPF_USER, Role::kInstead, FATHOM_CODES(user_pair), "",
     Uprobes::kPlain},
};

// For a daemon alone.
inline const Module kJoining = {"processes that run", std::nullopt, Role::kNeeded,
                                FATHOM_CODES(joining)};

// Layer kernel: each that there is, and of the last two one.
inline const Module kPoints = {"tracepoints by name",       FATHOM_BPF_KERNEL, Role::kExtra,
                               FATHOM_CODES(kernel_points), "points",          Uprobes::kPoints};
inline const Module kKernelFunctions[] = {
    {"sessions of probes",
     FATHOM_BPF_KERNEL,
     Role::kExtra,
     FATHOM_CODE(kernel_session),
     {},
     "sessions",
     Uprobes::kKernelSession},
    {"kprobes", FATHOM_BPF_KERNEL, Role::kInstead, FATHOM_CODES(kernel_pair), "kprobes",
     Uprobes::kKernelPair},
};
#undef FATHOM_CODES
#undef FATHOM_CODE

// A hook that is taken where the kernel has not got the better one.
struct Substitute {
  std::string_view hook, better;
};
inline constexpr Substitute kSubstitutes[] = {
    {"block_rq_insert", "block_io_start"},
    {"io_uring_submit_sqe", "io_uring_submit_req"},
    {"writeback_dirty_page", "writeback_dirty_folio"},
};

// Programs for hooks that have had other arguments: which one is used tells their number.
struct Variant {
  std::string_view program;
  int arguments;
};
inline constexpr Variant kVariants[] = {
    {"operation_began", 1},      {"operation_ends", 3},    {"operation_ends_plain", 5},
    {"operation_ends_plain", 7}, {"cpu_changes_hands", 4}, {"cpu_changed_hands", 3},
    {"request_queued", 1},       {"request_issued", 1},    {"request_queued_there", 2},
    {"request_issued_there", 2},
};

}  // namespace fathom::sources::ebpf
