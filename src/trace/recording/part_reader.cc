// SPDX-License-Identifier: MIT
// How a reader and a packer meet. A packer publishes a Parquet file by renaming it into the
// recording, then removes the log that it replaces, and at the end the spool. Whoever reads waits a
// moment for a publication that is under way (publish.lock, if it is there and we may open it), and
// lists the Parquet files before and after: where the lists differ, or something was gone when it
// was its turn, all is read again. Files that were opened stay readable whatever becomes of their
// names.
#include "trace/recording/part_reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <optional>
#include <utility>

#include "base/plural.h"
#include "base/sum.h"
#include "trace/recording/parquet_tables.h"
#include "trace/recording/tail.h"
#include "trace/recording/trust.h"
#include "trace/spool/spool.h"

namespace fathom::trace {
namespace {

constexpr int kAttempts = 20;  // a second and more in all
constexpr int kLockAttempts = 500;
constexpr long kMillisecond = 1000000;

void nap(long milliseconds) {
  const timespec time{milliseconds / 1000, milliseconds % 1000 * kMillisecond};
  ::nanosleep(&time, nullptr);
}

// Nothing where there is no such file, we may not open it, or somebody never lets go of it.
std::optional<FileLock> wait_for_publication(const Directory& spool) {
  for (int attempt = 0; attempt < kLockAttempts; attempt++) {
    Result<std::optional<FileLock>> lock = FileLock::look(spool, kPublishLock);
    if (!lock || lock->has_value()) return lock ? std::move(lock).value() : std::nullopt;
    nap(2);
  }
  return std::nullopt;
}

// Which logs a Parquet file has replaced; parts whose log is still to be read are no parts yet.
struct Replaced {
  std::vector<std::uint64_t> logs;
  std::vector<std::uint64_t> unfinished;
  std::vector<std::uint64_t> packed;  // all parts, those without a log included
  std::optional<std::uint64_t> last;  // of these
};

Replaced replaced_logs(const Directory& directory, const Spool& spool) {
  Replaced replaced;
  for (const std::uint64_t n : spool.logs()) {
    const bool done = parquet_damage(directory, parquet_name(kEventsTable, n)).empty();
    (done ? replaced.logs : replaced.unfinished).push_back(n);
  }
  for (const std::uint64_t n : parquet_parts(directory, kEventsTable)) {
    if (std::ranges::binary_search(replaced.unfinished, n)) continue;
    replaced.packed.push_back(n);
    replaced.last = n;
  }
  return replaced;
}

// What a publication changes.
struct Contents {
  std::vector<std::pair<ParquetName, std::string>> parquet;  // as they were written
  std::optional<std::pair<dev_t, ino_t>> spool;
  bool operator==(const Contents& other) const {
    return spool == other.spool && std::ranges::equal(parquet, other.parquet, {},
                                                      &std::pair<ParquetName, std::string>::second,
                                                      &std::pair<ParquetName, std::string>::second);
  }
};

Result<Contents> contents_of(const Directory& directory) {
  Contents contents;
  FATHOM_ASSIGN(const std::vector<std::string> names, directory.names());
  for (const std::string& name : names) {
    if (const std::optional<ParquetName> parsed = parse_parquet_name(name))
      contents.parquet.emplace_back(*parsed, name);
  }
  std::sort(contents.parquet.begin(), contents.parquet.end());
  struct stat facts {};
  if (::fstatat(directory.fd(), kSpoolDirectory, &facts, AT_SYMLINK_NOFOLLOW) == 0)
    contents.spool = {facts.st_dev, facts.st_ino};
  return contents;
}

class PartReader {
 public:
  PartReader(Directory directory, DecoderOptions options, Need need)
      : directory_(std::move(directory)), options_(std::move(options)), need_(need) {}

  Result<Part> read() {
    FATHOM_ASSIGN(contents_, contents_of(directory_));
    part_.directory = directory_.path();
    Status done = contents_.spool ? read_with_spool() : read_packed();
    FATHOM_ASSIGN(const Contents now, contents_of(directory_));
    changed_ |= !(now == contents_);
    if (!done) return std::move(done).error();
    note_damage();
    return std::move(part_);
  }

  [[nodiscard]] bool changed() const { return changed_; }

 private:
  Status read_packed() {
    FATHOM_ASSIGN(part_.manifest, read_manifest(directory_));
    FATHOM_TRY(list_files({}));
    note_missing_spool();
    return {};
  }

