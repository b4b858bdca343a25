// SPDX-License-Identifier: MIT
// Any bytes as the end of a Parquet file: a number of rows that can be, or none.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/parquet_footer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto rows = fathom::analysis::rows_of_footer({reinterpret_cast<const char*>(data), size});
  if (rows && *rows < 0) std::abort();
  return 0;
}
