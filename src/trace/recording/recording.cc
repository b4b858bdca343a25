// SPDX-License-Identifier: MIT
// Finds recordings below a directory and explains paths that hold none. Opening the parts
// themselves is in part_reader.cc.
#include "trace/recording/recording.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/directory.h"
#include "base/os_error.h"
#include "base/text.h"
#include "trace/recording/part_reader.h"
#include "trace/spool/spool.h"

namespace fathom::trace {
namespace {

constexpr int kDeepestSearch = 4;

bool has_spool(const Directory& directory) {
  const Result<Directory> spool = directory.directory(kSpoolDirectory);
  return spool && spool->has(FATHOM_RUN_FILE);
}

bool is_recording(const Directory& directory) {
  return directory.has(kManifestFile) || has_spool(directory);
}

// Paths from `top` on; "" is top itself.
void find_below(const Directory& directory, const std::string& path, int depth,
                std::vector<std::string>& found) {
  if (is_recording(directory)) {
    found.push_back(path);
    return;
  }
  if (depth == 0) return;
  const Result<std::vector<std::string>> names = directory.names();
  if (!names) return;
  for (const std::string& name : *names) {
    if (name.starts_with('.') || !directory.has_directory(name)) continue;
    if (const Result<Directory> below = directory.directory(name))
      find_below(*below, join_path(path, name), depth - 1, found);
  }
}

// Step by step: one of the directories may have become a link since it was found.
Result<Directory> open_below(const Directory& top, const std::string& path) {
  Directory at = top;
  for (const std::string_view step : split(path, '/')) {
    if (step.empty()) continue;
    FATHOM_ASSIGN(at, at.directory(step));
  }
  return at;
}

// Why a path that holds no recording holds none.
Error no_recording(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return os_error(errno, "open recording " + path, "give the directory that fathom run -o named");
  }
  if (!S_ISDIR(status.st_mode)) {
    return {Code::kInvalid, path + " is a file, not a recording",
            "a recording is a directory; fathom import reads other formats"};
  }
  const Result<Directory> directory = Directory::open(path);
  const Result<std::vector<std::string>> names =
      directory ? directory->names() : Result<std::vector<std::string>>(directory.error());
  if (!names) return names.error();
  const std::string what = names->empty() ? " is empty: no recording" : " holds no recording";
  return {Code::kNotFound, path + what, "give the directory that fathom run -o named"};
}

}  // namespace

std::vector<std::string> find_recordings(const std::string& directory) {
  std::vector<std::string> found;
  if (const Result<Directory> opened = Directory::open(directory))
    find_below(*opened, "", kDeepestSearch, found);
  for (std::string& path : found) path = path.empty() ? directory : join_path(directory, path);
  return found;
}

Manifest unsupervised_manifest(const Spool& spool) {
  const fathom_run_header& header = spool.header();
  Manifest manifest;
  manifest.run_id = spool.run_id();
  manifest.origin = header.supervised != 0 ? "run" : "unsupervised";
  manifest.start_realtime_ns = static_cast<std::int64_t>(header.start_realtime_ns & INT64_MAX);
  manifest.clock = Clock::of(header);
  if (spool.same_boot()) manifest.host = this_host();
  manifest.host.hostname = std::string(header.host, strnlen(header.host, sizeof header.host));
  return manifest;
}

Result<Recording> Recording::open(const std::string& directory, const DecoderOptions& options,
                                  Need need) {
  const Result<Directory> top = Directory::open(directory);
  std::vector<std::string> found;
  if (top) find_below(*top, "", kDeepestSearch, found);
  if (found.empty()) return no_recording(directory);
  Recording recording;
  for (const std::string& path : found) {
    FATHOM_ASSIGN(const Directory opened, open_below(*top, path));
    FATHOM_ASSIGN(Part part, read_part(opened, options, need));
    recording.parts.push_back(std::move(part));
  }
  return recording;
}

}  // namespace fathom::trace