  Status read_with_spool() {
    Result<Directory> files = directory_.directory(kSpoolDirectory);
    Result<Spool> spool = files ? Spool::open(*files) : Result<Spool>(files.error());
    if (!spool) return read_without(spool.error());
    publication_ = wait_for_publication(spool->files());
    FATHOM_ASSIGN(contents_, contents_of(directory_));
    Result<Manifest> manifest = read_manifest(directory_);
    if (!manifest && manifest.error().code != Code::kNotFound) return std::move(manifest).error();
    part_.manifest = manifest ? std::move(manifest).value() : unsupervised_manifest(*spool);
    return read_spool(*spool);
  }

  // A spool that is none: what was packed is still there.
  Status read_without(const Error& reason) {
    FATHOM_TRY(read_packed());
    const Result<Directory> spool = directory_.directory(kSpoolDirectory);
    const std::size_t waiting = spool ? files_without_header(*spool) : 0;
    if (waiting > 0) {
      part_.damaged.push_back({spool->path_of(FATHOM_RUN_FILE),
                               "missing or damaged; 'fathom collect' tries to read " +
                                   counted(waiting, "file") + " of the spool without it"});
    } else if (reason.code != Code::kNotFound) {
      part_.damaged.push_back({directory_.path_of(kSpoolDirectory), reason.message});
    }
    return {};
  }

  Status read_spool(Spool& spool) {
    const bool undisturbed = look_for_recorder(spool);
    const Replaced replaced = replaced_logs(directory_, spool);
    FATHOM_TRY(list_files(replaced.unfinished));
    part_.files.erase(kProcessesTable);
    part_.files.erase(kThreadsTable);
    DecoderOptions decoder = options_;
    decoder.local = is_ours(directory_, spool);
    decoder.resolver =
        decoder.local ? for_unchanged_modules(options_.resolver, spool) : NameResolver();
    TailFacts facts;
    FATHOM_ASSIGN(part_.tail, read_tail(spool, part_.manifest,
                                        {.decoder = decoder,
                                         .need = need_,
                                         .replaced_logs = replaced.logs,
                                         .packed_logs = replaced.packed,
                                         .last_packed = replaced.last,
                                         .undisturbed = undisturbed},
                                        facts));
    changed_ |= facts.changed || (undisturbed && is_recorded(spool));
    add_tail(facts, spool);
    return {};
  }

  // Somebody who came since makes files that are empty yet, which looks like damage.
  static bool is_recorded(const Spool& spool) {
    const Result<std::optional<FileLock>> lock = FileLock::look(spool.files(), kLockFile);
    return lock && !lock->has_value();
  }

  // Whether nobody drains.
  bool look_for_recorder(const Spool& spool) {
    const Result<std::optional<FileLock>> lock = FileLock::look(spool.files(), kLockFile);
    if (lock) {
      part_.recorder_lives = !lock->has_value();
    } else if (lock.error().code == Code::kDenied) {
      part_.recorder_lives = true;  // for all that we may know
    } else if (lock.error().code != Code::kNotFound) {
      part_.damaged.push_back({spool.lock_path(), lock.error().message});
    }
    const bool undisturbed = !part_.recorder_lives;
    part_.recorder_lives |= spool.recorded_elsewhere();
    return undisturbed;
  }

  Status list_files(const std::vector<std::uint64_t>& unfinished) {
    std::map<std::string, std::int64_t> found;
    for (const auto& [name, file_name] : contents_.parquet) {
      if (name.part && std::ranges::binary_search(unfinished, *name.part)) continue;
      found[name.table]++;
      Result<File> file = directory_.read(file_name);
      const std::string damage = file ? parquet_damage(*file) : file.error().message;
      if (!damage.empty()) {
        part_.damaged.push_back({directory_.path_of(file_name), damage});
        continue;
      }
      FATHOM_ASSIGN(DataFile held, hold(std::move(file).value(), directory_, file_name));
      part_.files[name.table].push_back(std::move(held));
    }
    drop_summed_parts();
    miss_files(found);
    return {};
  }

  // summary.parquet and its like hold the sum of their parts, which may not be gone yet.
  void drop_summed_parts() {
    if (contents_.spool && directory_.has_directory(kSpoolDirectory)) return;
    for (const char* table : kSummedTables) {
      std::vector<DataFile>& list = part_.files[table];
      const auto whole =
          std::ranges::find(list, directory_.path_of(parquet_name(table)), &DataFile::path);
      if (whole != list.end()) list = {*whole};
    }
  }

