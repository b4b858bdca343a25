// SPDX-License-Identifier: MIT
// Decides by wall-clock overlap whether recordings of a directory are repetitions or hosts of one
// run. Where a manifest does not tell its times, it is one run.
#include "analysis/compare/repetitions.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/directory.h"
#include "trace/recording/manifest.h"
#include "trace/recording/recording.h"

namespace fathom::analysis {
namespace {

constexpr std::int64_t kEndOfTime = std::numeric_limits<std::int64_t>::max();

struct Entry {
  std::string path;
  std::int64_t start = 0;  // of the clock on the wall
  std::int64_t end = 0;
};

// Nothing where the manifests do not tell when it was.
std::optional<Entry> entry_of(const std::string& path, const std::vector<std::string>& recordings) {
  Entry entry{.path = path, .start = kEndOfTime, .end = 0};
  for (const std::string& recording : recordings) {
    const Result<trace::Manifest> manifest = trace::read_manifest(recording);
    if (!manifest || !manifest->duration_ns) return std::nullopt;
    const std::int64_t start = manifest->start_realtime_ns;
    const std::int64_t lasted = *manifest->duration_ns;
    if (start <= 0 || lasted < 0 || start > kEndOfTime - lasted) return std::nullopt;
    entry.start = std::min(entry.start, start);
    entry.end = std::max(entry.end, start + lasted);
  }
  return entry;
}

}  // namespace

std::vector<std::string> runs_in(const std::string& path) {
  const std::vector<std::string> all = trace::find_recordings(path);
  const Result<Directory> directory = Directory::open(path);
  if (all.size() < 2 || !directory) return {path};
  const Result<std::vector<std::string>> names = directory->names();
  if (!names) return {path};
  std::vector<Entry> entries;
  for (const std::string& name : *names) {
    if (name.starts_with('.') || !directory->has_directory(name)) continue;
    const std::string child = join_path(path, name);
    const std::vector<std::string> recordings = trace::find_recordings(child);
    if (recordings.empty()) continue;
    const std::optional<Entry> entry = entry_of(child, recordings);
    if (!entry) return {path};
    entries.push_back(*entry);
  }
  if (entries.size() == 1) return runs_in(entries[0].path);
  std::ranges::sort(entries, {}, &Entry::start);
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].start < entries[i - 1].end) return {path};
  }
  std::vector<std::string> runs;
  for (const Entry& entry : entries) runs.push_back(entry.path);
  return runs;
}

}  // namespace fathom::analysis
