// SPDX-License-Identifier: MIT
// Batches that wait for their store, a file each in a private folder. Names begin with the time, so
// that they are in order; a draft gets its name when it is whole and on the disk, so that whatever
// an agent was told is kept survives a loss of power. Whoever sends a batch holds a lock on its
// file: several agents may flush one outbox.
#include "fleet/agents/outbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "base/clock.h"
#include "base/ids.h"
#include "base/os_error.h"
#include "base/own_file.h"
#include "base/private_files.h"
#include "base/text.h"

namespace fathom::fleet {
namespace {

constexpr std::string_view kEnding = ".batch";
constexpr std::string_view kDraft = ".draft";
constexpr std::string_view kAside = ".aside";
constexpr std::size_t kMostFiles = 20'000;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

// Nothing where somebody else has it, or had it a moment ago.
std::optional<Outbox::Held> hold(const Directory& folder, const std::string& name) {
  Result<File> file = folder.open_file(name, O_RDONLY);
  if (!file || ::flock(file->fd(), LOCK_EX | LOCK_NB) != 0) return {};
  struct stat facts {};
  if (::fstat(file->fd(), &facts) != 0 || facts.st_nlink == 0) return {};
  return Outbox::Held{name, std::move(file).value()};
}

// Of an agent that was killed while it wrote: whoever fed it was never told that it was kept.
void remove_stale(const Directory& folder, const std::string& name) {
  constexpr std::int64_t kAgeNs = 3'600'000'000'000;
  struct stat facts {};
  if (::fstatat(folder.fd(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return;
  const std::int64_t changed = facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec;
  if (now_realtime_ns() - changed > kAgeNs) (void)folder.remove(name);
}

Result<Letter> read(const File& file) {
  FATHOM_ASSIGN(const std::uint64_t size, file.size());
  if (size > kMostLetterBytes) return Error{Code::kCorrupt, "it is too large", ""};
  FATHOM_ASSIGN(const std::string text, file.read_range(0, static_cast<std::size_t>(size)));
  return parse_letter(text);
}

}  // namespace

Result<Outbox> Outbox::open(const std::string& path) {
  FATHOM_TRY(make_dirs(std::string(dir_name(path))));
  if (!path_exists(path)) {
    const Status made = make_private_dir(path);
    if (!made && !is_directory(path)) return made.error();  // another agent may have been first
  }
  if (!is_private_directory(path))
    return Error{Code::kDenied, escape_control(path) + " is not this user's alone",
                 "chmod 700 " + escape_control(shell_quote(path))};
  FATHOM_ASSIGN(Directory folder, Directory::open(path));
  return Outbox(std::move(folder));
}

// Bounds for a server that never comes back: an agent must not fill its machine's disk.
Status Outbox::check_room(std::size_t more) const {
  FATHOM_ASSIGN(const std::vector<std::string> names, folder_.names());
  std::uint64_t bytes = more;
  for (const std::string& name : names) {
    struct stat facts {};
    if (::fstatat(folder_.fd(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0)
      bytes += static_cast<std::uint64_t>(facts.st_size);
  }
  if (names.size() < kMostFiles && bytes <= kMostBytes) return {};
  return Error{Code::kFull, "the outbox " + escape_control(path()) + " is full",
               "let the server run and send it with: fathom agent flush"};
}

Result<Outbox::Held> Outbox::put(const Letter& letter) const {
  const std::string text = format_letter(letter);
  FATHOM_TRY(check_room(text.size()));
  const std::string stem = fmt::format("{:020}-{}", now_realtime_ns(), random_id().substr(0, 8));
  const std::string draft = stem + std::string(kDraft);
  FATHOM_ASSIGN(File file, folder_.create(draft));
  (void)::flock(file.fd(), LOCK_EX | LOCK_NB);  // nobody else knows it yet
  Status kept = file.write_all(text);
  if (kept) kept = file.sync();
  const std::string name = stem + std::string(kEnding);
  if (kept) kept = folder_.rename(draft, folder_, name);
  if (kept && ::fsync(folder_.fd()) != 0) kept = os_error(errno, "sync " + path());
  if (!kept) {
    (void)folder_.remove(draft);
    return kept.error();
  }
  return Held{name, std::move(file)};
}

void Outbox::remove(const Held& held) const { (void)folder_.remove(held.name); }

std::string Outbox::set_aside(const Held& held) const {
  const std::string name = held.name + std::string(kAside);
  return folder_.rename(held.name, folder_, name) ? folder_.path_of(name)
                                                  : folder_.path_of(held.name);
}

Status Outbox::each_waiting(const Takes& take, std::vector<std::string>& damaged) const {
  FATHOM_ASSIGN(const std::vector<std::string> names, folder_.names());
  for (const std::string& name : names) {
    if (name.ends_with(kDraft)) remove_stale(folder_, name);
    if (!name.ends_with(kEnding)) continue;
    const std::optional<Held> held = hold(folder_, name);
    if (!held) continue;
    const Result<Letter> letter = read(held->file);
    if (!letter) {
      damaged.push_back(set_aside(*held));
      continue;
    }
    FATHOM_TRY(take(*held, *letter));
  }
  return {};
}

}  // namespace fathom::fleet