  void miss_files(const std::map<std::string, std::int64_t>& found) {
    for (const auto& [table, wanted] : part_.manifest.files) {
      const auto there = found.find(table);
      const std::int64_t count = there != found.end() ? there->second : 0;
      if (count >= wanted) continue;
      part_.damaged.push_back({directory_.path_of(table + ".parquet"),
                               std::to_string(wanted - count) + " of " + counted(wanted, "file") +
                                   (wanted - count == 1 ? " is missing" : " are missing")});
    }
  }

  void note_missing_spool() {
    if (part_.manifest.state != RunState::kRunning) return;
    part_.manifest.state = RunState::kPartial;
    part_.manifest.state_reason = "the recorder was killed and its spool is gone";
  }

  void note_damage() {
    if (part_.damaged.empty()) return;
    const DamagedFile& first = part_.damaged.front();
    Manifest& manifest = part_.manifest;
    const std::string damage = std::string(base_name(first.path)) + ": " + first.reason;
    // A full disk is the cause of files that are cut off, and stays the first word.
    const bool is_told = manifest.state == RunState::kPartial && !manifest.state_reason.empty();
    manifest.state_reason = is_told ? manifest.state_reason + "; " + damage : damage;
    manifest.state = RunState::kPartial;
  }

  void add_tail(TailFacts& facts, const Spool& spool) {
    Manifest& manifest = part_.manifest;
    for (auto& [table, files] : facts.packed)
      std::ranges::move(files, std::back_inserter(part_.files[table]));
    for (DamagedFile& file : facts.damaged) part_.damaged.push_back(std::move(file));
    manifest.layers = std::move(facts.layers);
    for (const auto& [layer, count] : facts.events_by_layer)
      add_to(manifest.layer(layer).events, count);
    for (const Loss& loss : facts.losses) manifest.add_loss(loss);
    manifest.in_flight.insert(manifest.in_flight.end(), part_.tail->in_flight.begin(),
                              part_.tail->in_flight.end());
    for (const NotCovered& program : facts.not_covered) manifest.add_not_covered(program);
    if (manifest.duration_ns)  // as Packer::State::settle_facts has it
      manifest.duration_ns = std::max(*manifest.duration_ns, facts.last_ns);
    for (const auto& [name, words] : facts.refused) manifest.facts[name] = words;
    if (!part_.recorder_lives) settle_state(facts, spool);
  }

  static std::string unseen_place(const Manifest& manifest, const Spool& spool) {
    if (spool.same_boot()) return "some of its programs ran in another container";
    return "its programs ran on " + manifest.host.hostname;
  }

  // Nobody packs. Unsupervised, that is how it should be: what the processes wrote is all here.
  void settle_state(const TailFacts& facts, const Spool& spool) {
    Manifest& manifest = part_.manifest;
    if (!facts.gaps.empty() && manifest.state != RunState::kPartial) {
      manifest.state = RunState::kPartial;
      manifest.state_reason = spool.trouble().empty() ? kVanished : spool.trouble();
    }
    if (manifest.state != RunState::kRunning) return;
    if (const std::string why = why_partial(manifest, spool); !why.empty()) {
      manifest.state = RunState::kPartial;
      manifest.state_reason = why;
    } else if (facts.owners_unknown) {
      manifest.state = RunState::kPartial;
      manifest.state_reason =
          unseen_place(manifest, spool) + ", and whether they have ended cannot be told here";
    } else if (!facts.owners_alive) {
      manifest.state = manifest.in_flight.empty() ? RunState::kComplete : RunState::kPartial;
      if (!manifest.in_flight.empty())
        manifest.state_reason = "calls were in flight when their process was killed";
    }
  }

  Directory directory_;
  DecoderOptions options_;
  Need need_;
  Contents contents_;
  std::optional<FileLock> publication_;  // held until all is read: it would be in vain otherwise
  Part part_;
  bool changed_ = false;
};

}  // namespace

Result<Part> read_part(const Directory& directory, const DecoderOptions& options, Need need) {
  for (int attempt = 1; attempt <= kAttempts; attempt++) {
    PartReader reader(directory, options, need);
    Result<Part> part = reader.read();
    if (!reader.changed()) return part;
    nap(5L * attempt);
  }
  return Error{Code::kIo, directory.path() + " changes while it is read", "try again"};
}

}  // namespace fathom::trace
