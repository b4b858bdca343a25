// SPDX-License-Identifier: MIT
// Tables: which arguments of system calls are descriptors, paths or sizes, what their results mean,
// and the names of what other layers count. By name, as numbers differ between machines: they
// become bits for each number when the programs are loaded, so that the kernel's half needs no
// switch.
#include "sources/ebpf/calls.h"

#include <sys/syscall.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "sources/system_call_names.h"
#include "trace/rows/copies.h"

namespace fathom::sources::ebpf {
namespace {

using Name = SystemCallName;

// Of programs of 32 bits: a table of its own, with other numbers for the same names.
constexpr Name kNarrowNames[] = {
    {FATHOM_BPF_NO_SUCH_CALL, "no_such_call"},
#include <syscall_names_32.inc>
};

struct Kind {
  std::uint32_t bits;
  std::string_view names;  // between spaces
};

constexpr Kind kKinds[] = {
    {FATHOM_CALL_FD,
     " read write close fstat lseek ioctl pread64 pwrite64 readv writev preadv pwritev preadv2 "
     "pwritev2 fsync fdatasync ftruncate getdents getdents64 fchdir fchmod fchown fcntl flock "
     "fallocate fadvise64 sendfile copy_file_range splice tee vmsplice sync_file_range syncfs "
     "readahead dup dup2 dup3 fstatfs fgetxattr fsetxattr flistxattr fremovexattr epoll_ctl "
     "epoll_wait epoll_pwait epoll_pwait2 accept accept4 bind listen connect sendto recvfrom "
     "sendmsg recvmsg sendmmsg recvmmsg shutdown getsockopt setsockopt getsockname getpeername "
     "inotify_rm_watch timerfd_settime timerfd_gettime signalfd4 "
     "io_uring_enter io_uring_register pidfd_send_signal pidfd_getfd fexecve _llseek fstat64 "
     "ftruncate64 fcntl64 fadvise64_64 sendfile64 fstatfs64 fchown32 "},
    {FATHOM_CALL_RETURNS_FD,
     " open openat openat2 creat dup dup2 dup3 accept accept4 socket epoll_create epoll_create1 "
     "memfd_create eventfd eventfd2 timerfd_create signalfd signalfd4 inotify_init inotify_init1 "
     "pidfd_open pidfd_getfd userfaultfd perf_event_open io_uring_setup open_by_handle_at "
     "open_tree fanotify_init "},
    {FATHOM_CALL_RETURNS_BYTES,
     " read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 sendfile "
     "sendfile64 "
     "copy_file_range splice tee vmsplice sendto recvfrom sendmsg recvmsg getdents getdents64 "
     "getrandom process_vm_readv process_vm_writev readlink readlinkat "},
    {FATHOM_CALL_ENDS, " exit exit_group "},
    {FATHOM_CALL_SIZE,
     " read write pread64 pwrite64 sendto recvfrom getdents getdents64 readlink "},
    {FATHOM_CALL_OFFSET, " pread64 pwrite64 "},
    {FATHOM_CALL_SUBMITS, " io_submit "},
    {FATHOM_CALL_FETCHES, " io_getevents io_pgetevents io_pgetevents_time64 "},
    {FATHOM_CALL_TO_FIRST, " sendfile sendfile64 "},
    {FATHOM_CALL_TO_SECOND, " tee "},
    {FATHOM_CALL_TO_THIRD, " copy_file_range splice "},
    {FATHOM_CALL_FIFTH_FD, " mmap mmap2 "},
    {FATHOM_CALL_PATH,
     " open creat stat lstat stat64 lstat64 oldstat oldlstat access truncate truncate64 statfs "
     "statfs64 mkdir rmdir unlink rename link readlink chmod chown lchown chown32 lchown32 mknod "
     "utime utimes setxattr lsetxattr getxattr lgetxattr listxattr llistxattr removexattr "
     "lremovexattr chdir chroot pivot_root execve swapon swapoff umount umount2 uselib acct "},
    {FATHOM_CALL_SECOND_PATH, " symlink mount inotify_add_watch "},
    {FATHOM_CALL_PATH_AT,
     " openat openat2 newfstatat fstatat64 statx faccessat faccessat2 mkdirat unlinkat renameat "
     "renameat2 linkat readlinkat fchmodat fchmodat2 fchownat mknodat utimensat utimensat_time64 "
     "futimesat execveat name_to_handle_at open_tree setxattrat getxattrat listxattrat "
     "removexattrat file_getattr file_setattr "},
    {FATHOM_CALL_SECOND_PATH_AT, " symlinkat "},
    {FATHOM_CALL_MOVES, " chdir chroot pivot_root execve execveat "},
    {FATHOM_CALL_READS, " read pread64 readv preadv preadv2 "},
    {FATHOM_CALL_WRITES, " write pwrite64 writev pwritev pwritev2 "},
    {FATHOM_CALL_SYNCS, " fsync fdatasync "},
};

// As layer posix has them; also of operations of io_uring and io_submit.
struct Category {
  std::string_view category;
  std::string_view names;  // between spaces
};

constexpr Category kCategories[] = {
    {"read",
     " read pread64 readv preadv preadv2 read_fixed pread sendfile sendfile64 copy_file_range "
     "splice tee "},
    {"write", " write pwrite64 writev pwritev pwritev2 write_fixed pwrite vmsplice "},
    {"open", " open openat openat2 creat open_by_handle_at "},
    {"close", " close close_range "},
    {"seek", " lseek _llseek "},
    {"sync", " fsync fdatasync syncfs sync sync_file_range msync fdsync "},
    {"map", " mmap mmap2 munmap mremap mprotect mlock mlock2 munlock mlockall munlockall brk "},
    {"lock", " flock "},
    {"hint", " fadvise64 fadvise64_64 fadvise readahead madvise "},
    {"directory", " getdents getdents64 "},
    {"descriptor", " dup dup2 dup3 fcntl fcntl64 pipe pipe2 "},
    {"process", " fork vfork clone clone3 execve execveat exit exit_group "},
    {"wait",
     " wait4 waitid waitpid poll ppoll ppoll_time64 select _newselect pselect6 pselect6_time64 "
     "epoll_wait epoll_pwait epoll_pwait2 futex futex_time64 nanosleep clock_nanosleep "
     "clock_nanosleep_time64 pause io_getevents io_pgetevents io_pgetevents_time64 "},
    {"network",
     " socket connect accept accept4 bind listen sendto recvfrom sendmsg recvmsg "
     "sendmmsg recvmmsg shutdown send recv send_zc sendmsg_zc "},
    {"metadata",
     " stat fstat lstat stat64 fstat64 lstat64 fstatat64 truncate64 ftruncate64 statfs64 fstatfs64 "
     "chown32 fchown32 lchown32 newfstatat statx statfs fstatfs access faccessat faccessat2 "
     "truncate "
     "ftruncate fallocate getxattr lgetxattr fgetxattr setxattr lsetxattr fsetxattr listxattr "
     "llistxattr flistxattr removexattr fremovexattr mkdir mkdirat rmdir rename renameat renameat2 "
     "link linkat symlink symlinkat unlink unlinkat readlink readlinkat chmod fchmod fchmodat "
     "chown fchown lchown fchownat utime utimes utimensat mknod mknodat "},
};

// As <linux/io_uring.h> numbers them.
constexpr std::string_view kUringNames[] = {"nop",
                                            "readv",
                                            "writev",
                                            "fsync",
                                            "read_fixed",
                                            "write_fixed",
                                            "poll_add",
                                            "poll_remove",
                                            "sync_file_range",
                                            "sendmsg",
                                            "recvmsg",
                                            "timeout",
                                            "timeout_remove",
                                            "accept",
                                            "async_cancel",
                                            "link_timeout",
                                            "connect",
                                            "fallocate",
                                            "openat",
                                            "close",
                                            "files_update",
                                            "statx",
                                            "read",
                                            "write",
                                            "fadvise",
                                            "madvise",
                                            "send",
                                            "recv",
                                            "openat2",
                                            "epoll_ctl",
                                            "splice",
                                            "provide_buffers",
                                            "remove_buffers",
                                            "tee",
                                            "shutdown",
                                            "renameat",
                                            "unlinkat",
                                            "mkdirat",
                                            "symlinkat",
                                            "linkat",
                                            "msg_ring",
                                            "fsetxattr",
                                            "setxattr",
                                            "fgetxattr",
                                            "getxattr",
                                            "socket",
                                            "uring_cmd",
                                            "send_zc",
                                            "sendmsg_zc"};
constexpr std::string_view kUringMovers =
    " readv writev read_fixed write_fixed sendmsg recvmsg read write send recv splice tee send_zc "
    "sendmsg_zc ";

// As <linux/aio_abi.h> numbers them.
constexpr std::string_view kAioNames[] = {"pread", "pwrite", "fsync",  "fdsync", "",
                                          "poll",  "noop",   "preadv", "pwritev"};
constexpr std::string_view kAioMovers = " pread pwrite preadv pwritev ";

// Of the other layers, by their numbers; with a star where bytes are moved. Those called read or
// write are of that category.
constexpr std::string_view kNamesOfLayers[FATHOM_BPF_LAYERS][8] = {
    {},
    {"sleep", "block", "runqueue"},
    {"read*", "write*", "fsync", "open"},
    {"write*", "fsync", "writeback", "unlink", "truncate", "fallocate", "read*", "journal"},
    {"lookup*", "add", "evict", "fault*", "map*", "dirty"},
    {"read*", "write*", "flush", "discard*", "other*"},
    {"send*", "receive*"},
    {},
    {},
};

bool is_narrow(std::uint32_t number) { return (number & FATHOM_BPF_NARROW) != 0; }

std::string_view find_name(std::uint32_t number) {
  const std::span<const Name> names =
      is_narrow(number) ? std::span<const Name>(kNarrowNames) : system_call_names();
  const std::uint32_t own = number & ~std::uint32_t{FATHOM_BPF_NARROW};
  const auto found = std::ranges::find(names, own, &Name::number);
  return found == names.end() ? std::string_view() : found->name;
}

// In a text that begins and ends with a space.
bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != std::string_view::npos;
       at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (at > 0 && words[at - 1] == ' ' && end < words.size() && words[end] == ' ') return true;
  }
  return false;
}

