// SPDX-License-Identifier: MIT
// From a directory of this machine into a store of recordings: hashes first, then only the contents
// that the store does not have, then the manifest, which makes it a recording. What breaks off in
// between leaves contents without a name, which the store removes after a while, and is quick to
// begin again.
#include <sys/stat.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/directory.h"
#include "base/text.h"
#include "fleet/recordings/recording_store.h"
#include "fleet/sha256.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20U;

// Calls `take` with one piece after the other.
template <class Take>
Status each_piece(const File& file, const Take& take) {
  std::string piece(kPiece, '\0');
  for (std::uint64_t at = 0;;) {
    FATHOM_ASSIGN(const std::size_t got,
                  file.pread_some(std::as_writable_bytes(std::span(piece)), at));
    if (got == 0) return {};
    FATHOM_TRY(take(std::string_view(piece).substr(0, got)));
    at += got;
  }
}

struct Found {
  RecordedFile facts;
  File file;
};

Result<Found> look_at(const Directory& directory, const std::string& name,
                      const std::string& inside) {
  FATHOM_ASSIGN(File file, directory.read(name));
  Sha256 hash;
  std::uint64_t size = 0;
  FATHOM_TRY(each_piece(file, [&](std::string_view piece) -> Status {
    hash.add(piece);
    size += piece.size();
    return {};
  }));
  return Found{{inside, size, hash.hex()}, std::move(file)};
}

Error not_packed(const std::string& path) {
  return {Code::kInvalid, escape_control(path) + " is not packed yet",
          "when nothing is recorded there any more: fathom collect " +
              escape_control(shell_quote(path))};
}

Status find_files(const Directory& directory, const std::string& inside, int depth,
                  std::vector<Found>& found) {
  constexpr int kDeepest = 8;
  if (depth > kDeepest)
    return Error{Code::kCorrupt, directory.path() + " is too deep for a recording", ""};
  FATHOM_ASSIGN(const std::vector<std::string> names, directory.names());
  for (const std::string& name : names) {
    const std::string path = inside.empty() ? name : join_path(inside, name);
    if (is_unpacked(name)) return not_packed(directory.path());
    if (directory.has_directory(name)) {
      FATHOM_ASSIGN(const Directory below, directory.directory(name));
      FATHOM_TRY(find_files(below, path, depth + 1, found));
    } else {
      FATHOM_ASSIGN(Found one, look_at(directory, name, path));
      found.push_back(std::move(one));
    }
  }
  return {};
}

}  // namespace

Status add_recording(RecordingStore& store, const std::string& name, const std::string& directory) {
  FATHOM_ASSIGN(const Directory root, Directory::open(directory));
  std::vector<Found> found;
  FATHOM_TRY(find_files(root, "", 1, found));
  if (found.empty()) return Error{Code::kNotFound, escape_control(directory) + " is empty", ""};
  RecordingManifest manifest{name, {}};
  std::map<std::string, const Found*> contents;
  for (const Found& one : found) {
    manifest.files.push_back(one.facts);
    contents[one.facts.sha256] = &one;
  }
  FATHOM_ASSIGN(manifest, parse_manifest(to_json(manifest)));
  FATHOM_ASSIGN(const std::vector<RecordedFile> missing, store.missing(manifest));
  for (const RecordedFile& file : missing) {
    const auto wanted = contents.find(file.sha256);  // a server may ask for anything
    if (wanted == contents.end()) continue;
    FATHOM_TRY(store.send(wanted->second->facts, wanted->second->file));
  }
  return store.publish(manifest);
}

}  // namespace fathom::fleet
