// SPDX-License-Identifier: MIT
// The one door into a directory whose content nobody vouches for. A name is one step: no "/", no
// "..", and a link is never followed, so that nothing outside is reached. Only regular files come
// out; a FIFO, a socket or a device is refused before it is opened. Copies share the descriptor.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace fathom {

// A handle; copies may be used by several threads, for nothing in it changes. Every step is
// resolved by the kernel beneath the descriptor (openat), so a name that is exchanged meanwhile
// cannot lead out.
class Directory {
 public:
  // The path is the caller's own word: links in it are followed.
  static Result<Directory> open(const std::string& path);
  // The same, but the last name of the path is a step beneath the directory before it.
  static Result<Directory> open_beneath(const std::string& path);

  // Errors: kNotFound where there is no such name, kCorrupt where it is something else.
  [[nodiscard]] Result<Directory> directory(std::string_view name) const;
  [[nodiscard]] Result<File> read(std::string_view name) const;
  // The whole file; kCorrupt where it is larger than `most`.
  [[nodiscard]] Result<std::string> read_whole(std::string_view name, std::size_t most) const;

  // Whose file may be opened for writing: this user's or the directory's owner's, or anybody's. A
  // file that has another name elsewhere never is.
  enum class Owner { kOurs, kAnybody };
  // `flags` as open(2).
  [[nodiscard]] Result<File> open_file(std::string_view name, int flags, mode_t mode = 0600,
                                       Owner owner = Owner::kOurs) const;
  // A new file, in the place of whatever had the name.
  [[nodiscard]] Result<File> create(std::string_view name, mode_t mode = 0600) const;
  // After a crash at any instant the name stands for the old content or the new, never a part.
  [[nodiscard]] Status write_atomic(std::string_view name, std::string_view content,
                                    mode_t mode = 0600) const;
  [[nodiscard]] Status rename(std::string_view from, const Directory& to,
                              std::string_view name) const;
  bool remove(std::string_view name) const;  // a file or a link; false where nothing was removed

  [[nodiscard]] Result<std::vector<std::string>> names() const;  // sorted, without "." and ".."
  [[nodiscard]] bool has(std::string_view name) const;           // anything of that name
  [[nodiscard]] bool has_file(std::string_view name) const;      // a regular file
  [[nodiscard]] bool has_directory(std::string_view name) const;

  [[nodiscard]] bool is_ours() const;     // made by this user
  [[nodiscard]] bool is_guarded() const;  // only this user and root can exchange what is in it
  [[nodiscard]] bool same_as(const Directory& other) const;

  [[nodiscard]] const std::string& path() const { return path_; }  // for messages
  [[nodiscard]] std::string path_of(std::string_view name) const;  // for messages
  [[nodiscard]] int fd() const { return fd_->get(); }

 private:
  Directory(Fd fd, std::string path)
      : fd_(std::make_shared<const Fd>(std::move(fd))), path_(std::move(path)) {}
  std::shared_ptr<const Fd> fd_;
  std::string path_;
};

}  // namespace fathom