// Operations that programs hand over.
struct Operations {
  std::uint32_t first;
  std::string_view prefix;
  std::span<const std::string_view> names;
  std::string_view movers;
};
constexpr Operations kOperations[] = {
    {FATHOM_BPF_AIO, "aio:", kAioNames, kAioMovers},
    {FATHOM_BPF_URING, "io_uring:", kUringNames, kUringMovers},
};

std::uint32_t number_of(std::uint32_t call) {
  const std::uint32_t number = FATHOM_BPF_NUMBER_OF(call);
  return is_target(call) ? number & ~std::uint32_t{FATHOM_BPF_TARGET} : number;
}

// Nothing for a system call.
const Operations* operations_of(std::uint32_t number) {
  const auto* const found =
      std::ranges::find_if(kOperations, [&](const auto& one) { return number >= one.first; });
  return is_narrow(number) || found == std::end(kOperations) ? nullptr : found;
}

std::string_view operation_name(const Operations& operations, std::uint32_t number) {
  const std::uint32_t opcode = number - operations.first;
  return opcode < operations.names.size() ? operations.names[opcode] : std::string_view();
}

std::string name_of_system_call(std::uint32_t number) {
  if (const Operations* operations = operations_of(number)) {
    const std::string_view name = operation_name(*operations, number);
    return std::string(operations->prefix) +
           (name.empty() ? std::to_string(number - operations->first) : std::string(name));
  }
  if (number == FATHOM_BPF_NO_SUCH_CALL) return "no_such_call";
  const std::string_view name = find_name(number);
  if (!name.empty()) return std::string(name);
  const std::uint32_t own = number & ~std::uint32_t{FATHOM_BPF_NARROW};
  return (is_narrow(number) ? "syscall32_" : "syscall_") + std::to_string(own);
}

