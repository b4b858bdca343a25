// SPDX-License-Identifier: MIT
// Any bytes as the files of /proc that tell a control group: names of mount points are other
// people's.
#include "sources/resources/cgroup.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t border = text.find('\0');  // cgroup, then mountinfo
  if (border == std::string_view::npos) return 0;
  (void)fathom::sources::find_cgroup(text.substr(0, border), text.substr(border + 1));
  (void)fathom::sources::find_group_place(text.substr(0, border), text.substr(border + 1));
  return 0;
}
