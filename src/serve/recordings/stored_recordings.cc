// SPDX-License-Identifier: MIT
// Directories are named by numbers: a name that is published again with other contents is laid out
// anew, while somebody may still read the old one.
#include "serve/recordings/stored_recordings.h"

#include <fcntl.h>
#include <sys/file.h>

#include <utility>

#include "base/directory.h"
#include "base/escape.h"
#include "base/ids.h"
#include "base/os_error.h"
#include "base/private_files.h"
#include "fleet/model.h"

namespace fathom::serve {
namespace {

constexpr std::string_view kPrefix = "opened-";
constexpr char kLock[] = "lock";

// Whoever holds the lock uses the directory; the lock goes with its process.
Result<File> lock_in(const std::string& room) {
  FATHOM_ASSIGN(const Directory directory, Directory::open_beneath(room));
  FATHOM_ASSIGN(File lock, directory.open_file(kLock, O_RDWR | O_CREAT));
  if (::flock(lock.fd(), LOCK_EX | LOCK_NB) != 0) return os_error(errno, "lock " + lock.path());
  return lock;
}

void remove_left_over(const std::string& data) {
  const Result<std::vector<std::string>> names = list_dir(data);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(kPrefix)) continue;
    const std::string path = join_path(data, name);
    if (const Result<File> lock = lock_in(path)) (void)remove_tree(path);
  }
}

}  // namespace

Result<std::unique_ptr<StoredRecordings>> StoredRecordings::open(fleet::Recordings& recordings,
                                                                 const std::string& data) {
  remove_left_over(data);
  FATHOM_ASSIGN(ScratchDirectory room,
                ScratchDirectory::make(join_path(data, std::string(kPrefix) + random_id())));
  FATHOM_ASSIGN(File lock, lock_in(room.path()));
  return std::unique_ptr<StoredRecordings>(
      new StoredRecordings(recordings, std::move(room), std::move(lock)));
}

Result<std::string> StoredRecordings::lay_out(const std::string& name) {
  FATHOM_ASSIGN(fleet::RecordingManifest manifest, recordings_->manifest(name));
  const std::scoped_lock lock(mutex_);
  LaidOut& known = laid_out_[name];
  if (!known.path.empty() && known.manifest == manifest) return known.path;
  if (!known.path.empty()) (void)remove_tree(known.path);
  const std::string path = join_path(room_.path(), std::to_string(++number_));
  FATHOM_TRY(make_private_dir(path));
  FATHOM_ASSIGN(const Directory directory, Directory::open_beneath(path));
  FATHOM_TRY(recordings_->lay_out(name, directory));
  known = {path, std::move(manifest)};
  return path;
}

Result<std::vector<KnownRecording>> StoredRecordings::list() {
  FATHOM_ASSIGN(const std::vector<std::string> names, recordings_->names());
  std::vector<KnownRecording> all;
  for (const std::string& name : names) {
    // One that was removed just now, or is damaged, is shown as such when its card is read.
    Result<std::string> path = lay_out(name);
    all.push_back({name, name, path ? std::move(*path) : join_path(room_.path(), "none")});
  }
  return all;
}

Result<KnownRecording> StoredRecordings::find(const std::string& id) {
  std::string name = id;
  if (name.empty()) {
    FATHOM_ASSIGN(const std::vector<std::string> names, recordings_->names());
    if (names.empty()) return Error{Code::kNotFound, "this server keeps no recording yet", ""};
    name = names.front();
  }
  if (!fleet::is_job_name(name))
    return Error{Code::kNotFound,
                 "there is no recording '" + escape_name(name.substr(0, 100)) + "'",
                 "/api/v1/page lists them"};
  FATHOM_ASSIGN(std::string path, lay_out(name));
  return KnownRecording{name, name, std::move(path)};
}

}  // namespace fathom::serve
