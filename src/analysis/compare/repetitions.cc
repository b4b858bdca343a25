// SPDX-License-Identifier: MIT
// Decides by program and wall-clock overlap whether recordings of a directory are repetitions or
// parts of one run. Where a manifest does not tell its times, it is one run.
#include "analysis/compare/repetitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/directory.h"
#include "base/files.h"
#include "base/plural.h"
#include "base/text.h"
#include "trace/recording/manifest.h"
#include "trace/recording/recording.h"
#include "trace/spool/losses.h"

namespace fathom::analysis {
namespace {

constexpr std::int64_t kEndOfTime = std::numeric_limits<std::int64_t>::max();

struct Entry {
  std::string path;
  std::int64_t start = 0;  // of the clock on the wall
  std::int64_t end = 0;
  std::string program = {};
  std::string command = {};
  bool lost = false;  // something

  [[nodiscard]] std::int64_t wall() const { return end - start; }
};

bool has_lost(const trace::Manifest& manifest) {
  return std::ranges::any_of(manifest.losses, trace::is_lost);
}

// Nothing where the manifests do not tell when it was, or where it is a piece of a longer one.
std::optional<Entry> entry_of(const std::string& path, const std::vector<std::string>& recordings) {
  Entry entry{.path = path, .start = kEndOfTime, .end = 0};
  for (const std::string& recording : recordings) {
    const Result<trace::Manifest> manifest = trace::read_manifest(recording);
    if (!manifest || !manifest->duration_ns || manifest->origin == "watch") return std::nullopt;
    const std::int64_t start = manifest->start_realtime_ns;
    const std::int64_t lasted = *manifest->duration_ns;
    if (start <= 0 || lasted < 0 || start > kEndOfTime - lasted) return std::nullopt;
    entry.start = std::min(entry.start, start);
    entry.end = std::max(entry.end, start + lasted);
    entry.command = shell_join(manifest->command);
    entry.program = manifest->command.empty() ? "" : base_name(manifest->command[0]);
    entry.lost = entry.lost || has_lost(*manifest);
  }
  return entry;
}

// By time; nothing where they are one run.
std::vector<Entry> repeated_in(const std::string& path) {
  const std::vector<std::string> all = trace::find_recordings(path);
  const Result<Directory> directory = Directory::open(path);
  if (all.size() < 2 || !directory) return {};
  const Result<std::vector<std::string>> names = directory->names();
  if (!names) return {};
  std::vector<Entry> entries;
  for (const std::string& name : *names) {
    if (name.starts_with('.') || !directory->has_directory(name)) continue;
    const std::string child = join_path(path, name);
    const std::vector<std::string> recordings = trace::find_recordings(child);
    if (recordings.empty()) continue;
    const std::optional<Entry> entry = entry_of(child, recordings);
    if (!entry) return {};
    entries.push_back(*entry);
  }
  if (entries.size() == 1) return repeated_in(entries[0].path);
  std::ranges::sort(entries, {}, &Entry::start);
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].start < entries[i - 1].end) return {};
    if (entries[i].program != entries[0].program) return {};
  }
  return entries;
}

}  // namespace

std::vector<std::string> runs_in(const std::string& path) {
  std::vector<std::string> runs;
  for (const Entry& entry : repeated_in(path)) runs.push_back(entry.path);
  return runs.empty() ? std::vector{path} : runs;
}

std::optional<Repetitions> repetitions_in(const std::string& path) {
  std::vector<Entry> entries = repeated_in(path);
  if (entries.empty()) return std::nullopt;
  std::ranges::stable_sort(entries, {}, &Entry::wall);
  double sum = 0;
  for (const Entry& entry : entries) sum += static_cast<double>(entry.wall());
  const auto lost = static_cast<std::size_t>(std::ranges::count(entries, true, &Entry::lost));
  const Entry& shown = entries[(entries.size() - 1) / 2];
  const auto wall_text = [](const Entry& entry) {
    return human_ns(static_cast<double>(entry.wall()));
  };
  std::string words = fmt::format(
      "{}{}: {} wall time on average, {} to {}; this is {}, the one in the middle.",
      counted(entries.size(), "repetition"), shown.command.empty() ? "" : " of " + shown.command,
      human_ns(sum / static_cast<double>(entries.size())), wall_text(entries.front()),
      wall_text(entries.back()), shown.path);
  if (lost > 0) words += fmt::format(" Something was lost in {} of {}.", lost, entries.size());
  return Repetitions{.shown = shown.path, .words = std::move(words)};
}

}  // namespace fathom::analysis
