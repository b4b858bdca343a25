// SPDX-License-Identifier: MIT
// Any bytes as lines of `perf script` and of collapsed stacks.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analysis/import/collapsed.h"
#include "analysis/import/perf_script.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;  // NOLINT(google-build-using-namespace) : one function
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  analysis::PerfScript script([](const analysis::ImportedSample&) { return Status(); });
  for (const std::string_view line : split(text, '\n')) {
    (void)script.add(line).has_value();
    (void)analysis::parse_collapsed(line);
  }
  (void)script.finish().has_value();
  return 0;
}
