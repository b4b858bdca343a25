// SPDX-License-Identifier: MIT
// Whoever publishes or removes holds the lock of the directory, so that no manifest is published
// while its contents go. Reading and uploading need none.
#include "fleet/recordings/recordings.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <set>
#include <utility>

#include "base/hex.h"
#include "base/os_error.h"
#include "base/private_files.h"
#include "base/text.h"
#include "fleet/model.h"
#include "trace/recording/manifest.h"
#include "trace/recording/parquet_file.h"

namespace fathom::fleet {
namespace {

constexpr std::string_view kSuffix = ".json";
constexpr mode_t kReadOnly = 0400;

Error no_such(const std::string& name) {
  return {Code::kNotFound, "no recording '" + escape_control(name.substr(0, 80)) + "'", ""};
}

// A full disk is not the uploader's fault, and may pass.
Error full_or(Error error) {
  if (error.message.find("the disk is full") != std::string::npos) error.code = Code::kFull;
  return error;
}

Result<Directory> inner(const Directory& parent, const char* name) {
  if (::mkdirat(parent.fd(), name, S_IRWXU) != 0 && errno != EEXIST)
    return full_or(os_error(errno, "make " + parent.path_of(name)));
  return parent.directory(name);
}

// The directory of a file of a recording, made where it is missing. The name was checked when its
// manifest was read.
Result<Directory> folder_of(Directory at, std::string_view name) {
  const std::vector<std::string_view> steps = split(name, '/');
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    FATHOM_ASSIGN(at, inner(at, std::string(steps[i]).c_str()));
  }
  return at;
}

// Between processes: a server and commands of its user may have one store open.
class Lock {
 public:
  static Result<Lock> take(const Directory& root) {
    FATHOM_ASSIGN(File file, root.open_file("lock", O_RDWR | O_CREAT));
    while (::flock(file.fd(), LOCK_EX) != 0)
      if (errno != EINTR) return os_error(errno, "lock " + file.path());
    return Lock(std::move(file));
  }

