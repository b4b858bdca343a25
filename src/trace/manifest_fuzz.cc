// SPDX-License-Identifier: MIT
// Any bytes as a manifest; what was understood is written and understood again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "trace/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::trace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto manifest = parse_manifest(text);
  if (manifest && !parse_manifest(format_manifest(*manifest))) std::abort();
  return 0;
}
