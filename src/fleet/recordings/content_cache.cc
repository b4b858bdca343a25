// SPDX-License-Identifier: MIT
// Contents get into rooms, and out of them, as hard links: whoever has opened one keeps it although
// another process makes space meanwhile.
#include "fleet/recordings/content_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <vector>

#include "base/ids.h"
#include "base/os_error.h"
#include "base/own_file.h"
#include "base/private_files.h"
#include "fleet/sha256.h"

namespace fathom::fleet {
namespace {

constexpr std::time_t kYoung = 3600;  // seconds: its owner may not have locked it yet

Result<Directory> private_folder(const std::string& path) {
  if (!path_exists(path)) {
    const Status made = make_private_dir(path);
    if (!made && !is_directory(path)) return made.error();  // another process may have been first
  }
  if (!is_private_directory(path))
    return Error{Code::kDenied, path + " is not a directory of this user alone", "remove it"};
  return Directory::open(path);
}

struct Kept {
  std::string name;
  std::uint64_t bytes;
  std::time_t used;
};

std::vector<Kept> kept_in(const Directory& contents) {
  std::vector<Kept> kept;
  const Result<std::vector<std::string>> names = contents.names();
  if (!names) return kept;
  for (const std::string& name : *names) {
    struct stat facts {};
    if (::fstatat(contents.fd(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0)
      kept.push_back({name, static_cast<std::uint64_t>(facts.st_size), facts.st_mtim.tv_sec});
  }
  return kept;
}

}  // namespace

Result<ContentCache> ContentCache::open(const std::string& folder, std::uint64_t most) {
  FATHOM_TRY(make_dirs(std::string(dir_name(folder))));
  FATHOM_TRY(private_folder(folder));
  FATHOM_ASSIGN(Directory contents, private_folder(join_path(folder, "contents")));
  FATHOM_ASSIGN(Directory rooms, private_folder(join_path(folder, "rooms")));
  ContentCache cache(std::move(contents), std::move(rooms), most);
  cache.remove_stale_rooms();
  return cache;
}

// Of processes that were killed.
// A room's owner holds a shared lock on it as long as it lives: who gets the other one is alone.
void ContentCache::remove_stale_rooms() const {
  const Result<std::vector<std::string>> names = rooms_.names();
  if (!names) return;
  for (const std::string& name : *names) {
    struct stat facts {};
    const Result<Directory> room = rooms_.directory(name);
    if (!room || ::fstat(room->fd(), &facts) != 0) continue;
    if (std::time(nullptr) - facts.st_mtim.tv_sec < kYoung) continue;
    if (::flock(room->fd(), LOCK_EX | LOCK_NB) == 0) (void)remove_tree(rooms_.path_of(name));
  }
}

Result<CacheRoom> ContentCache::make_room() const {
  FATHOM_ASSIGN(ScratchDirectory place, ScratchDirectory::make(rooms_.path_of(random_id())));
  auto lock =
      std::make_shared<const Fd>(::open(place.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock->valid() || ::flock(lock->get(), LOCK_SH | LOCK_NB) != 0)
    return os_error(errno, "lock " + place.path());
  return CacheRoom{std::move(place), std::move(lock)};
}

bool ContentCache::take(const RecordedFile& file, const Directory& to,
                        const std::string& name) const {
  const Result<File> content = contents_.read(file.sha256);
  if (!content) return false;
  const Result<std::uint64_t> size = content->size();
  if (!size || *size != file.size) return false;
  if (::linkat(contents_.fd(), file.sha256.c_str(), to.fd(), name.c_str(), 0) != 0) return false;
  (void)::futimens(content->fd(), nullptr);  // it is used
  return true;
}

bool ContentCache::make_space(std::uint64_t bytes) const {
  if (bytes > most_) return false;
  std::vector<Kept> kept = kept_in(contents_);
  std::ranges::sort(kept, {}, &Kept::used);
  std::uint64_t sum = bytes;
  for (const Kept& one : kept) sum += one.bytes;
  for (const Kept& one : kept) {
    if (sum <= most_) break;
    if (contents_.remove(one.name)) sum -= one.bytes;
  }
  return sum <= most_;
}

void ContentCache::keep(const RecordedFile& file, const Directory& from,
                        const std::string& name) const {
  if (!make_space(file.size)) return;
  (void)::linkat(from.fd(), name.c_str(), contents_.fd(), file.sha256.c_str(), 0);
}

}  // namespace fathom::fleet
