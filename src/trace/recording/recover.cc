// SPDX-License-Identifier: MIT
// Packs what a killed recorder or an unsupervised run left behind, with the same Packer as a live
// run. Only the owner of a recording may do that.
#include "base/directory.h"
#include "trace/recording/packer.h"
#include "trace/recording/recording.h"
#include "trace/recording/trust.h"

namespace fathom::trace {
namespace {

Status recover_one(const std::string& directory, const RecoverOptions& options) {
  FATHOM_TRY(check_owner(directory));
  Result<Packer> packer = open_own(directory, options);
  if (!packer) {
    // Somebody records, or it went while we came.
    const Code code = packer.error().code;
    if (code == Code::kDenied || code == Code::kNotFound) return {};
    return std::move(packer).error();
  }
  Result<FinishResult> result = packer->finish(why_partial(packer->manifest()));
  if (!result) return std::move(result).error();
  return {};
}

}  // namespace

Result<Packer> open_own(const std::string& directory, const RecoverOptions& options) {
  FATHOM_TRY(check_owner(directory));
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

// A recorder that saw the end of its run may have left the packing of it to us.
std::string why_partial(const Manifest& manifest) {
  const bool killed = manifest.origin != "unsupervised" && !manifest.duration_ns;
  return killed ? "the recorder was killed" : "";
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
