// SPDX-License-Identifier: MIT
// Any bytes as a manifest that a client sends: what is accepted stays inside, and reads back as it
// is.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fleet/model.h"
#include "fleet/recordings/recording_manifest.h"
#include "fleet/sha256.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;         // NOLINT(google-build-using-namespace : short)
  using namespace fathom::fleet;  // NOLINT(google-build-using-namespace : short)
  const Result<RecordingManifest> manifest =
      parse_manifest({reinterpret_cast<const char*>(data), size});
  if (!manifest) return 0;
  require(is_job_name(manifest->name));
  for (const RecordedFile& file : manifest->files) {
    require(is_inner_path(file.name) && Sha256::is_hex(file.sha256));
    require(manifest->find(file.name) == &file);
  }
  const Result<RecordingManifest> again = parse_manifest(to_json(*manifest));
  require(again && *again == *manifest);
  return 0;
}
