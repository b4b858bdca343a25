// SPDX-License-Identifier: MIT
#include "trace/recording.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "base/os_error.h"
#include "base/sum.h"
#include "trace/parquet_file.h"
#include "trace/parquet_tables.h"
#include "trace/spool.h"
#include "trace/tail.h"

namespace fathom::trace {
namespace {

constexpr int kDeepestSearch = 4;

std::string spool_of(const std::string& directory) { return join_path(directory, kSpoolDirectory); }

bool has_spool(const std::string& directory) {
  return path_exists(join_path(spool_of(directory), FATHOM_RUN_FILE));
}

bool is_recording(const std::string& directory) {
  return path_exists(join_path(directory, kManifestFile)) || has_spool(directory);
}

void find_below(const std::string& directory, int depth, std::vector<std::string>& found) {
  if (is_recording(directory)) {
    found.push_back(directory);
    return;
  }
  const Result<std::vector<std::string>> names =
      depth > 0 ? list_dir(directory)
                : Result<std::vector<std::string>>(std::vector<std::string>());
  if (!names) return;
  for (const std::string& name : *names) {
    const std::string path = join_path(directory, name);
    if (!name.starts_with('.') && is_directory(path)) find_below(path, depth - 1, found);
  }
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
  const Result<std::vector<std::string>> names = list_dir(path);
  if (!names) return names.error();
  const std::string what = names->empty() ? " is empty: no recording" : " holds no recording";
  return {Code::kNotFound, path + what, "give the directory that fathom run -o named"};
}

// summary.parquet and its like hold the sum of their parts, which may not be gone yet.
void drop_summed_parts(std::map<std::string, std::vector<std::string>>& files,
                       const std::string& directory) {
  for (const char* table : kSummedTables) {
    const std::string whole = join_path(directory, parquet_name(table));
    auto& list = files[table];
    if (std::find(list.begin(), list.end(), whole) != list.end() && !has_spool(directory))
      list = {whole};
  }
}

// Which logs a Parquet file has replaced; parts whose log is still to be read are no parts yet.
struct Replaced {
  std::vector<std::uint64_t> logs;
  std::vector<std::uint64_t> unfinished;
  std::vector<std::uint64_t> packed;  // all parts, those without a log included
  std::optional<std::uint64_t> last;  // of these
};

Replaced replaced_logs(const std::string& directory, const Spool* spool) {
  Replaced replaced;
  if (spool == nullptr) return replaced;
  for (const std::uint64_t n : spool->logs()) {
    const std::string packed = join_path(directory, parquet_name(kEventsTable, n));
    const bool done = path_exists(packed) && parquet_damage(packed).empty();
    (done ? replaced.logs : replaced.unfinished).push_back(n);
  }
  for (const std::uint64_t n : parquet_parts(directory, kEventsTable)) {
    if (std::ranges::find(replaced.unfinished, n) != replaced.unfinished.end()) continue;
    replaced.packed.push_back(n);
    replaced.last = n;
  }
  return replaced;
}

// As they were written: views that walk through threads sort nothing then.
Result<std::vector<std::pair<ParquetName, std::string>>> parquet_files(
    const std::string& directory) {
  FATHOM_ASSIGN(const std::vector<std::string> names, list_dir(directory));
  std::vector<std::pair<ParquetName, std::string>> files;
  for (const std::string& name : names) {
    if (const std::optional<ParquetName> parsed = parse_parquet_name(name))
      files.emplace_back(*parsed, join_path(directory, name));
  }
  std::sort(files.begin(), files.end());
  return files;
}

Status list_files(Part& part, const std::vector<std::uint64_t>& unfinished) {
  FATHOM_ASSIGN(const auto found, parquet_files(part.directory));
  for (const auto& [name, path] : found) {
    if (name.part && std::ranges::find(unfinished, *name.part) != unfinished.end()) continue;
    const std::string damage = parquet_damage(path);
    if (damage.empty()) {
      part.files[name.table].push_back(path);
    } else {
      part.damaged.push_back({path, damage});
    }
  }
  drop_summed_parts(part.files, part.directory);
  return {};
}

void add_tail(Part& part, const TailFacts& facts) {
  Manifest& manifest = part.manifest;
  for (const auto& [layer, count] : facts.events_by_layer)
    add_to(manifest.layer(layer).events, count);
  for (const Loss& loss : facts.losses) manifest.add_loss(loss);
  manifest.in_flight.insert(manifest.in_flight.end(), part.tail->in_flight.begin(),
                            part.tail->in_flight.end());
  for (const NotCovered& program : facts.not_covered) manifest.add_not_covered(program);
  for (const auto& [name, words] : facts.refused) manifest.facts[name] = words;
  if (part.recorder_lives) return;
  if (!facts.gaps.empty() && manifest.state != RunState::kPartial) {
    manifest.state = RunState::kPartial;
    manifest.state_reason = kVanished;
  }
  // Nobody packs. Unsupervised, that is how it should be: what the processes wrote is all here.
  if (manifest.state != RunState::kRunning) return;
  if (manifest.origin != "unsupervised" && !manifest.duration_ns) {
    manifest.state = RunState::kPartial;
    manifest.state_reason = "the recorder was killed";
  } else if (facts.owners_unknown) {
    manifest.state = RunState::kPartial;
    manifest.state_reason = "its programs ran on " + manifest.host.hostname +
                            ", and whether they have ended cannot be told here";
  } else if (!facts.owners_alive) {
    manifest.state = manifest.in_flight.empty() ? RunState::kComplete : RunState::kPartial;
    if (!manifest.in_flight.empty())
      manifest.state_reason = "calls were in flight when their process was killed";
  }
}

Status read_spool(Part& part, const DecoderOptions& options, Need need) {
  const Result<FileLock> publish =
      FileLock::wait(join_path(spool_of(part.directory), "publish.lock"), FileLock::Mode::kShared);
  Result<Spool> spool = Spool::open(spool_of(part.directory));
  if (!spool) {
    // It went while we came: then everything is packed.
    if (spool.error().code != Code::kNotFound) {
      part.damaged.push_back({spool_of(part.directory), spool.error().message});
    } else {
      FATHOM_ASSIGN(part.manifest, read_manifest(part.directory));
    }
    return list_files(part, {});
  }
  if (Result<Manifest> now = read_manifest(part.directory)) part.manifest = std::move(now).value();
  const Result<std::optional<FileLock>> lock =
      FileLock::attempt(spool->lock_path(), FileLock::Mode::kShared);
  part.recorder_lives = (lock && !lock->has_value()) || spool->recorded_elsewhere();
  const Replaced replaced = replaced_logs(part.directory, &*spool);
  FATHOM_TRY(list_files(part, replaced.unfinished));
  part.files.erase(kProcessesTable);
  part.files.erase(kThreadsTable);
  TailFacts facts;
  FATHOM_ASSIGN(part.tail, read_tail(*spool, part.manifest,
                                     {.decoder = options,
                                      .need = need,
                                      .replaced_logs = replaced.logs,
                                      .packed_logs = replaced.packed,
                                      .last_packed = replaced.last,
                                      .undisturbed = lock && lock->has_value()},
                                     facts));
  add_tail(part, facts);
  return {};
}

Result<Part> open_part(const std::string& directory, const DecoderOptions& options, Need need) {
  Part part;
  part.directory = directory;
  const bool spooled = has_spool(directory);
  Result<Manifest> manifest = read_manifest(directory);
  if (manifest) {
    part.manifest = std::move(manifest).value();
  } else if (manifest.error().code == Code::kNotFound && spooled) {
    FATHOM_ASSIGN(const Spool spool, Spool::open(spool_of(directory)));
    part.manifest = unsupervised_manifest(spool);
  } else {
    return std::move(manifest).error();
  }
  FATHOM_TRY(spooled ? read_spool(part, options, need) : list_files(part, {}));
  if (!spooled && part.manifest.state == RunState::kRunning) {
    part.manifest.state = RunState::kPartial;
    part.manifest.state_reason = "the recorder was killed and its spool is gone";
  }
  if (!part.damaged.empty()) {
    part.manifest.state = RunState::kPartial;
    part.manifest.state_reason =
        std::string(base_name(part.damaged.front().path)) + ": " + part.damaged.front().reason;
  }
  return part;
}

}  // namespace

std::vector<std::string> find_recordings(const std::string& directory) {
  std::vector<std::string> found;
  find_below(directory, kDeepestSearch, found);
  return found;
}

Manifest unsupervised_manifest(const Spool& spool) {
  const fathom_run_header& header = spool.header();
  Manifest manifest;
  manifest.run_id = spool.run_id();
  manifest.origin = header.supervised != 0 ? "run" : "unsupervised";
  manifest.start_realtime_ns = static_cast<std::int64_t>(header.start_realtime_ns & INT64_MAX);
  manifest.clock = spool.same_boot() ? Clock::of(header) : Clock::of_elsewhere(header);
  if (spool.same_boot()) manifest.host = read_host_facts();
  manifest.host.hostname = std::string(header.host, strnlen(header.host, sizeof header.host));
  return manifest;
}

Result<Recording> Recording::open(const std::string& directory, const DecoderOptions& options,
                                  Need need) {
  const std::vector<std::string> found = find_recordings(directory);
  if (found.empty()) return no_recording(directory);
  Recording recording;
  for (const std::string& path : found) {
    FATHOM_ASSIGN(Part part, open_part(path, options, need));
    recording.parts.push_back(std::move(part));
  }
  return recording;
}

}  // namespace fathom::trace
