// SPDX-License-Identifier: MIT
// Copies outputs as untrusted data: an archive of the engine has a limit, folders are walked by
// descriptors without following links, and what is no plain file is counted as left out.
#include "containers/copy_outputs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/os_error.h"
#include "base/text.h"

namespace fathom::containers {
namespace {

// A file of the application may claim to be longer than all disks: its archive has an end for us.
constexpr std::uint64_t kMostArchiveBytes = std::uint64_t{4} << 30U;
constexpr char kMissing[] = "missing";

// kNotFound: there is no such path. What the bounds of `kept` leave out is counted, and no error.
Status read_archive(Engine& engine, const std::string& id, const std::string& path,
                    KeptOutputs& kept) {
  std::uint64_t seen = 0;
  Status read;
  TarReader reader(kept);
  FATHOM_TRY(engine.get_files(id, path, [&](std::string_view bytes) {
    seen += bytes.size();
    if (!read || seen > kMostArchiveBytes) return false;
    read = reader.feed(bytes);
    return read.has_value();
  }));
  if (seen > kMostArchiveBytes) {
    kept.leave_out("the rest, too large");
    return {};
  }
  if (!read) return read.error().code == Code::kInvalid ? Status() : read;
  return reader.finish();
}

// Whether the path is there.
Result<bool> copy_one(Engine& engine, const std::string& id, const std::string& path,
                      KeptOutputs& kept) {
  kept.go_below(std::string(dir_name(path)).substr(1));
  const Status read = read_archive(engine, id, path, kept);
  kept.drop_unfinished();
  if (!read && read.error().code != Code::kNotFound) return read.error();
  return read.has_value();
}

// The folder that a path's last name is in, by no link.
Fd open_parent(int top, const std::string& path) {
  Fd at(::fcntl(top, F_DUPFD_CLOEXEC, 0));
  const std::vector<std::string_view> parts = split(path, '/');
  for (std::size_t i = 0; i + 1 < parts.size() && at.valid(); ++i) {
    const std::string name(parts[i]);
    at.reset(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  return at;
}

class FolderCopy {
 public:
  explicit FolderCopy(KeptOutputs& kept) : kept_(kept) {}

  // What `name` of the open folder is, with all below it; `path` is its name in the copy.
  Status copy(int folder, const std::string& name, const std::string& path, std::size_t depth) {
    constexpr std::size_t kMostDepth = 64;
    struct stat facts {};
    if (::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
      kept_.leave_out(kMissing);
      return {};
    }
    if (kept_.is_its_folder(facts)) {
      kept_.leave_out("the copy itself");
      return {};
    }
    if (S_ISDIR(facts.st_mode) && depth < kMostDepth) return copy_folder(folder, name, path, depth);
    if (S_ISREG(facts.st_mode)) return copy_file(folder, name, path);
    return kept_.begin(
        {.kind = S_ISLNK(facts.st_mode) ? TarKind::kLink : TarKind::kOther, .name = path});
  }

 private:
  Status copy_folder(int folder, const std::string& name, const std::string& path,
                     std::size_t depth) {
    FATHOM_TRY(kept_.begin({.kind = TarKind::kDirectory, .name = path}));
    Fd opened(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!opened.valid()) {
      kept_.leave_out("not readable");
      return {};
    }
    DIR* const entries = ::fdopendir(::fcntl(opened.get(), F_DUPFD_CLOEXEC, 0));
    if (entries == nullptr) return os_error(errno, "read a folder of outputs");
    Status went;
    while (const dirent* const entry = went ? ::readdir(entries) : nullptr) {
      const std::string inner = entry->d_name;
      if (inner != "." && inner != "..")
        went = copy(opened.get(), inner, join_path(path, inner), depth + 1);
    }
    ::closedir(entries);
    return went;
  }

  // It may have become something else meanwhile: opened without waiting, and looked at again.
  Status copy_file(int folder, const std::string& name, const std::string& path) {
    Fd file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat facts {};
    if (!file.valid() || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
      kept_.leave_out("not readable");
      return {};
    }
    auto left = static_cast<std::uint64_t>(facts.st_size);
    FATHOM_TRY(kept_.begin({.kind = TarKind::kFile, .name = path, .size = left}));
    std::array<char, std::size_t{64} << 10> piece;
    while (left > 0 && kept_.wants_content()) {  // what is written to it meanwhile is not followed
      const ssize_t got =
          ::read(file.get(), piece.data(), std::min<std::uint64_t>(left, piece.size()));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      left -= static_cast<std::uint64_t>(got);
      FATHOM_TRY(kept_.content({piece.data(), static_cast<std::size_t>(got)}));
    }
    return kept_.end();
  }

  KeptOutputs& kept_;
};

}  // namespace

Status copy_from_container(Engine& engine, const std::string& id,
                           const std::vector<std::string>& paths, KeptOutputs& kept) {
  for (const std::string& path : paths) {
    FATHOM_ASSIGN(const bool was_there, copy_one(engine, id, path, kept));
    if (!was_there) kept.leave_out(kMissing);
  }
  return {};
}

Status copy_what_is_there(Engine& engine, const std::string& id, const std::string& path,
                          KeptOutputs& kept) {
  const Result<bool> copied = copy_one(engine, id, path, kept);
  return copied ? Status() : Status(copied.error());
}

Status copy_from_folder(const std::string& folder, const std::vector<std::string>& paths,
                        KeptOutputs& kept) {
  const Fd top(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!top.valid()) return os_error(errno, "open " + folder);
  FolderCopy copy(kept);
  kept.go_below("");
  for (const std::string& path : paths) {
    const Fd folder_of_it = open_parent(top.get(), path);
    if (!folder_of_it.valid()) {
      kept.leave_out(kMissing);
      continue;
    }
    Status went = copy.copy(folder_of_it.get(), std::string(base_name(path)), path, 0);
    if (!went && went.error().code != Code::kInvalid) return went;  // too many are counted
  }
  return {};
}

}  // namespace fathom::containers
