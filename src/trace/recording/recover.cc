// SPDX-License-Identifier: MIT
// Packs what a killed recorder or an unsupervised run left behind, with the same Packer as a live
// run. Only the owner of a recording may do that.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/directory.h"
#include "base/plural.h"
#include "trace/recording/packer.h"
#include "trace/recording/recording.h"
#include "trace/recording/trust.h"

namespace fathom::trace {
namespace {

// As far as the manifest knows it. Losses and runs that the programs counted there are not known.
std::string page_from(const Manifest& manifest) {
  fathom_run_header header{};
  header.magic = FATHOM_RUN_MAGIC;
  header.version = FATHOM_WIRE_VERSION;
  header.tick_source = manifest.clock.tick_source();
  const ClockPair& start = manifest.clock.pairs().front();
  header.start_tick = start.tick;
  header.start_monotonic_ns = static_cast<std::uint64_t>(start.monotonic_ns);
  header.start_realtime_ns = static_cast<std::uint64_t>(manifest.start_realtime_ns);
  header.supervised = manifest.origin != "unsupervised" ? 1 : 0;
  header.uid = ::geteuid();
  for (std::size_t i = 0; i < sizeof header.run_id && 2 * i + 2 <= manifest.run_id.size(); i++) {
    const char* digits = manifest.run_id.data() + 2 * i;
    (void)std::from_chars(digits, digits + 2, header.run_id[i], 16);
  }
  manifest.host.boot_id.copy(header.boot_id, sizeof header.boot_id - 1);
  manifest.host.hostname.copy(header.host, sizeof header.host - 1);
  std::string page(FATHOM_RUN_HEADER_SIZE, '\0');
  std::memcpy(page.data(), &header, sizeof header);
  return page;
}

Status recover_one(const std::string& directory, const RecoverOptions& options) {
  FATHOM_TRY(check_owner(directory));
  Result<Packer> packer = open_own(directory, options);
  if (!packer) {
    // Somebody records, or it went while we came.
    const Code code = packer.error().code;
    if (code == Code::kDenied || code == Code::kNotFound) return {};
    return std::move(packer).error();
  }
  Result<FinishResult> result = packer->finish(packer->why_partial());
  if (!result) return std::move(result).error();
  return {};
}

}  // namespace

std::size_t files_without_header(const Directory& spool) {
  const Result<Spool> opened = Spool::open(spool);
  if (opened || opened.error().code == Code::kUnsupported) return 0;
  const Result<std::vector<std::string>> names = spool.names();
  if (!names) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(*names, [](const std::string& name) {
    return name.ends_with(FATHOM_POOL_SUFFIX) || name.starts_with("drained-");
  }));
}

Status remake_run_header(const std::string& directory) {
  FATHOM_ASSIGN(const Directory recording, Directory::open(directory));
  const Result<Directory> spool = recording.directory(kSpoolDirectory);
  const std::size_t files = spool ? files_without_header(*spool) : 0;
  if (files == 0) return {};
  FATHOM_TRY(check_owner(directory));
  Result<Manifest> manifest = read_manifest(recording);
  if (!manifest || manifest->clock.pairs().empty()) {
    return Error{Code::kCorrupt,
                 spool->path_of(FATHOM_RUN_FILE) + " is missing or damaged, so the times in " +
                     counted(files, "file") + " of the spool are not known",
                 "put run.header back; without it these files cannot be read"};
  }
  const Result<std::optional<FileLock>> lock =
      FileLock::attempt(*spool, kLockFile, FileLock::Mode::kExclusive);
  if (!lock || !lock->has_value()) return {};  // whoever records makes it again
  FATHOM_TRY(spool->write_atomic(FATHOM_RUN_FILE, page_from(*manifest)));
  manifest->add_loss({"", "run.header of the spool was gone, and what programs counted there", 1});
  return write_manifest(recording, *manifest);
}

Result<Packer> open_own(const std::string& directory, const RecoverOptions& options) {
  FATHOM_TRY(check_owner(directory));
  FATHOM_TRY(remake_run_header(directory));
  FATHOM_ASSIGN(const Directory recording, Directory::open(directory));
  FATHOM_ASSIGN(const Spool spool, Spool::open(join_path(directory, kSpoolDirectory)));
  Result<Manifest> manifest = read_manifest(recording);
  if (!manifest && manifest.error().code != Code::kNotFound) return std::move(manifest).error();
  const bool local = is_ours(recording, spool);
  return Packer::open(
      directory, manifest ? std::move(manifest).value() : unsupervised_manifest(spool),
      {.resolver = local ? for_unchanged_modules(options.resolver, spool) : NameResolver(),
       .library = options.library,
       .ended = options.ended,
       .local = local});
}

std::string why_partial(const Manifest& manifest, const Spool& spool) {
  if (manifest.origin == "unsupervised" || manifest.duration_ns) return "";
  const std::string trouble = spool.trouble();
  return trouble.empty() ? "the recorder was killed" : trouble;
}

Status recover(const std::string& directory, const RecoverOptions& options) {
  for (const std::string& path : find_recordings(directory)) {
    FATHOM_ASSIGN(const Directory recording, Directory::open(path));
    // Left by who was killed as he removed it.
    if (recording.is_ours() && recording.has_directory(kSpentSpool))
      (void)remove_tree(recording.path_of(kSpentSpool));
    if (recording.has_directory(kSpoolDirectory)) FATHOM_TRY(recover_one(path, options));
  }
  return {};
}

}  // namespace fathom::trace
