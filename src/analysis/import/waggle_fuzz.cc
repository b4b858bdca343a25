// SPDX-License-Identifier: MIT
// Any bytes as lines of the files that the importer of waggle reads.
#include "analysis/import/waggle_lines.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::analysis;  // NOLINT(google-build-using-namespace) : one function
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto moment = parse_waggle_moment(text);
  if (moment && (moment->epoch_ns < 0 || moment->name.empty())) std::abort();
  const auto stats = parse_waggle_stats(text);
  if (stats && stats->cpus.empty()) std::abort();
  return 0;
}
