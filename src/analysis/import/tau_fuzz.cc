// SPDX-License-Identifier: MIT
// Any bytes as lines of the files that the importer of tau reads.
#include "analysis/import/tau_lines.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::analysis;  // NOLINT(google-build-using-namespace) : one function
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto row = parse_tau_function(text);
  if (row && (row->calls < 0 || row->self_ns < 0 || row->total_ns < 0)) std::abort();
  (void)parse_tau_head(text);
  const auto place = parse_tau_file_name(text);
  if (place && (place->node < 0 || place->thread < 0)) std::abort();
  return 0;
}
