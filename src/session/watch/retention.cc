// SPDX-License-Identifier: MIT
// Chooses which recordings go: oldest first, until count, bytes and age are within their limits. A
// recording whose lock is held is never counted nor removed.
#include "session/watch/retention.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/files.h"
#include "trace/recording/manifest.h"
#include "trace/spool/spool.h"

namespace fathom::session {
namespace {

// Somebody who writes it holds the lock of its spool.
bool is_written(const std::string& recording) {
  const std::string lock = join_path(join_path(recording, trace::kSpoolDirectory), "lock");
  if (!path_exists(lock)) return false;
  const Result<std::optional<trace::FileLock>> got =
      trace::FileLock::attempt(lock, trace::FileLock::Mode::kExclusive);
  return !got || !got->has_value();
}

}  // namespace

std::vector<KeptRecording> to_drop(const std::vector<KeptRecording>& recordings,
                                   const Retention& limits, std::int64_t now_ns) {
  std::uint64_t bytes = 0;
  for (const KeptRecording& one : recordings) bytes += one.bytes;
  auto count = static_cast<std::int64_t>(recordings.size());
  std::vector<KeptRecording> dropped;
  for (const KeptRecording& one : recordings) {
    const bool too_many = limits.count != 0 && count > limits.count;
    const bool too_large = limits.bytes != 0 && bytes > limits.bytes;
    const bool too_old = limits.age_ns != 0 && now_ns - one.end_ns > limits.age_ns;
    if (!too_many && !too_large && !too_old) break;
    dropped.push_back(one);
    bytes -= one.bytes;
    --count;
  }
  return dropped;
}

std::uint64_t bytes_below(const std::string& directory) {
  std::uint64_t bytes = 0;
  std::error_code failed;
  std::filesystem::recursive_directory_iterator at(directory, failed);
  for (; !failed && at != std::filesystem::recursive_directory_iterator(); at.increment(failed)) {
    std::error_code gone;  // while we look
    if (!at->is_regular_file(gone)) continue;
    const std::uintmax_t size = at->file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

std::vector<KeptRecording> find_kept(const std::string& folder, const std::string& current) {
  std::vector<KeptRecording> found;
  const Result<std::vector<std::string>> names = list_dir(folder);
  if (!names) return found;
  for (const std::string& name : *names) {
    const std::string path = join_path(folder, name);
    if (path == current || is_written(path)) continue;
    const Result<trace::Manifest> manifest = trace::read_manifest(path);
    if (!manifest || manifest->origin != "watch") continue;
    found.push_back(
        {path, bytes_below(path), manifest->start_realtime_ns + manifest->duration_ns.value_or(0)});
  }
  std::ranges::sort(found, {}, &KeptRecording::end_ns);
  return found;
}

}  // namespace fathom::session