std::string_view name_in_layer(std::uint32_t call) {
  const std::uint32_t layer = FATHOM_BPF_LAYER_OF(call);
  const std::uint32_t number = FATHOM_BPF_NUMBER_OF(call);
  if (layer >= FATHOM_BPF_LAYERS || number >= std::size(kNamesOfLayers[layer])) return "";
  return kNamesOfLayers[layer][number];
}

}  // namespace

std::string name_of_call(std::uint32_t call) {
  if (FATHOM_BPF_LAYER_OF(call) == FATHOM_BPF_SYSCALL) return name_of_system_call(number_of(call));
  std::string_view name = name_in_layer(call);
  if (name.ends_with('*')) name.remove_suffix(1);
  return std::string(name);
}

bool is_target(std::uint32_t call) {
  return FATHOM_BPF_LAYER_OF(call) == FATHOM_BPF_SYSCALL && (call & FATHOM_BPF_TARGET) != 0;
}

bool moves_bytes(std::uint32_t call) {
  const std::uint32_t number = number_of(call);
  if (FATHOM_BPF_LAYER_OF(call) != FATHOM_BPF_SYSCALL) return name_in_layer(call).ends_with('*');
  if (const Operations* operations = operations_of(number))
    return has_word(operations->movers, operation_name(*operations, number));
  return (kind_of_system_call(number) & FATHOM_CALL_RETURNS_BYTES) != 0;
}

