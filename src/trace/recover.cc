// SPDX-License-Identifier: MIT
#include <unistd.h>

#include "base/files.h"
#include "trace/packer.h"
#include "trace/recording.h"

namespace fathom::trace {
namespace {

bool may_write(const std::string& directory, const std::string& spool) {
  return ::access(directory.c_str(), W_OK) == 0 && ::access(spool.c_str(), W_OK) == 0;
}

Result<Manifest> manifest_of(const std::string& directory, const std::string& spool_directory) {
  Result<Manifest> manifest = read_manifest(directory);
  if (manifest || manifest.error().code != Code::kNotFound) return manifest;
  FATHOM_ASSIGN(const Spool spool, Spool::open(spool_directory));
  return unsupervised_manifest(spool);
}

Status recover_one(const std::string& directory, const RecoverOptions& options) {
  const std::string spool = join_path(directory, kSpoolDirectory);
  if (!may_write(directory, spool)) return {};
  FATHOM_ASSIGN(Manifest manifest, manifest_of(directory, spool));
  // A recorder that saw the end of its run may have left the packing of it to us.
  const bool killed = manifest.origin != "unsupervised" && !manifest.duration_ns;
  Result<Packer> packer = Packer::open(directory, std::move(manifest),
                                       {.resolver = options.resolver, .library = options.library});
  if (!packer) {
    // Somebody records, or it went while we came.
    const Code code = packer.error().code;
    if (code == Code::kDenied || code == Code::kNotFound) return {};
    return std::move(packer).error();
  }
  Result<FinishResult> result = packer->finish(killed ? "the recorder was killed" : "");
  if (!result) return std::move(result).error();
  return {};
}

}  // namespace

Status recover(const std::string& directory, const RecoverOptions& options) {
  for (const std::string& path : find_recordings(directory)) {
    if (path_exists(join_path(path, kSpentSpool))) (void)remove_tree(join_path(path, kSpentSpool));
    if (!path_exists(join_path(join_path(path, kSpoolDirectory), FATHOM_RUN_FILE))) continue;
    FATHOM_TRY(recover_one(path, options));
  }
  return {};
}

}  // namespace fathom::trace
