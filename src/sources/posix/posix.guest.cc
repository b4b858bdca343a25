// SPDX-License-Identifier: MIT
// Layer posix: the hooks of the table, and those that no row can describe: calls whose meaning
// depends on an argument (fcntl), calls with two descriptors, directories, asynchronous requests,
// and all that make or become a process. Each does by hand what `traced` (guest/call.h) does by the
// table.
#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "guest/binding.h"
#include "guest/call.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "sources/posix/programs.guest.h"

extern "C" char** environ;

namespace fathom::guest {

void resolve_end();  // process.guest.cc

namespace posix {

#define FATHOM_TABLE "sources/posix/posix.calls.h"
#define FATHOM_TABLE_SOURCE POSIX
#define FATHOM_TABLE_HOOKS
#include "guest/call_table.inc"

namespace {

void resolve_for_children() {
  resolve(original_execve, "execve");
  resolve(original_execv, "execv");
  resolve(original_execvp, "execvp");
  resolve(original_execvpe, "execvpe");
  resolve(original_dup2, "dup2");
  resolve(original_close, "close");
  resolve_end();
}

// --- fcntl: some commands make descriptors, one changes what a write means

// Which of the three it is, the command tells; for all others the descriptor means afterwards what
// it did.
template <const Spec& S>
int fcntl_hook(int (*&original)(int, int, long), int fd, int command, long value) {
  resolve(original, S.entry);
  if (!is_recording()) return unrecorded<S>(original, fd, command, value);
  const bool duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  Facts facts;
  facts.fd = fd;
  facts.flags = command;
  const uint64_t word = use_begins(fd);
  if (duplicates) change_begins();
  const int ret = FATHOM_TIMED(facts, S, original(fd, command, value));
  facts.ret = ret;
  facts.file = use_ends(fd, word);
  if (duplicates) {
    if (ret >= 0) descriptor_duplicated(fd, ret);
    change_ends();
  }
  if (command == F_SETFL && ret == 0) descriptor_flags(fd, static_cast<int>(value));
  write_call<S>(facts);
  return ret;
}

// --- calls with two descriptors: the one that is read is the file of the event, the other one its
// target. `from` is where to read, which the call moves on; without it the file's position is
// moved.

template <const Spec& S, class R, class... A>
R copy_hook(R (*&original)(A...), const off_t* from, A... a) {
  if (!begins<S>(original)) return original(a...);
  Facts facts;
  facts.fd = argument<S.fd>(a...);
  facts.size = static_cast<uint64_t>(argument<S.size>(a...));
  const int target = argument<S.fd2>(a...);
  uint64_t word = use_begins(facts.fd);
  PositionUse position;
  if (from == nullptr) word = position_begins(position, facts.fd, word);
  word = channel_word(facts.fd, word);
  const uint64_t word_of_target = channel_word(target, use_begins(target));
  const R ret = FATHOM_TIMED(facts, S, original(a...));
  facts.ret = ret;
  position_lost(target);  // first: both may be the same
  if (ret > 0) channel_moved(target, word_of_target, true);
  if (from == nullptr) {
    facts.offset = position_ends(position, facts.fd, word, facts.error == 0 ? ret : -1, false);
    facts.elsewhere = position.elsewhere;
  } else if (ret > 0 && *from >= ret) {
    // Read after the call: the kernel has moved it on by what it copied.
    facts.offset = *from - ret;
  }
  facts.file = use_ends(facts.fd, word);
  facts.path2 = use_ends(target, word_of_target);
  write_call<S>(facts);
  return ret;
}

// Between memory and a pipe: which way, the end of the pipe tells.
bool writes_to(int fd) {
  const long flags = raw_syscall(SYS_fcntl, fd, F_GETFL);
  return flags < 0 || (flags & O_ACCMODE) != O_RDONLY;
}

template <const Spec& S>
ssize_t memory_hook(int fd, const iovec* pieces, size_t count, unsigned flags) {
  Facts facts;
  facts.fd = fd;
  const uint64_t word = channel_word(fd, use_begins(fd));
  const ssize_t ret = FATHOM_TIMED(facts, S, original_vmsplice(fd, pieces, count, flags));
  facts.ret = ret;
  if (facts.error == 0) facts.size = size_of_pieces(pieces, count);
  if (ret > 0) channel_moved(fd, word, is_text(S.category, "write"));
  facts.file = use_ends(fd, word);
  write_call<S>(facts);
  return ret;
}

// --- directories

// closedir(NULL) is an error, and no crash.
int descriptor_of_directory(DIR* directory) {
  resolve(original_dirfd, "dirfd");
  return directory != nullptr ? original_dirfd(directory) : -1;
}

template <const Spec& S, class R>
R directory_hook(R (*&original)(DIR*), DIR* directory) {
  if (!begins<S>(original)) return original(directory);
  Facts facts;
  facts.fd = descriptor_of_directory(directory);
  const uint64_t word = use_begins(facts.fd);
  const R ret = FATHOM_TIMED(facts, S, original(directory));
  if constexpr (has_ret(S)) facts.ret = static_cast<int64_t>(ret);
  facts.file = use_ends(facts.fd, word);
  write_call<S>(facts);
  return ret;
}

// --- asynchronous requests

template <const Spec& S, class R, class... A>
R request_hook(R (*&original)(A...), const aiocb* request, A... a) {
  if (!begins<S>(original)) return original(a...);
  Facts facts;
  facts.fd = request->aio_fildes;
  if constexpr (S.size >= 0) facts.size = request->aio_nbytes;
  const uint64_t word = use_begins(facts.fd);
  if constexpr (S.offset >= 0) {
    const bool appends = is_text(S.category, "write") && (word & kWordAppend) != 0;
    if (!appends) facts.offset = request->aio_offset;
  }
  const R ret = FATHOM_TIMED(facts, S, original(a...));
  facts.ret = static_cast<int64_t>(ret);
  facts.file = use_ends(facts.fd, word);
  write_call<S>(facts);
  return ret;
}

// The result is of what was asked for, as the C library notes it in the request.
template <const Spec& Waits, const Spec& Reads, const Spec& Writes>
ssize_t result_hook(ssize_t (*&original)(aiocb*), aiocb* request) {
  constexpr int kOperation = 0x7f;  // without the mark of requests with 64 bits
  const int operation = request->aio_lio_opcode & kOperation;
  if (operation == LIO_READ) return request_hook<Reads>(original, request, request);
  if (operation == LIO_WRITE) return request_hook<Writes>(original, request, request);
  return request_hook<Waits>(original, request, request);
}

}  // namespace

extern "C" {

int hook_fcntl(int fd, int command, long value) {
  return fcntl_hook<spec_fcntl>(original_fcntl, fd, command, value);
}
int hook_fcntl64(int fd, int command, long value) {
  return fcntl_hook<spec_fcntl64>(original_fcntl64, fd, command, value);
}

ssize_t hook_sendfile(int to, int from, off_t* offset, size_t size) {
  return copy_hook<spec_sendfile>(original_sendfile, offset, to, from, offset, size);
}
ssize_t hook_sendfile64(int to, int from, off_t* offset, size_t size) {
  return copy_hook<spec_sendfile64>(original_sendfile64, offset, to, from, offset, size);
}
ssize_t hook_copy_file_range(int from, off_t* offset_from, int to, off_t* offset_to, size_t size,
                             unsigned flags) {
  return copy_hook<spec_copy_file_range>(original_copy_file_range, offset_from, from, offset_from,
                                         to, offset_to, size, flags);
}
ssize_t hook_splice(int from, off_t* offset_from, int to, off_t* offset_to, size_t size,
                    unsigned flags) {
  return copy_hook<spec_splice>(original_splice, offset_from, from, offset_from, to, offset_to,
                                size, flags);
}
ssize_t hook_tee(int from, int to, size_t size, unsigned flags) {
  return copy_hook<spec_tee>(original_tee, nullptr, from, to, size, flags);
}

ssize_t hook_vmsplice(int fd, const iovec* pieces, size_t count, unsigned flags) {
  if (!begins<spec_vmsplice>(original_vmsplice)) return original_vmsplice(fd, pieces, count, flags);
  return writes_to(fd) ? memory_hook<spec_vmsplice>(fd, pieces, count, flags)
                       : memory_hook<spec_vmsplice_read>(fd, pieces, count, flags);
}

DIR* hook_opendir(const char* path) {
  if (!begins<spec_opendir>(original_opendir)) return original_opendir(path);
  Facts facts;
  change_begins();
  DIR* const directory = FATHOM_TIMED(facts, spec_opendir, original_opendir(path));
  facts.file = path_of_call(AT_FDCWD, path, facts.error);
  if (directory != nullptr) {
    facts.fd = descriptor_of_directory(directory);
    descriptor_opened(facts.fd, facts.file, 0);
  }
  change_ends();
  write_call<spec_opendir>(facts);
  return directory;
}
DIR* hook_fdopendir(int fd) {
  if (!begins<spec_fdopendir>(original_fdopendir)) return original_fdopendir(fd);
  Facts facts;
  facts.fd = fd;
  const uint64_t word = use_begins(fd);
  DIR* const directory = FATHOM_TIMED(facts, spec_fdopendir, original_fdopendir(fd));
  facts.file = use_ends(fd, word);
  write_call<spec_fdopendir>(facts);
  return directory;
}
struct dirent* hook_readdir(DIR* directory) {
  return directory_hook<spec_readdir>(original_readdir, directory);
}
struct dirent* hook_readdir64(DIR* directory) {
  return directory_hook<spec_readdir64>(original_readdir64, directory);
}
int hook_dirfd(DIR* directory) { return directory_hook<spec_dirfd>(original_dirfd, directory); }
void hook_rewinddir(DIR* directory) {
  if (!begins<spec_rewinddir>(original_rewinddir)) return original_rewinddir(directory);
  Facts facts;
  facts.fd = descriptor_of_directory(directory);
  const uint64_t word = use_begins(facts.fd);
  FATHOM_TIMED(facts, spec_rewinddir, (original_rewinddir(directory), 0));
  facts.file = use_ends(facts.fd, word);
  write_call<spec_rewinddir>(facts);
}
int hook_closedir(DIR* directory) {
  if (!begins<spec_closedir>(original_closedir)) {
    return unrecorded_close(descriptor_of_directory(directory),
                            [&] { return original_closedir(directory); });
  }
  Facts facts;
  facts.fd = descriptor_of_directory(directory);
  facts.file = static_cast<uint32_t>(use_begins(facts.fd));
  change_begins();
  descriptor_closes(facts.fd);
  const int ret = FATHOM_TIMED(facts, spec_closedir, original_closedir(directory));
  change_ends();
  facts.ret = ret;
  write_call<spec_closedir>(facts);
  return ret;
}

int hook_aio_read(aiocb* request) {
  return request_hook<spec_aio_read>(original_aio_read, request, request);
}
int hook_aio_read64(aiocb* request) {
  return request_hook<spec_aio_read64>(original_aio_read64, request, request);
}
int hook_aio_write(aiocb* request) {
  return request_hook<spec_aio_write>(original_aio_write, request, request);
}
int hook_aio_write64(aiocb* request) {
  return request_hook<spec_aio_write64>(original_aio_write64, request, request);
}
int hook_aio_fsync(int operation, aiocb* request) {
  return request_hook<spec_aio_fsync>(original_aio_fsync, request, operation, request);
}
int hook_aio_fsync64(int operation, aiocb* request) {
  return request_hook<spec_aio_fsync64>(original_aio_fsync64, request, operation, request);
}
ssize_t hook_aio_return(aiocb* request) {
  return result_hook<spec_aio_return, spec_aio_return_read, spec_aio_return_write>(
      original_aio_return, request);
}
ssize_t hook_aio_return64(aiocb* request) {
  return result_hook<spec_aio_return64, spec_aio_return_read, spec_aio_return_write>(
      original_aio_return64, request);
}

FATHOM_AT_START int hook_fork() { return fork_hook<spec_fork>(original_fork); }
int hook__Fork() { return fork_hook<spec__Fork>(original__Fork); }

// Its hook is assembler, beside clone's (process.guest.cc).
void fathom_tell_vfork(long child) {
  if (!is_recording()) return;
  Facts facts;
  facts.begin = vfork_began();
  facts.end = tick();
  facts.depth = tls.depth;
  facts.error = child < 0 ? static_cast<int>(-child) : 0;
  facts.ret = child;
  write_call<spec_vfork>(facts);
}

// Those that take the program's own environment get another where they must not hand on ours.
int hook_execve(const char* path, char* const* arguments, char* const* variables) {
  resolve(original_execve, "execve");
  return exec_hook<spec_execve>({AT_FDCWD, path, false}, variables, [&](const NewEnvironment& to) {
    return original_execve(path, arguments, to.variables());
  });
}
int hook_execv(const char* path, char* const* arguments) {
  resolve(original_execv, "execv");
  resolve(original_execve, "execve");
  return exec_hook<spec_execv>({AT_FDCWD, path, false}, environ, [&](const NewEnvironment& to) {
    return to.changed() ? original_execve(path, arguments, to.variables())
                        : original_execv(path, arguments);
  });
}
int hook_execvp(const char* path, char* const* arguments) {
  resolve(original_execvp, "execvp");
  resolve(original_execvpe, "execvpe");
  return exec_hook<spec_execvp>({AT_FDCWD, path, true}, environ, [&](const NewEnvironment& to) {
    return to.changed() ? original_execvpe(path, arguments, to.variables())
                        : original_execvp(path, arguments);
  });
}
int hook_execvpe(const char* path, char* const* arguments, char* const* variables) {
  resolve(original_execvpe, "execvpe");
  return exec_hook<spec_execvpe>({AT_FDCWD, path, true}, variables, [&](const NewEnvironment& to) {
    return original_execvpe(path, arguments, to.variables());
  });
}
int hook_fexecve(int fd, char* const* arguments, char* const* variables) {
  resolve(original_fexecve, "fexecve");
  return exec_hook<spec_fexecve>({fd, nullptr, false}, variables, [&](const NewEnvironment& to) {
    return original_fexecve(fd, arguments, to.variables());
  });
}
int hook_execveat(int directory, const char* path, char* const* arguments, char* const* variables,
                  int flags) {
  resolve(original_execveat, "execveat");
  const bool by_descriptor = (flags & AT_EMPTY_PATH) != 0 && path != nullptr && *path == 0;
  return exec_hook<spec_execveat>(
      {directory, by_descriptor ? nullptr : path, false}, variables, [&](const NewEnvironment& to) {
        return original_execveat(directory, path, arguments, to.variables(), flags);
      });
}

#define FATHOM_LIST_OF_ARGUMENTS(array, first)   \
  va_list counted, taken;                        \
  va_start(counted, first);                      \
  const size_t count = count_arguments(counted); \
  va_end(counted);                               \
  char* array[count + 1];                        \
  va_start(taken, first);                        \
  take_arguments(taken, first, count, array)

int hook_execl(const char* path, const char* first, ...) {
  resolve(original_execve, "execve");
  FATHOM_LIST_OF_ARGUMENTS(arguments, first);
  va_end(taken);
  return exec_hook<spec_execl>({AT_FDCWD, path, false}, environ, [&](const NewEnvironment& to) {
    return original_execve(path, arguments, to.variables());
  });
}
int hook_execlp(const char* path, const char* first, ...) {
  resolve(original_execvpe, "execvpe");
  FATHOM_LIST_OF_ARGUMENTS(arguments, first);
  va_end(taken);
  return exec_hook<spec_execlp>({AT_FDCWD, path, true}, environ, [&](const NewEnvironment& to) {
    return original_execvpe(path, arguments, to.variables());
  });
}
int hook_execle(const char* path, const char* first, ...) {
  resolve(original_execve, "execve");
  FATHOM_LIST_OF_ARGUMENTS(arguments, first);
  char* const* variables = va_arg(taken, char* const*);
  va_end(taken);
  return exec_hook<spec_execle>({AT_FDCWD, path, false}, variables, [&](const NewEnvironment& to) {
    return original_execve(path, arguments, to.variables());
  });
}

int hook_posix_spawn(int* child, const char* path, const void* actions, const void* attributes,
                     char* const* arguments, char* const* environment) {
  return spawn_hook<spec_posix_spawn, false>(original_posix_spawn, child, path, actions, attributes,
                                             arguments, environment);
}
int hook_posix_spawnp(int* child, const char* path, const void* actions, const void* attributes,
                      char* const* arguments, char* const* environment) {
  return spawn_hook<spec_posix_spawnp, true>(original_posix_spawnp, child, path, actions,
                                             attributes, arguments, environment);
}

int hook_wait(int* status) {
  resolve(original_wait, "wait");
  return wait_hook<spec_wait>(status, [](int* to) { return original_wait(to); });
}
int hook_waitpid(int pid, int* status, int options) {
  resolve(original_waitpid, "waitpid");
  return wait_hook<spec_waitpid>(status,
                                 [=](int* to) { return original_waitpid(pid, to, options); });
}
int hook_wait3(int* status, int options, void* usage) {
  resolve(original_wait3, "wait3");
  return wait_hook<spec_wait3>(status, [=](int* to) { return original_wait3(to, options, usage); });
}
int hook_wait4(int pid, int* status, int options, void* usage) {
  resolve(original_wait4, "wait4");
  return wait_hook<spec_wait4>(status,
                               [=](int* to) { return original_wait4(pid, to, options, usage); });
}
int hook_waitid(int type, unsigned id, siginfo_t* info, int options) {
  resolve(original_waitid, "waitid");
  const int ret = wait_hook<spec_waitid>(
      nullptr, [=](int*) { return original_waitid(type, id, info, options); });
  if (ret != 0 || info == nullptr || info->si_pid <= 0 || (options & WNOWAIT) != 0 ||
      !is_recording())
    return ret;
  if (info->si_code == CLD_EXITED) write_waited(info->si_pid, (info->si_status & 0xff) << 8);
  if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED)
    write_waited(info->si_pid, info->si_status & 0x7f);
  return ret;
}

}  // extern "C"

extern const Bindings kBindings;
const Bindings kBindings{bindings, std::extent_v<decltype(bindings)>, nullptr, fill_bindings};

}  // namespace posix
}  // namespace fathom::guest
