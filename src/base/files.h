// SPDX-License-Identifier: MIT
// Files and directories. Every failure names the path. Descriptors are close-on-exec.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fathom {

// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

// An open file with its path, for messages. One thread at a time, but pread_some from any.
class File {
 public:
  // `flags` as open(2); O_CLOEXEC is added.
  static Result<File> open(const std::string& path, int flags, mode_t mode = 0666);
  // Takes over what is open already.
  static File adopt(Fd fd, std::string path) { return {std::move(fd), std::move(path)}; }
  // Without a name, for reading and writing: it goes with whoever holds it, however he ends.
  static Result<File> unnamed(const std::string& directory);

  // Another descriptor of the same open file.
  [[nodiscard]] Result<File> duplicate() const;

  // Reads at most buffer.size() bytes at the offset; fewer only at the end of the file.
  Result<std::size_t> pread_some(std::span<std::byte> buffer, std::uint64_t offset) const;
  // `length` bytes from the offset on; fewer where the file ends.
  [[nodiscard]] Result<std::string> read_range(std::uint64_t offset, std::size_t length) const;
  Status write_all(std::string_view bytes);
  Status sync();
  [[nodiscard]] Result<std::uint64_t> size() const;

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  File(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Fd fd_;
  std::string path_;
};

// Where temporary files go: $TMPDIR, else /var/tmp, since /tmp may be memory itself.
[[nodiscard]] std::string scratch_directory();

// The whole content, also of files without a size such as those of /proc.
Result<std::string> read_file(const std::string& path);

// After a crash at any instant the path holds the old content or the new, never a part. Keeps no
// mode or owner of the old.
Status write_file_atomic(const std::string& path, std::string_view content, mode_t mode = 0644);

// Names, sorted, without "." and "..".
Result<std::vector<std::string>> list_dir(const std::string& path);

Status make_dirs(const std::string& path);  // like mkdir -p: an existing directory is success
Status remove_tree(
    const std::string& path);  // like rm -rf: does not follow links; nothing there is success
Status rename_path(const std::string& from, const std::string& to);

[[nodiscard]] bool path_exists(
    const std::string& path);  // follows links; false when it cannot be told
[[nodiscard]] bool is_directory(const std::string& path);
Result<std::string> real_path(const std::string& path);  // absolute, no links; the path must exist
Result<std::string> absolute_path(
    const std::string& path);  // absolute and normalised by text alone

[[nodiscard]] std::string join_path(std::string_view directory, std::string_view name);
[[nodiscard]] std::string_view base_name(std::string_view path);  // "a/b.c" gives "b.c"
[[nodiscard]] std::string_view dir_name(std::string_view path);  // "a/b.c" gives "a"; "x" gives "."

// Bytes that this user may still write on the file system that holds `path`.
Result<std::uint64_t> free_space(const std::string& path);

}  // namespace fathom
