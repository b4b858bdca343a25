// SPDX-License-Identifier: MIT
// Why openat and not openat2: a name is a single step here, and O_NOFOLLOW on a single step is what
// RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS are on a path. It works on every kernel and in every
// sandbox.
#include "base/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/ids.h"
#include "base/os_error.h"
#include "base/private_files.h"

namespace fathom {
namespace {

// A NUL would end the name for the kernel where it does not for us.
bool is_step(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

const char* kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFLNK:
      return "a link";
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    case S_IFREG:
      return "a file";
    default:
      return "a device";
  }
}

Error refused(const std::string& path, mode_t mode, const char* wanted) {
  return {Code::kCorrupt, path + " is " + kind_of(mode) + ", not " + wanted, ""};
}

bool writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }

// Whether what was opened is what may be: the name may have been given to something else meanwhile.
Status check_opened(int fd, int above, const std::string& path, int flags, Directory::Owner owner) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return os_error(errno, "look at " + path);
  if (!S_ISREG(facts.st_mode)) return refused(path, facts.st_mode, "a file");
  if (!writes(flags)) return {};
  // Some file systems of networks know one user only, in whose name everything lies there.
  struct stat directory {};
  const bool ours = facts.st_uid == ::geteuid() ||
                    (::fstat(above, &directory) == 0 && facts.st_uid == directory.st_uid);
  if (owner == Directory::Owner::kOurs && !ours)
    return Error{Code::kDenied, path + " belongs to another user", ""};
  if (facts.st_nlink > 1) return Error{Code::kDenied, path + " has a second name (hard link)", ""};
  return {};
}

}  // namespace

Result<Directory> Directory::open(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return os_error(errno, "open " + path);
  return Directory(std::move(fd), path);
}

Result<Directory> Directory::open_beneath(const std::string& path) {
  FATHOM_ASSIGN(const Directory above, open(std::string(dir_name(path))));
  FATHOM_ASSIGN(Directory beneath, above.directory(base_name(path)));
  beneath.path_ = path;
  return beneath;
}

std::string Directory::path_of(std::string_view name) const { return join_path(path_, name); }

Result<Directory> Directory::directory(std::string_view name) const {
  const std::string path = path_of(name);
  const std::string step(name);
  if (!is_step(name)) return Error{Code::kInvalid, path + " is not a name in a directory", ""};
  Fd fd(::openat(this->fd(), step.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.valid()) return Directory(std::move(fd), path);
  const int failure = errno;
  struct stat facts {};
  if (::fstatat(this->fd(), step.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
      !S_ISDIR(facts.st_mode))
    return refused(path, facts.st_mode, "a directory");
  return os_error(failure, "open " + path);
}

Result<File> Directory::open_file(std::string_view name, int flags, mode_t mode,
                                  Owner owner) const {
  const std::string path = path_of(name);
  const std::string step(name);
  if (!is_step(name)) return Error{Code::kInvalid, path + " is not a name in a directory", ""};
  // Looked at first: to open a device may do something already.
  struct stat facts {};
  if (::fstatat(fd(), step.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(facts.st_mode))
    return refused(path, facts.st_mode, "a file");
  // O_NONBLOCK: a FIFO that took the name a moment ago must not hold us up.
  constexpr int kAlways = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  // Cut only when it is known to be ours.
  Fd opened(::openat(fd(), step.c_str(), (flags & ~O_TRUNC) | kAlways, mode));
  if (!opened.valid()) return os_error(errno, "open " + path);
  FATHOM_TRY(check_opened(opened.get(), fd(), path, flags, owner));
  if ((flags & O_CREAT) != 0) make_private(opened.get(), fd());
  if ((flags & O_TRUNC) != 0 && ::ftruncate(opened.get(), 0) != 0)
    return os_error(errno, "cut " + path);
  return File::adopt(std::move(opened), path);
}

Result<File> Directory::read(std::string_view name) const { return open_file(name, O_RDONLY); }

Result<std::string> Directory::read_whole(std::string_view name, std::size_t most) const {
  FATHOM_ASSIGN(const File file, read(name));
  FATHOM_ASSIGN(const std::uint64_t size, file.size());
  if (size > most) {
    return Error{Code::kCorrupt, file.path() + " is larger than such a file can be", ""};
  }
  return file.read_range(0, size);
}

Result<File> Directory::create(std::string_view name, mode_t mode) const {
  (void)remove(name);
  return open_file(name, O_RDWR | O_CREAT | O_EXCL, mode);
}

Status Directory::write_atomic(std::string_view name, std::string_view content, mode_t mode) const {
  // Beside the file, for a rename is atomic in one file system only; a name that nobody can have
  // made before.
  const std::string draft = std::string(name) + "." + random_id().substr(0, 8) + ".tmp";
  FATHOM_ASSIGN(File file, open_file(draft, O_WRONLY | O_CREAT | O_EXCL, mode));
  Status written = file.write_all(content);
  // Before the rename: else a crash may leave the new name with nothing in it.
  if (written) written = file.sync();
  if (written) written = rename(draft, *this, name);
  if (!written) (void)remove(draft);
  return written;
}

Status Directory::rename(std::string_view from, const Directory& to, std::string_view name) const {
  if (!is_step(from) || !is_step(name))
    return Error{Code::kInvalid, path_of(from) + " is not a name in a directory", ""};
  if (::renameat(fd(), std::string(from).c_str(), to.fd(), std::string(name).c_str()) == 0)
    return {};
  return os_error(errno, "rename " + path_of(from) + " to " + to.path_of(name));
}

bool Directory::remove(std::string_view name) const {
  return is_step(name) && ::unlinkat(fd(), std::string(name).c_str(), 0) == 0;
}

Result<std::vector<std::string>> Directory::names() const {
  // A descriptor of its own: the position of a directory is shared by copies.
  const int own = ::openat(fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return os_error(errno, "list " + path_);
  DIR* entries = ::fdopendir(own);
  if (entries == nullptr) {
    const int failure = errno;
    ::close(own);
    return os_error(failure, "list " + path_);
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(entries)) {  // NOLINT(concurrency-mt-unsafe): our own DIR
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  const int failure = errno;
  ::closedir(entries);
  if (failure != 0) return os_error(failure, "list " + path_);
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

bool look_at(int directory, std::string_view name, struct stat& facts) {
  return is_step(name) &&
         ::fstatat(directory, std::string(name).c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace

bool Directory::has(std::string_view name) const {
  struct stat facts {};
  return look_at(fd(), name, facts);
}

bool Directory::has_file(std::string_view name) const {
  struct stat facts {};
  return look_at(fd(), name, facts) && S_ISREG(facts.st_mode);
}

bool Directory::has_directory(std::string_view name) const {
  struct stat facts {};
  return look_at(fd(), name, facts) && S_ISDIR(facts.st_mode);
}

bool Directory::is_ours() const {
  struct stat facts {};
  return ::fstat(fd(), &facts) == 0 && facts.st_uid == ::geteuid();
}

bool Directory::same_as(const Directory& other) const {
  struct stat ours {};
  struct stat theirs {};
  return ::fstat(fd(), &ours) == 0 && ::fstat(other.fd(), &theirs) == 0 &&
         ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

bool Directory::is_guarded() const {
  struct stat facts {};
  if (::fstat(fd(), &facts) != 0) return false;
  const bool trusted = facts.st_uid == ::geteuid() || facts.st_uid == 0;
  return trusted && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace fathom
