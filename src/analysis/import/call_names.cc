// SPDX-License-Identifier: MIT
// Foreign traces use many spellings of a libc function (open64, __open_2, __isoc99_fscanf). They
// become the names that our own layers use, so that reports and rules apply.
#include "analysis/import/call_names.h"

#include <algorithm>
#include <array>
#include <span>

namespace fathom::analysis {
namespace {

// Plain names of one category, separated by spaces.
struct Group {
  std::string_view category;
  std::string_view names;
};

constexpr Group kPosix[] = {
    {"open", " open openat creat mkstemp mkostemp mkstemps mkostemps "},
    {"close", " close "},
    {"descriptor", " dup dup2 dup3 fcntl pipe pipe2 "},
    {"read", " read pread readv preadv preadv2 aio_read sendfile copy_file_range splice tee "},
    {"write", " write pwrite writev pwritev pwritev2 aio_write vmsplice "},
    {"seek", " lseek "},
    {"sync", " fsync fdatasync syncfs sync_file_range msync aio_fsync "},
    {"hint", " posix_fadvise readahead madvise posix_madvise "},
    {"lock", " flock lockf "},
    {"metadata",
     " truncate ftruncate fallocate posix_fallocate stat lstat fstat fstatat statx statvfs "
     "fstatvfs statfs fstatfs access "
     "faccessat getxattr lgetxattr fgetxattr setxattr fsetxattr listxattr mkdir mkdirat mkdtemp "
     "rmdir rename renameat "
     "renameat2 link linkat symlink symlinkat unlink unlinkat remove readlink readlinkat chmod "
     "fchmod fchmodat chown "
     "lchown fchown fchownat utime utimes lutimes futimes utimensat futimens mkfifo mkfifoat mknod "
     "mknodat umask realpath "
     "canonicalize_file_name chdir fchdir chroot getcwd get_current_dir_name sysconf "},
    {"directory", " opendir fdopendir readdir rewinddir closedir dirfd scandir scandirat "},
    {"map", " mmap munmap mremap mprotect mlock mlock2 munlock mlockall munlockall "},
    {"process",
     " fork _Fork vfork execve execveat execv execvp execvpe execl execlp execle fexecve "
     "posix_spawn posix_spawnp "
     "system "},
    {"wait", " aio_return aio_suspend lio_listio wait waitpid wait3 wait4 waitid "},
};

constexpr Group kStdio[] = {
    {"open", " fopen freopen fdopen tmpfile popen fmemopen open_memstream "},
    {"close", " fclose pclose "},
    {"read",
     " fread fread_unlocked fgets fgets_unlocked fgetc getc getc_unlocked fgetc_unlocked getchar "
     "getchar_unlocked getw "
     "getline getdelim vfscanf vscanf fscanf scanf "},
    {"write",
     " fwrite fwrite_unlocked fputs fputs_unlocked puts fputc fputc_unlocked putc putc_unlocked "
     "putchar putchar_unlocked "
     "putw vfprintf vprintf fprintf printf vdprintf dprintf perror "},
    {"sync", " fflush fflush_unlocked "},
    {"seek", " ungetc fseek fseeko ftell ftello fgetpos fsetpos rewind "},
    {"state", " feof ferror fileno setvbuf clearerr setbuf setbuffer setlinebuf "},
    {"lock", " ftrylockfile flockfile funlockfile "},
};

// Entry points whose plain name is not what is left without prefix and suffix.
constexpr std::array<std::string_view, 2> kIrregular[] = {
    {"__xstat", "stat"},       {"__lxstat", "lstat"},       {"__fxstat", "fstat"},
    {"__fxstatat", "fstatat"}, {"__xmknod", "mknod"},       {"__xmknodat", "mknodat"},
    {"preadv64v2", "preadv2"}, {"pwritev64v2", "pwritev2"},
};

std::string_view category_of(std::span<const Group> groups, std::string_view plain) {
  if (plain.empty()) return {};  // a bare prefix, `_IO_`
  for (const Group& group : groups) {
    for (std::size_t at = group.names.find(plain); at != std::string_view::npos;
         at = group.names.find(plain, at + 1)) {
      if (group.names[at - 1] == ' ' && group.names[at + plain.size()] == ' ')
        return group.category;
    }
  }
  return {};
}

bool take_suffix(std::string_view& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  return true;
}

// `open64`, `__open_2`, `__pread64_chk`, `__isoc99_fscanf`, `_IO_getc`: without what libc put
// around the name.
std::string_view stripped(std::string_view name) {
  for (const std::string_view prefix : {"__isoc99_", "__isoc23_", "_IO_", "__"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    if (!take_suffix(name, "_chk")) take_suffix(name, "_2");
    break;
  }
  take_suffix(name, "64");
  return name;
}

std::string_view regular_of(std::string_view name) {
  std::string_view bare = name;
  for (const auto& [entry, plain] : kIrregular) {
    if (name == entry) return plain;
  }
  if (take_suffix(bare, "64")) {
    for (const auto& [entry, plain] : kIrregular) {
      if (bare == entry) return plain;
    }
  }
  return stripped(name);
}

CallResult result_of(std::string_view layer, std::string_view plain, std::string_view category) {
  if (layer == "posix") {
    if (plain.starts_with("aio_"))
      return plain == "aio_return" ? CallResult::kBytes : CallResult::kOther;
    const bool moves = category == "read" || category == "write";
    return moves ? CallResult::kBytes : CallResult::kOther;
  }
  if (plain.starts_with("fread") || plain.starts_with("fwrite")) return CallResult::kItems;
  if (plain == "getline" || plain == "getdelim" || plain.ends_with("printf"))
    return CallResult::kBytes;
  return CallResult::kOther;
}

}  // namespace

CallName call_name(std::string_view layer, std::string_view name) {
  const std::span<const Group> groups = layer == "posix" ? std::span<const Group>(kPosix) : kStdio;
  if (name.empty() || name.find(' ') != std::string_view::npos)
    return {.plain = name, .category = {}};
  for (const std::string_view plain : {name, regular_of(name)}) {
    const std::string_view category = category_of(groups, plain);
    if (category.empty()) continue;
    return {.plain = plain, .category = category, .result = result_of(layer, plain, category)};
  }
  return {.plain = name, .category = {}};
}

}  // namespace fathom::analysis
