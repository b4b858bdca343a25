// SPDX-License-Identifier: MIT
// Thin wrappers of system calls that add what callers forget: O_CLOEXEC, EINTR loops, the path in
// each message, a sync before a rename.
#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/ids.h"
#include "base/os_error.h"

namespace fathom {

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Result<File> File::open(const std::string& path, int flags, mode_t mode) {
  Fd fd(::open(path.c_str(), flags | O_CLOEXEC, mode));
  if (!fd.valid()) return os_error(errno, "open " + path);
  return File(std::move(fd), path);
}

Result<File> File::unnamed(const std::string& directory) {
  Fd fd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd.valid()) return File(std::move(fd), directory + " (a temporary file)");
  // Not every file system can do that.
  const std::string path = join_path(directory, "fathom-" + random_id());
  FATHOM_ASSIGN(File file, open(path, O_RDWR | O_CREAT | O_EXCL, 0600));
  ::unlink(path.c_str());
  return file;
}

Result<File> File::duplicate() const {
  Fd fd(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  if (!fd.valid()) return os_error(errno, "duplicate " + path_);
  return File(std::move(fd), path_);
}

Result<std::size_t> File::pread_some(std::span<std::byte> buffer, std::uint64_t offset) const {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t got = ::pread(fd_.get(), buffer.data() + done, buffer.size() - done,
                                static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os_error(errno, "read " + path_);
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<std::string> File::read_range(std::uint64_t offset, std::size_t length) const {
  std::string bytes(length, '\0');
  FATHOM_ASSIGN(const std::size_t got,
                pread_some(std::as_writable_bytes(std::span(bytes)), offset));
  bytes.resize(got);
  return bytes;
}

Status File::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd_.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return os_error(errno, "write " + path_);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Status File::sync() {
  if (::fsync(fd_.get()) != 0) return os_error(errno, "sync " + path_);
  return {};
}

Result<std::uint64_t> File::size() const {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) return os_error(errno, "stat " + path_);
  return static_cast<std::uint64_t>(status.st_size);
}

std::string scratch_directory() {
  const char* wanted = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return wanted != nullptr && *wanted == '/' ? wanted : "/var/tmp";
}

Result<std::string> read_file(const std::string& path) {
  FATHOM_ASSIGN(const File file, File::open(path, O_RDONLY));
  std::string content;
  std::array<char, 65536> chunk;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
  for (;;) {
    const ssize_t got = ::read(file.fd(), chunk.data(), chunk.size());
    if (got == 0) return content;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os_error(errno, "read " + path);
    content.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

namespace {

Status write_synced(const std::string& path, std::string_view content, mode_t mode) {
  FATHOM_ASSIGN(File file, File::open(path, O_WRONLY | O_CREAT | O_EXCL, mode));
  FATHOM_TRY(file.write_all(content));
  return file.sync();
}

}  // namespace

Status write_file_atomic(const std::string& path, std::string_view content, mode_t mode) {
  const std::string draft = path + "." + random_id().substr(0, 8) + ".tmp";
  Status written = write_synced(draft, content, mode);
  if (written.has_value()) written = rename_path(draft, path);
  if (!written.has_value()) ::unlink(draft.c_str());
  return written;
}

Status rename_path(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0)
    return os_error(errno, "rename " + from + " to " + to);
  return {};
}

}  // namespace fathom
