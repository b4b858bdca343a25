// SPDX-License-Identifier: MIT
// Any bytes as a manifest and as a schema.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace/manifest.h"
#include "trace/schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::trace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto manifest = parse_manifest(text)) (void)parse_manifest(format_manifest(*manifest));
  (void)Schema::parse(text);
  return 0;
}
