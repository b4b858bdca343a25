// SPDX-License-Identifier: MIT
// Any bytes as a profile.json: read, or refused; what is read fits its table, and names no file
// elsewhere.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "analysis/application/comparison.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::analysis;
  const auto figures = read_figures({reinterpret_cast<const char*>(data), size});
  if (!figures) return 0;
  for (const ContainerRun& run : figures->runs) {
    if (run.recording.find('/') != std::string::npos || run.exit < 0 || run.exit > 255)
      std::abort();
  }
  const fathom::Table table = comparison_table({&*figures, 1});
  if (table.rows.size() != 1 || table.rows[0].size() != table.columns.size()) std::abort();
  if (short_words(*figures).empty()) std::abort();
  return 0;
}
