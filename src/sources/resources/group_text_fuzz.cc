// SPDX-License-Identifier: MIT
// Any bytes as the files of a control group and of its network.
#include "sources/resources/group_text.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::sources;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)parse_blkio(text);
  (void)parse_io_stat(text);
  (void)parse_usage_by_cpu(text);
  (void)parse_pressure(text);
  (void)parse_cpu_max(text);
  (void)parse_net_dev(text);
  return 0;
}
