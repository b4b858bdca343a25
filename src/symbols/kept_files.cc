// SPDX-License-Identifier: MIT
// Three ways to a file: by the mapping itself, which needs the right to see others' memory; by its
// path in the process's own root; by its path here. Each may lead to another file by now, so its
// build id or inode must be the one that the kernel told.
#include "symbols/kept_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "symbols/elf_file.h"

namespace fathom::symbols {
namespace {

constexpr std::size_t kMost = 512;

std::string hex(std::uint64_t number) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, 16);
  return {digits, end.ptr};
}

std::string way_to(const Fd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); }

// A device or a FIFO is not even opened.
Fd open_regular(const Fd& place) {
  struct stat facts {};
  if (!place.valid() || ::fstat(place.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  return Fd(::open(way_to(place).c_str(), O_RDONLY | O_CLOEXEC));
}

Fd by_mapping(const MappedFile& file) {
  const std::string path =
      "/proc/" + std::to_string(file.pid) + "/map_files/" + hex(file.begin) + "-" + hex(file.end);
  return open_regular(Fd(::open(path.c_str(), O_PATH | O_CLOEXEC)));
}

// Links of a container lead to files of the container.
Fd below(const Fd& root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return open_regular(
      Fd(static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how))));
}

Fd by_root(const MappedFile& file) {
  const std::string root = "/proc/" + std::to_string(file.pid) + "/root";
  return below(Fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), file.path);
}

Fd by_path(const MappedFile& file) {
  return open_regular(Fd(::open(file.path.c_str(), O_PATH | O_CLOEXEC)));
}

bool is_it(const Fd& fd, const MappedFile& file) {
  if (!fd.valid()) return false;
  if (!file.build_id.empty()) {
    const Result<ElfFile> elf = ElfFile::open(way_to(fd));
    return elf && elf->build_id() == file.build_id;
  }
  struct stat facts {};
  return ::fstat(fd.get(), &facts) == 0 && facts.st_ino == file.inode;
}

}  // namespace

Fd KeptFiles::open_mapped(const MappedFile& file, const Places& places) {
  for (Fd (*const way)(const MappedFile&) : {by_mapping, by_root, by_path}) {
    Fd fd = way(file);
    if (is_it(fd, file)) return fd;
  }
  for (const auto& [seen_as, folder] : places) {
    if (!file.path.starts_with(seen_as)) continue;
    Fd fd = below(folder, file.path.substr(seen_as.size()));
    if (is_it(fd, file)) return fd;
  }
  return {};
}

KeptFiles::KeptFiles() : most_(kMost) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    most_ = std::min<std::size_t>(kMost, static_cast<std::size_t>(limit.rlim_cur) / 4);
}

void KeptFiles::look_below(Fd folder, std::string seen_as) {
  if (!folder.valid()) return;
  const std::scoped_lock lock(mutex_);
  places_.emplace_back(std::move(seen_as), std::move(folder));
}

bool KeptFiles::keep(const MappedFile& file) {
  const std::scoped_lock lock(mutex_);
  const auto known = kept_.find({file.path, file.build_id});
  if (known != kept_.end()) return !file.build_id.empty() || known->second.inode == file.inode;
  Kept kept{{}, file.inode};
  if (opened_ < most_) kept.fd = open_mapped(file, places_);
  if (kept.fd.valid()) opened_++;
  kept_.emplace(std::pair(file.path, file.build_id), std::move(kept));
  return true;
}

std::string KeptFiles::find(const std::string& path, const std::string& build_id) const {
  const std::scoped_lock lock(mutex_);
  const auto known = kept_.find({path, build_id});
  return known == kept_.end() || !known->second.fd.valid() ? "" : way_to(known->second.fd);
}

}  // namespace fathom::symbols
