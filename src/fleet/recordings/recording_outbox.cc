// SPDX-License-Identifier: MIT
// A recording goes through folder names: NAME.draft while it is made, NAME when it waits,
// NAME.aside when a server refused it. Renaming is what moves it from one state to the next.
#include "fleet/recordings/recording_outbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "base/ids.h"
#include "base/os_error.h"
#include "base/own_file.h"
#include "base/private_files.h"
#include "base/text.h"
#include "fleet/client_numbers.h"
#include "fleet/model.h"
#include "fleet/sha256.h"

namespace fathom::fleet {
namespace {

constexpr std::string_view kDraft = ".draft";
constexpr std::string_view kAside = ".aside";
constexpr char kRecording[] = "recording";
constexpr char kPlace[] = "place";
constexpr std::size_t kMostPlaceBytes = 4096;
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;
constexpr std::time_t kYoung = 3600;  // seconds: its agent may not have locked it yet

// nullptr: another process has it, or it is gone. flock on the folder itself needs no file beside
// it, and ends with the process. Looked at after the lock: whoever had it before may have sent and
// removed the folder (no link is left then).
std::shared_ptr<const Fd> lock_of(const std::string& path) {
  auto fd = std::make_shared<const Fd>(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd->valid() || ::flock(fd->get(), LOCK_EX | LOCK_NB) != 0) return nullptr;
  struct stat facts {};
  return ::fstat(fd->get(), &facts) == 0 && facts.st_nlink > 0 ? fd : nullptr;
}

std::uint64_t bytes_below(const Directory& directory, int depth) {
  constexpr int kDeepest = 8;
  std::uint64_t sum = 0;
  const Result<std::vector<std::string>> names = directory.names();
  if (!names || depth > kDeepest) return sum;
  for (const std::string& name : *names) {
    struct stat facts {};
    if (::fstatat(directory.fd(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    sum += static_cast<std::uint64_t>(facts.st_size);
    if (const Result<Directory> below = directory.directory(name))
      sum += bytes_below(*below, depth + 1);
  }
  return sum;
}

// Asking again later can help.
bool may_pass(Code code) {
  return code == Code::kUnavailable || code == Code::kFull || code == Code::kDenied ||
         code == Code::kIo;
}

// A draft whose agent has died. Young ones are left alone: between making and locking it the agent
// holds nothing.
void remove_stale(const Directory& folder, const std::string& name) {
  struct stat facts {};
  if (::fstatat(folder.fd(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (std::time(nullptr) - facts.st_mtim.tv_sec < kYoung) return;
  if (lock_of(folder.path_of(name))) (void)remove_tree(folder.path_of(name));
}

}  // namespace

Result<RecordingOutbox> RecordingOutbox::open(const std::string& folder) {
  const std::string path = join_path(folder, "outbox-recordings");
  FATHOM_TRY(make_dirs(folder));
  if (!path_exists(path)) {
    const Status made = make_private_dir(path);
    if (!made && !is_directory(path)) return made.error();  // another agent may have been first
  }
  if (!is_private_directory(path))
    return Error{Code::kDenied, escape_control(path) + " is not this user's alone",
                 "chmod 700 " + escape_control(shell_quote(path))};
  FATHOM_ASSIGN(Directory opened, Directory::open(path));
  return RecordingOutbox(std::move(opened));
}

std::string RecordingOutbox::Draft::directory() const {
  return join_path(place_.path(), kRecording);
}

// The recording is made inside the outbox, so that renaming is enough to hand it over: no copy of
// gigabytes, and on no disk but this.
Result<RecordingOutbox::Draft> RecordingOutbox::begin(const std::string& name) const {
  Draft draft;
  draft.name_ = name;
  FATHOM_ASSIGN(draft.place_, ScratchDirectory::make(folder_.path_of(name + std::string(kDraft))));
  draft.lock_ = lock_of(draft.place_.path());
  if (!draft.lock_) return os_error(errno, "lock " + draft.place_.path());
  return draft;
}

// When it is complete, not before: nobody knows how large a recording becomes, and the program must
// run in any case.
Status RecordingOutbox::check_room(const std::string& draft) const {
  const std::uint64_t bytes = bytes_below(folder_, 0);
  if (bytes <= kMostBytes) return {};
  return Error{Code::kFull,
               "the outbox " + escape_control(folder_.path()) +
                   " is full: " + escape_control(draft) + " is not kept",
               "let the server run and send it with: fathom agent flush"};
}

Status RecordingOutbox::finish(Draft draft, const std::string& place) const {
  FATHOM_TRY(check_room(draft.name_));
  FATHOM_ASSIGN(const Directory entry, Directory::open(draft.place_.path()));
  FATHOM_TRY(entry.write_atomic(kPlace, place + "\n"));
  FATHOM_TRY(folder_.rename(draft.name_ + std::string(kDraft), folder_, draft.name_));
  draft.place_.keep();
  return {};
}

// Once the server was away, the others are not tried: each would wait for its limit of time again.
// kExists is a success: an earlier attempt came through and its answer was lost.
void RecordingOutbox::settle(RecordingStore& store, const std::string& name,
                             RecordingDelivery& delivery) const {
  const std::string path = folder_.path_of(name);
  Status sent = delivery.away && delivery.away->code == Code::kUnavailable
                    ? Status(*delivery.away)
                    : add_recording(store, name, join_path(path, kRecording));
  if (sent || sent.error().code == Code::kExists) {
    delivery.delivered.push_back(name);
    (void)remove_tree(path);
    return;
  }
  if (may_pass(sent.error().code)) {
    ++delivery.waiting;
    delivery.away = std::move(sent).error();
    return;
  }
  const std::string aside = name + std::string(kAside);
  (void)folder_.rename(name, folder_, aside);
  delivery.refused.push_back("recording " + name + " was refused and is kept in " +
                             folder_.path_of(aside) + ": " + sent.error().message);
}

Status RecordingOutbox::send_waiting(RecordingStore& store, const std::vector<std::string>& labels,
                                     RecordingDelivery& delivery) const {
  FATHOM_ASSIGN(const std::vector<std::string> names, folder_.names());
  for (const std::string& name : names) {
    if (name.ends_with(kDraft)) remove_stale(folder_, name);
    if (name.ends_with(kDraft) || name.ends_with(kAside) || !is_job_name(name)) continue;
    const Result<Directory> entry = folder_.directory(name);
    const std::shared_ptr<const Fd> lock = lock_of(folder_.path_of(name));
    if (!entry || !lock) continue;  // somebody else sends it
    const Result<std::string> place = entry->read_whole(kPlace, kMostPlaceBytes);
    if (!place || std::ranges::find(labels, trim(*place)) == labels.end()) {
      ++delivery.elsewhere;
      continue;
    }
    settle(store, name, delivery);
  }
  return {};
}

// A work of a suite that is done again gives its recording the same name, so that the second
// replaces nothing and adds nothing. All others get a name that nobody else has.
std::string new_recording_name(const std::string& job) {
  const std::string front = job.substr(0, 40) + "-";
  if (const std::optional<BatchId> work = batch_of_work(1)) {
    Sha256 hash;
    hash.add(job + "/" + work->client);
    return front + hash.hex().substr(0, 16);
  }
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char time[32] = "";
  if (::gmtime_r(&now, &parts) != nullptr)
    (void)std::strftime(time, sizeof time, "%Y%m%dT%H%M%S", &parts);
  return front + time + "-" + random_id().substr(0, 6);
}

}  // namespace fathom::fleet