std::vector<std::uint32_t> numbers_of_calls(fathom_bpf_layer layer,
                                            const std::function<bool(const std::string&)>& asked) {
  std::vector<std::uint32_t> all;
  if (layer == FATHOM_BPF_SYSCALL) {
    for (const Name& one : system_call_names()) all.push_back(one.number);
    for (const Name& one : std::span(kNarrowNames).subspan(1))
      all.push_back(FATHOM_BPF_NARROW | one.number);
    for (const Operations& operations : kOperations) {
      for (std::uint32_t opcode = 0; opcode < operations.names.size(); ++opcode)
        all.push_back(operations.first + opcode);
    }
  } else {
    for (std::uint32_t number = 0; number < std::size(kNamesOfLayers[layer]); ++number) {
      if (!kNamesOfLayers[layer][number].empty()) all.push_back(number);
    }
  }
  std::erase_if(all, [&](std::uint32_t number) {
    return !asked(name_of_call(FATHOM_BPF_CALL(layer, number)));
  });
  return all;
}

std::string_view category_of_call(std::uint32_t call) {
  const std::uint32_t number = number_of(call);
  if (FATHOM_BPF_LAYER_OF(call) != FATHOM_BPF_SYSCALL) {
    const std::string_view name = name_in_layer(call);
    return name == "read*" ? "read" : name == "write*" ? "write" : "";
  }
  if (is_target(call)) return trace::kWriteCategory;
  const Operations* operations = operations_of(number);
  const std::string_view name =
      operations != nullptr ? operation_name(*operations, number) : find_name(number);
  // The one file of an operation of io_uring that copies is the one that is written to.
  if (operations != nullptr && trace::is_copy(name)) return trace::kWriteCategory;
  const auto* const found = std::ranges::find_if(
      kCategories, [&](const Category& one) { return has_word(one.names, name); });
  return name.empty() || found == std::end(kCategories) ? std::string_view() : found->category;
}

const CallKinds& kinds_of_system_calls() {
  static const CallKinds kKindsOfAll = [] {
    CallKinds kinds{};
    for (std::uint32_t number = 0; number < FATHOM_BPF_CALLS; ++number) {
      kinds[number] = kind_of_system_call(number);
      kinds[FATHOM_BPF_CALLS + number] = kind_of_system_call(FATHOM_BPF_NARROW | number);
    }
    return kinds;
  }();
  return kKindsOfAll;
}

std::uint32_t kind_of_system_call(std::uint32_t number) {
  const std::string_view name = find_name(number);
  if (name.empty()) return 0;
  std::uint32_t bits = 0;
  for (const Kind& kind : kKinds) {
    if (has_word(kind.names, name)) bits |= kind.bits;
  }
  return bits;
}

}  // namespace fathom::sources::ebpf
