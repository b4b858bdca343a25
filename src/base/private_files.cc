// SPDX-License-Identifier: MIT
// Sets modes after opening, because the umask may take bits away and must not add any. Sharing
// walks the tree by descriptors, so that a link put there meanwhile is not followed.
#include "base/private_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/os_error.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr mode_t kPrivateDirectory = 0700;
constexpr mode_t kPrivateFile = 0600;
constexpr mode_t kSharedDirectory = S_ISGID | 0750;
constexpr mode_t kSharedFile = 0640;
constexpr mode_t kAllBits = 07777;

// The group that what is made in a directory is shared with.
std::optional<gid_t> group_of(const struct stat& directory) {
  const bool shared =
      S_ISDIR(directory.st_mode) && (directory.st_mode & kAllBits) == kSharedDirectory;
  return shared ? std::optional(directory.st_gid) : std::nullopt;
}

std::optional<gid_t> group_above(const std::string& path) {
  struct stat facts {};
  if (::stat(std::string(dir_name(path)).c_str(), &facts) != 0) return std::nullopt;
  return group_of(facts);
}

void set_private(int fd, std::optional<gid_t> group) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0 || facts.st_uid != ::geteuid()) return;  // not made by us
  // A file that stays private is no harm: the group reads less.
  if (group && facts.st_gid != *group) (void)!::fchown(fd, static_cast<uid_t>(-1), *group);
  const mode_t mode = group ? kSharedFile : kPrivateFile;
  if ((facts.st_mode & kAllBits) != mode) (void)!::fchmod(fd, mode);
}

Status set_access(int fd, gid_t group, mode_t mode, const std::string& path) {
  if (::fchown(fd, static_cast<uid_t>(-1), group) != 0 || ::fchmod(fd, mode) != 0)
    return os_error(errno, "share " + path);
  return {};
}

Status share_entry(int directory, const std::string& name, const std::string& path, gid_t group);

Status share_entries(Fd fd, const std::string& path, gid_t group) {
  FATHOM_TRY(set_access(fd.get(), group, kSharedDirectory, path));
  DIR* entries = ::fdopendir(fd.get());
  if (entries == nullptr) return os_error(errno, "list " + path);
  (void)fd.release();  // closedir closes it
  Status shared;
  while (const dirent* entry = ::readdir(entries)) {  // NOLINT(concurrency-mt-unsafe): our own DIR
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    shared = share_entry(::dirfd(entries), name, join_path(path, name), group);
    if (!shared) break;
  }
  ::closedir(entries);
  return shared;
}

// Files that go away meanwhile, and what is neither file nor directory, are left alone.
Status share_entry(int directory, const std::string& name, const std::string& path, gid_t group) {
  Fd fd(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ENOENT || errno == ELOOP || errno == ENXIO) return {};
    return os_error(errno, "share " + path);
  }
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return os_error(errno, "share " + path);
  if (S_ISDIR(facts.st_mode)) return share_entries(std::move(fd), path, group);
  // A file with another name elsewhere is not the recording's alone.
  const bool ours = S_ISREG(facts.st_mode) && facts.st_nlink == 1;
  return ours ? set_access(fd.get(), group, kSharedFile, path) : Status();
}

bool is_member(gid_t group) {
  if (::geteuid() == 0 || ::getegid() == group) return true;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(0, count)));
  return std::ranges::find(groups, group) != groups.end();
}

}  // namespace

Status make_private_dir(const std::string& path) {
  if (::mkdir(path.c_str(), kPrivateDirectory) != 0)
    return os_error(errno, "make directory " + path);
  // The umask may have taken bits, and a directory above may have added its own.
  if (::chmod(path.c_str(), kPrivateDirectory) != 0) return os_error(errno, "set mode of " + path);
  return {};
}

Status make_inner_dir(const std::string& path) {
  FATHOM_TRY(make_private_dir(path));
  const std::optional<gid_t> group = group_above(path);
  if (!group) return {};
  const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return os_error(errno, "open " + path);
  return set_access(fd.get(), *group, kSharedDirectory, path);
}

void make_private(int fd, const std::string& path) { set_private(fd, group_above(path)); }

void make_private(int fd, int directory) {
  struct stat facts {};
  set_private(fd, ::fstat(directory, &facts) == 0 ? group_of(facts) : std::nullopt);
}

Result<File> open_private(const std::string& path, int flags) {
  // Whatever else lies there might lead elsewhere, or keep us waiting.
  constexpr int kCareful = O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  FATHOM_ASSIGN(File file, File::open(path, flags | kCareful, kPrivateFile));
  make_private(file.fd(), path);
  return file;
}

Status write_private_atomic(const std::string& path, std::string_view content) {
  const std::string draft = path + "." + random_id().substr(0, 8) + ".tmp";
  Status written = [&]() -> Status {
    FATHOM_ASSIGN(File file, open_private(draft, O_WRONLY | O_EXCL));
    FATHOM_TRY(file.write_all(content));
    FATHOM_TRY(file.sync());
    return rename_path(draft, path);
  }();
  if (!written) ::unlink(draft.c_str());
  return written;
}

Result<gid_t> find_own_group(const std::string& name) {
  const struct group* const entry = ::getgrnam(name.c_str());  // NOLINT(concurrency-mt-unsafe)
  const Result<std::int64_t> number = parse_int(name);
  if (entry == nullptr && (!number || *number < 0 || *number >= UINT32_MAX))
    return Error{Code::kNotFound, "there is no group '" + name + "'", "'groups' lists yours"};
  const gid_t group = entry != nullptr ? entry->gr_gid : static_cast<gid_t>(*number);
  if (is_member(group)) return group;
  return Error{Code::kDenied, "you are not in group '" + name + "'", "'groups' lists yours"};
}

Status share_with(const std::string& directory, gid_t group) {
  Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return os_error(errno, "open " + directory);
  return share_entries(std::move(fd), directory, group);
}

}  // namespace fathom
