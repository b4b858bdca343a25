// SPDX-License-Identifier: MIT
// For fuzzers that make files: an input taken apart, what may stand in a file's place, and a canary
// that tells whether somebody wrote outside of where he was asked to.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "base/files.h"

namespace fathom::testing {

// A fuzzer's input cut into numbers and texts. Views it; behind the end all is 0 or empty.
class Pieces {
 public:
  Pieces(const std::uint8_t* data, std::size_t size)
      : left_(reinterpret_cast<const char*>(data), size) {}
  [[nodiscard]] bool done() const { return left_.empty(); }
  std::uint8_t byte() { return done() ? std::uint8_t{0} : static_cast<std::uint8_t>(take(1)[0]); }
  std::size_t number() { return byte() + std::size_t{byte()} * 256; }
  std::string_view piece() { return take(number()); }
  std::string_view rest() { return take(left_.size()); }

 private:
  std::string_view take(std::size_t length) {
    const std::string_view taken = left_.substr(0, length);
    left_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view left_;
};

// Whether this is a directory and no link to one: what lies behind a link is not ours to change.
inline bool is_plain_directory(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

// Some system calls each: a stream costs more than all that is tested. Links are not followed.
inline Fd open_plain(const std::string& path, int flags) {
  if (!is_plain_directory(std::string(dir_name(path)))) return {};
  return Fd(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600));
}
inline void put_file(const std::string& path, std::string_view content) {
  const Fd file = open_plain(path, O_CREAT | O_TRUNC);
  if (file.valid()) (void)!::write(file.get(), content.data(), content.size());
}
inline void put_bytes(const std::string& path, std::string_view content, std::size_t at) {
  const Fd file = open_plain(path, O_CREAT);
  if (file.valid())
    (void)!::pwrite(file.get(), content.data(), content.size(), static_cast<off_t>(at));
}
inline void cut(const std::string& path, std::size_t length) {
  const Fd file = open_plain(path, 0);
  if (file.valid()) (void)!::ftruncate(file.get(), static_cast<off_t>(length));
}

// Beside the directory that is attacked. Nothing in it may change, and nothing beside it appear.
class Canary {
 public:
  explicit Canary(std::string folder) : folder_(std::move(folder)) {
    (void)make_dirs(inside());
    put_file(file(), "ssh-ed25519 AAAA somebody@somewhere\n");
    put_file(inside() + "/run.header", "not a run\n");
    put_file(inside() + "/1-a-0.pool", std::string(8192, 'c'));
    before_ = tree(folder_);
  }
  [[nodiscard]] std::string file() const { return folder_ + "/canary"; }
  [[nodiscard]] std::string inside() const { return folder_ + "/canaries"; }
  [[nodiscard]] std::string missing() const { return folder_ + "/missing"; }
  void check() const {
    if (tree(folder_) != before_) std::abort();
  }

  // Every path below, with what changes when somebody writes to it.
  using Facts = std::tuple<mode_t, ino_t, off_t, std::int64_t>;
  using Tree = std::map<std::string, Facts>;
  static Tree tree(const std::string& folder) {
    Tree found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, ignored)) {
      struct stat facts {};
      if (::lstat(entry.path().c_str(), &facts) != 0) continue;
      found[entry.path()] = {facts.st_mode, facts.st_ino, facts.st_size,
                             facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
    }
    return found;
  }

 private:
  std::string folder_;
  Tree before_;
};

// Puts something that is no file of ours in the place of a name.
inline void replace(const std::string& path, std::uint8_t by, const Canary& canary) {
  if (!is_plain_directory(std::string(dir_name(path)))) return;
  (void)remove_tree(path);
  switch (by % 7) {
    case 0:
      return (void)::symlink(canary.file().c_str(), path.c_str());
    case 1:
      return (void)::symlink(canary.missing().c_str(), path.c_str());
    case 2:
      return (void)::symlink(canary.inside().c_str(), path.c_str());
    case 3:
      return (void)::mkfifo(path.c_str(), 0600);
    case 4:
      return (void)::mkdir(path.c_str(), 0700);
    case 5:
      return (void)::symlink(path.c_str(), path.c_str());
    default:
      return;  // gone
  }
}

}  // namespace fathom::testing
