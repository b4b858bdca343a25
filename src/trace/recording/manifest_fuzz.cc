// SPDX-License-Identifier: MIT
// Any bytes as a manifest; what was understood is written and understood again, and its clock used.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "trace/recording/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::trace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto manifest = parse_manifest(text);
  if (!manifest) return 0;
  if (!parse_manifest(format_manifest(*manifest))) std::abort();
  for (const std::uint64_t tick : {std::uint64_t{0}, std::uint64_t{4002000}, UINT64_MAX})
    (void)manifest->clock.ns(tick);
  return 0;
}
