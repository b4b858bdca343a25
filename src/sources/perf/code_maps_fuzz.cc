// SPDX-License-Identifier: MIT
// Any bytes as /proc/PID/maps and /proc/PID/stack: names of files are other people's.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sources/perf/code_maps.h"
#include "sources/perf/found_process.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::sources;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const CodeMapping& mapping : parse_code_maps(text)) {
    if (mapping.path.empty() || mapping.length == 0) std::abort();
  }
  (void)parse_kernel_stack(text);
  return 0;
}
