// SPDX-License-Identifier: MIT
// The checks that make a shared directory such as /tmp safe to use: no links, no FIFO, our own
// file, one name, nobody else able to exchange it on the way. guest/private_place.cc has the same
// rules for guest code.
#include "base/own_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>

#include "base/os_error.h"

namespace fathom {
namespace {

constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

Error not_ours(const std::string& path) {
  return Error{Code::kDenied, path + " is not a regular file of this user", "remove it"};
}

// A group that has its user's number has no other members, by convention.
bool others_write(const struct stat& facts) {
  return (facts.st_mode & S_IWOTH) != 0 ||
         ((facts.st_mode & S_IWGRP) != 0 && facts.st_gid != facts.st_uid);
}

bool is_kept(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return false;
  if (facts.st_uid != 0 && facts.st_uid != ::geteuid()) return false;
  return !others_write(facts) || (facts.st_mode & S_ISVTX) != 0;
}

}  // namespace

// Without O_NONBLOCK a FIFO would hold us up before it can be looked at.
Result<File> open_own_file(const std::string& path, int flags, mode_t mode) {
  FATHOM_ASSIGN(File file, File::open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode));
  struct stat facts {};
  if (::fstat(file.fd(), &facts) != 0) return os_error(errno, "stat " + path);
  if (!S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid() || facts.st_nlink > 1)
    return not_ours(path);
  return file;
}

Status make_own_file(const std::string& path) {
  const Result<File> file = File::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!file) return file.error();
  return {};
}

Result<std::string> read_private_file(const std::string& path, std::size_t most) {
  FATHOM_ASSIGN(const File file, open_own_file(path, O_RDONLY));
  struct stat facts {};
  if (::fstat(file.fd(), &facts) != 0) return os_error(errno, "stat " + path);
  if ((facts.st_mode & kOthers) != 0 || static_cast<std::size_t>(facts.st_size) > most)
    return not_ours(path);
  std::string content(static_cast<std::size_t>(facts.st_size), '\0');
  FATHOM_ASSIGN(const std::size_t got,
                file.pread_some(std::as_writable_bytes(std::span(content)), 0));
  content.resize(got);
  return content;
}

bool is_private_directory(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
         facts.st_uid == ::geteuid() && (facts.st_mode & kOthers) == 0;
}

bool is_way_kept(const std::string& path) {
  if (!path.starts_with('/') || !is_kept("/")) return false;
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    if (!is_kept(path.substr(0, slash))) return false;
  }
  return is_kept(path);
}

}  // namespace fathom
