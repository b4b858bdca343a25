// SPDX-License-Identifier: MIT
// A server is not trusted: names are checked by parse_manifest(), sizes are held against what is
// free here, more or fewer bytes than were asked for are an error, and so is a wrong hash.
#include "fleet/recordings/far_recording.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/directory.h"
#include "base/ids.h"
#include "base/os_error.h"
#include "base/private_files.h"
#include "base/text.h"
#include "fleet/recordings/far_word.h"
#include "fleet/sha256.h"
#include "fleet/user_folders.h"
#include "trace/recording/manifest.h"
#include "trace/recording/parquet_file.h"

namespace fathom::fleet {
namespace {

constexpr std::uint64_t kSmall = 64U << 10;  // comes at once, in one answer
constexpr std::uint64_t kLargestManifestFile = 64U << 20;
constexpr std::uint64_t kLargestFooter = 64U << 20;
constexpr std::uint64_t kMargin = 64U << 20;  // of the disk: never filled to the last byte
constexpr std::uint64_t kCacheBytes = std::uint64_t{8} << 30;
constexpr std::string_view kMark = "PAR1";  // at both ends of a Parquet file

Error changed(const RecordedFile& file) {
  return {Code::kCorrupt, escape_control(file.name) + " does not match its SHA-256: it was changed",
          "try again; if it stays, add the recording to the server once more"};
}

Status write_at(const File& file, std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done =
        ::pwrite(file.fd(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return os_error(done == 0 ? ENOSPC : errno, "write " + file.path());
    bytes.remove_prefix(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return {};
}

// The directory of a file, made where it is missing.
Result<Directory> folder_of(const std::string& root, std::string_view name) {
  FATHOM_ASSIGN(Directory at, Directory::open(root));
  const std::vector<std::string_view> steps = split(name, '/');
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const std::string step(steps[i]);
    if (::mkdirat(at.fd(), step.c_str(), S_IRWXU) != 0 && errno != EEXIST)
      return os_error(errno, "make " + at.path_of(step));
    FATHOM_ASSIGN(at, at.directory(step));
  }
  return at;
}

bool has_unpacked(const RecordingManifest& manifest) {
  return std::ranges::any_of(manifest.files, [](const RecordedFile& file) {
    return std::ranges::any_of(split(file.name, '/'), is_unpacked);
  });
}

std::uint32_t little_endian(std::string_view four) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value |= std::uint32_t{static_cast<unsigned char>(four[i])} << (8 * i);
  return value;
}

Result<CacheRoom> temporary_room() {
  FATHOM_ASSIGN(ScratchDirectory place, ScratchDirectory::make(join_path(
                                            scratch_directory(), "fathom-far-" + random_id())));
  return CacheRoom{std::move(place), nullptr};
}

}  // namespace

FarRecording::FarRecording(std::unique_ptr<RecordingStore> store, RecordingManifest manifest,
                           std::optional<ContentCache> cache, CacheRoom room)
    : store_(std::move(store)),
      manifest_(std::move(manifest)),
      cache_(std::move(cache)),
      room_(std::move(room)) {}

Result<std::shared_ptr<FarRecording>> FarRecording::open(std::unique_ptr<RecordingStore> store,
                                                         const std::string& name,
                                                         std::optional<ContentCache> cache) {
  FATHOM_ASSIGN(RecordingManifest manifest, store->manifest(name));
  if (has_unpacked(manifest))
    return Error{Code::kUnsupported, "recording '" + name + "' was not packed before it was sent",
                 "where it was recorded: fathom collect DIR, then add it again"};
  FATHOM_ASSIGN(CacheRoom room, cache ? cache->make_room() : temporary_room());
  std::shared_ptr<FarRecording> far(
      new FarRecording(std::move(store), std::move(manifest), std::move(cache), std::move(room)));
  FATHOM_TRY(far->begin());
  analysis::add_far_rows(far->directory(), far);
  return far;
}

// Files that no reader opens are left where they are.
Status FarRecording::begin() {
  for (const RecordedFile& file : manifest_.files) {
    const std::string_view name = base_name(file.name);
    const std::optional<trace::ParquetName> parquet = trace::parse_parquet_name(name);
    if (!parquet && name != trace::kManifestFile) continue;
    parts_.push_back({file, parquet ? parquet->table : "", false});
    FATHOM_TRY(begin_file(parts_.back()));
  }
  return {};
}

Status FarRecording::begin_file(Part& part) {
  FATHOM_ASSIGN(const Directory folder, folder_of(directory(), part.facts.name));
  const std::string name(base_name(part.facts.name));
  part.is_whole = cache_ && cache_->take(part.facts, folder, name);
  if (part.is_whole) return {};
  if (part.table.empty() && part.facts.size > kLargestManifestFile)
    return Error{Code::kCorrupt, escape_control(part.facts.name) + " is too large", ""};
  if (part.table.empty() || part.facts.size <= kSmall) return fetch(part);
  return make_hollow(part, folder);
}

// With the size of the whole, and with Parquet's footer.
// A file of the right length whose middle is a hole: DuckDB reads a Parquet file from its end, and
// opens it as any other. Rows of the hole are fetched before a question may read them (bring).
Status FarRecording::make_hollow(const Part& part, const Directory& folder) {
  const std::uint64_t size = part.facts.size;
  FATHOM_ASSIGN(const std::string end,
                store_->read(manifest_.name, part.facts, size - kSmall, kSmall));
  const std::string_view last = std::string_view(end).substr(end.size() - 8);
  const std::uint64_t footer = std::uint64_t{little_endian(last)} + 8;
  FATHOM_ASSIGN(const File file, folder.create(base_name(part.facts.name)));
  if (::ftruncate(file.fd(), static_cast<off_t>(size)) != 0)
    return os_error(errno, "make " + file.path());
  FATHOM_TRY(write_at(file, 0, kMark));
  FATHOM_TRY(write_at(file, size - kSmall, end));
  if (footer <= kSmall || last.substr(4) != kMark) return {};
  if (footer > kLargestFooter || footer > size)
    return Error{Code::kCorrupt, escape_control(part.facts.name) + " is not a Parquet file", ""};
  for (std::uint64_t at = size - footer; at < size - kSmall;) {
    const auto length = static_cast<std::size_t>(
        std::min<std::uint64_t>(RecordingStore::kMostRead, size - kSmall - at));
    FATHOM_ASSIGN(const std::string piece, store_->read(manifest_.name, part.facts, at, length));
    FATHOM_TRY(write_at(file, at, piece));
    at += length;
  }
  return {};
}

// Before the first byte: a disk that is full is full for everybody.
Status FarRecording::check_space(std::uint64_t bytes) const {
  FATHOM_ASSIGN(const std::uint64_t room, free_space(directory()));
  if (bytes <= room && room - bytes >= kMargin) return {};
  return Error{Code::kFull,
               "the question needs " + human_bytes(static_cast<double>(bytes)) +
                   " of the recording, and " + directory() + " has " +
                   human_bytes(static_cast<double>(room)) + " left",
               "set XDG_CACHE_HOME to a directory on a larger disk"};
}

// In place: the database may have opened the file when only its end was there.
Status FarRecording::fetch(Part& part) {
  FATHOM_TRY(check_space(part.facts.size));
  FATHOM_ASSIGN(const Directory folder, folder_of(directory(), part.facts.name));
  const std::string name(base_name(part.facts.name));
  FATHOM_ASSIGN(File file, folder.open_file(name, O_RDWR | O_CREAT));
  Sha256 hash;
  for (std::uint64_t at = 0; at < part.facts.size;) {
    const auto length = static_cast<std::size_t>(
        std::min<std::uint64_t>(RecordingStore::kMostRead, part.facts.size - at));
    FATHOM_ASSIGN(const std::string piece, store_->read(manifest_.name, part.facts, at, length));
    hash.add(piece);
    FATHOM_TRY(write_at(file, at, piece));
    at += length;
  }
  if (hash.hex() != part.facts.sha256) return changed(part.facts);
  part.is_whole = true;
  if (!cache_) return {};
  FATHOM_TRY(file.sync());  // what is kept must be whole after a crash, too
  cache_->keep(part.facts, folder, name);
  return {};
}

Status FarRecording::bring(const std::set<std::string>& tables) {
  const std::lock_guard lock(mutex_);
  const auto is_wanted = [&](const Part& part) {
    return !part.is_whole && tables.contains(part.table);
  };
  std::uint64_t bytes = 0;
  for (const Part& part : parts_) bytes += is_wanted(part) ? part.facts.size : 0;
  if (bytes > 0) FATHOM_TRY(check_space(bytes));
  for (Part& part : parts_) {
    if (is_wanted(part)) FATHOM_TRY(fetch(part));
  }
  return {};
}

analysis::FarRows::Size FarRecording::size() const {
  return {static_cast<std::int64_t>(manifest_.files.size()),
          static_cast<std::int64_t>(manifest_.bytes())};
}

Result<std::shared_ptr<FarRecording>> open_far_recording(const std::string& word) {
  FATHOM_ASSIGN(const FarWord far, parse_far_word(word));
  FATHOM_ASSIGN(const StorePlace place, find_store({.server = far.server, .token_file = {}}));
  FATHOM_ASSIGN(std::unique_ptr<RecordingStore> store, open_recordings(place));
  std::optional<ContentCache> cache;
  if (const Result<std::string> folder = cache_folder()) {
    Result<ContentCache> opened = ContentCache::open(join_path(*folder, "recordings"), kCacheBytes);
    if (opened) cache = std::move(*opened);
  }
  Result<std::shared_ptr<FarRecording>> opened =
      FarRecording::open(std::move(store), far.name, std::move(cache));
  if (!opened && opened.error().code == Code::kNotFound)
    return Error{Code::kNotFound, escape_control(word) + ": there is no such recording",
                 "'fathom job recordings' lists those that there are"};
  if (!opened && opened.error().code == Code::kDenied)
    return Error{Code::kDenied, opened.error().message,
                 "set FATHOM_TOKEN to a token of that server with the role read"};
  return opened;
}

}  // namespace fathom::fleet