 private:
  explicit Lock(File file) : file_(std::move(file)) {}
  File file_;  // closing it unlocks
};

bool is_older(const struct stat& facts, std::chrono::seconds age) {
  return std::time(nullptr) - facts.st_mtim.tv_sec >= age.count();
}

// Calls `see(shelf, name, facts)` for every content.
template <class See>
Status each_content(const Directory& contents, const See& see) {
  FATHOM_ASSIGN(const std::vector<std::string> shelves, contents.names());
  for (const std::string& name : shelves) {
    const Result<Directory> shelf = contents.directory(name);
    if (!shelf) continue;
    FATHOM_ASSIGN(const std::vector<std::string> hashes, shelf->names());
    for (const std::string& hash : hashes) {
      struct stat facts {};
      if (::fstatat(shelf->fd(), hash.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0)
        see(*shelf, hash, facts);
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Recordings>> Recordings::open(const std::string& path,
                                                     const RecordingLimits& limits) {
  if (!path_exists(path)) FATHOM_TRY(make_private_dir(path));
  FATHOM_ASSIGN(Directory root, Directory::open(path));
  FATHOM_ASSIGN(Directory contents, inner(root, "contents"));
  FATHOM_ASSIGN(Directory manifests, inner(root, "manifests"));
  FATHOM_ASSIGN(Directory incoming, inner(root, "incoming"));
  std::unique_ptr<Recordings> store(new Recordings(std::move(contents), std::move(manifests),
                                                   std::move(incoming), std::move(root), limits));
  FATHOM_TRY(store->measure());
  return store;
}

Status Recordings::measure() {
  std::uint64_t sum = 0;
  FATHOM_TRY(
      each_content(contents_, [&](const Directory&, const std::string&, const struct stat& facts) {
        sum += static_cast<std::uint64_t>(facts.st_size);
      }));
  const std::lock_guard lock(mutex_);
  used_ = sum;
  return {};
}

std::uint64_t Recordings::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

Status Recordings::reserve(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (limits_.budget != 0 && (bytes > limits_.budget || used_ > limits_.budget - bytes))
    return Error{Code::kFull,
                 "recordings may take " + human_bytes(static_cast<double>(limits_.budget)) +
                     " and have " + human_bytes(static_cast<double>(used_)),
                 "remove some, or give them more room"};
  used_ += bytes;
  return {};
}

void Recordings::release(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= std::min(used_, bytes);
}

Result<Directory> Recordings::shelf(std::string_view sha256, bool make) const {
  const std::string name(sha256.substr(0, 2));
  return make ? inner(contents_, name.c_str()) : contents_.directory(name);
}

Result<File> Recordings::open_content(const RecordedFile& file) const {
  FATHOM_ASSIGN(const Directory place, shelf(file.sha256, false));
  FATHOM_ASSIGN(File content, place.read(file.sha256));
  FATHOM_ASSIGN(const std::uint64_t size, content.size());
  if (size != file.size)
    return Error{Code::kCorrupt,
                 content.path() + " has " + std::to_string(size) + " bytes, not " +
                     std::to_string(file.size),
                 ""};
  return content;
}

Result<std::vector<std::string>> Recordings::names() const {
  FATHOM_ASSIGN(std::vector<std::string> files, manifests_.names());
  std::vector<std::string> names;
  for (std::string& file : files) {
    if (!file.ends_with(kSuffix)) continue;
    file.resize(file.size() - kSuffix.size());
    if (is_job_name(file)) names.push_back(std::move(file));
  }
  return names;
}

Result<RecordingManifest> Recordings::manifest(const std::string& name) const {
  if (!is_job_name(name)) return no_such(name);
  Result<std::string> text = manifests_.read_whole(name + std::string(kSuffix), kLargestManifest);
  if (!text && text.error().code == Code::kNotFound) return no_such(name);
  if (!text) return std::move(text).error();
  Result<RecordingManifest> manifest = parse_manifest(*text);
  if (!manifest) return Error{Code::kCorrupt, name + ": " + manifest.error().message, ""};
  return manifest;
}

// Contents that are there are made young again, so that they are not collected meanwhile.
Result<std::vector<RecordedFile>> Recordings::missing(const RecordingManifest& manifest) const {
  std::vector<RecordedFile> missing;
  std::set<std::string_view> seen;
  for (const RecordedFile& file : manifest.files) {
    if (!seen.insert(file.sha256).second) continue;
    const Result<File> content = open_content(file);
    if (content && ::futimens(content->fd(), nullptr) == 0) continue;
    if (!content && content.error().code != Code::kNotFound) return content.error();
    missing.push_back(file);
  }
  return missing;
}

Result<std::unique_ptr<ContentUpload>> Recordings::upload(const std::string& sha256,
                                                          std::uint64_t size) {
  if (!Sha256::is_hex(sha256))
    return Error{Code::kInvalid, "sha256: 64 hexadecimal digits are needed", ""};
  if (size > limits_.largest_file)
    return Error{Code::kInvalid,
                 "a file may have " + human_bytes(static_cast<double>(limits_.largest_file)), ""};
  FATHOM_TRY(reserve(size));
  static std::atomic<std::uint64_t> uploads =
      0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables : names)
  struct timespec now {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::string temporary = sha256.substr(0, 16) + "-" + std::to_string(::getpid()) + "-" +
                                std::to_string(now.tv_nsec) + "-" + std::to_string(uploads++);
  Result<File> file = incoming_.open_file(temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) {
    release(size);
    return full_or(std::move(file).error());
  }
  return std::unique_ptr<ContentUpload>(
      new ContentUpload(*this, std::move(*file), temporary, {"", size, sha256}));
}

Status Recordings::publish(const RecordingManifest& given) {
  FATHOM_ASSIGN(const RecordingManifest manifest, parse_manifest(to_json(given)));
  FATHOM_ASSIGN(const Lock lock, Lock::take(root_));
  for (const RecordedFile& file : manifest.files) {
    Result<File> content = open_content(file);
    if (!content) return std::move(content).error().with(file.name);
  }
  const std::string name = manifest.name + std::string(kSuffix);
  const Result<RecordingManifest> there = this->manifest(manifest.name);
  if (there && *there == manifest) return {};
  if (there || there.error().code != Code::kNotFound)
    return Error{Code::kExists, "a recording '" + manifest.name + "' exists", "give another name"};
  Status written = manifests_.write_atomic(name, to_json(manifest));
  if (!written) return full_or(std::move(written).error());
  return {};
}

Result<File> Recordings::open(const std::string& name, std::string_view file) const {
  FATHOM_ASSIGN(const RecordingManifest manifest, this->manifest(name));
  const RecordedFile* facts = manifest.find(file);
  if (facts == nullptr)
    return Error{
        Code::kNotFound,
        "recording '" + name + "' has no file '" + escape_control(file.substr(0, 80)) + "'", ""};
  return open_content(*facts);
}

Status Recordings::lay_out(const std::string& name, const Directory& directory) const {
  FATHOM_ASSIGN(const RecordingManifest manifest, this->manifest(name));
  for (const RecordedFile& file : manifest.files) {
    const std::string last(base_name(file.name));
    if (last != trace::kManifestFile && !trace::parse_parquet_name(last)) continue;
    FATHOM_TRY(open_content(file));  // is there, with its size
    FATHOM_ASSIGN(const Directory place, shelf(file.sha256, false));
    FATHOM_ASSIGN(const Directory folder, folder_of(directory, file.name));
    if (::linkat(place.fd(), file.sha256.c_str(), folder.fd(), last.c_str(), 0) != 0)
      return os_error(errno, "lay out " + folder.path_of(last));
  }
  return {};
}

Status Recordings::remove(const std::string& name) {
  if (!is_job_name(name)) return no_such(name);
  {
    FATHOM_ASSIGN(const Lock lock, Lock::take(root_));
    if (!manifests_.remove(name + std::string(kSuffix))) return no_such(name);
  }
  FATHOM_TRY(collect());
  return {};
}

Result<std::uint64_t> Recordings::collect() {
  FATHOM_ASSIGN(const Lock lock, Lock::take(root_));
  std::set<std::string> wanted;
  FATHOM_ASSIGN(const std::vector<std::string> all, names());
  for (const std::string& name : all) {
    // One that cannot be read may want anything: then nothing is collected.
    FATHOM_ASSIGN(const RecordingManifest manifest, this->manifest(name));
    for (const RecordedFile& file : manifest.files) wanted.insert(file.sha256);
  }
  std::uint64_t freed = 0;
  FATHOM_TRY(each_content(
      contents_, [&](const Directory& shelf, const std::string& hash, const struct stat& facts) {
        if (wanted.contains(hash) || !is_older(facts, limits_.unused)) return;
        if (shelf.remove(hash)) freed += static_cast<std::uint64_t>(facts.st_size);
      }));
  FATHOM_ASSIGN(const std::vector<std::string> halves, incoming_.names());
  constexpr std::chrono::hours kForgotten{24};
  for (const std::string& half : halves) {
    struct stat facts {};
    if (::fstatat(incoming_.fd(), half.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
        is_older(facts, kForgotten))
      incoming_.remove(half);
  }
  release(freed);
  return freed;
}

ContentUpload::ContentUpload(Recordings& owner, File file, std::string temporary,
                             RecordedFile facts)
    : owner_(&owner),
      file_(std::move(file)),
      temporary_(std::move(temporary)),
      facts_(std::move(facts)) {}

ContentUpload::~ContentUpload() {
  if (is_kept_) return;
  owner_->incoming_.remove(temporary_);
  owner_->release(facts_.size);
}

Status ContentUpload::write(std::string_view bytes) {
  if (bytes.size() > facts_.size - written_)
    return Error{Code::kInvalid,
                 "more than the " + std::to_string(facts_.size) + " bytes that were announced", ""};
  Status written = file_.write_all(bytes);
  if (!written) return full_or(std::move(written).error());
  written_ += bytes.size();
  hash_.add(bytes);
  return {};
}

Status ContentUpload::finish() {
  if (written_ != facts_.size)
    return Error{Code::kInvalid,
                 std::to_string(written_) + " bytes instead of the " + std::to_string(facts_.size) +
                     " that were announced",
                 ""};
  if (hash_.hex() != facts_.sha256)
    return Error{Code::kInvalid, "the content does not have the announced sha256", "send it again"};
  if (::fchmod(file_.fd(), kReadOnly) != 0) return os_error(errno, "chmod " + file_.path());
  Status synced = file_.sync();
  if (!synced) return full_or(std::move(synced).error());
  return owner_->keep(*this);
}

// Two may bring the same content at the same time: the second finds it and goes.
Status Recordings::keep(ContentUpload& upload) {
  FATHOM_ASSIGN(const Directory place, shelf(upload.facts_.sha256, true));
  if (place.has_file(upload.facts_.sha256)) return {};
  FATHOM_TRY(incoming_.rename(upload.temporary_, place, upload.facts_.sha256));
  if (::fsync(place.fd()) != 0) return full_or(os_error(errno, "sync " + place.path()));
  upload.is_kept_ = true;
  return {};
}

}  // namespace fathom::fleet
