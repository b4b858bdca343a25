// SPDX-License-Identifier: MIT
// Any bytes as files of /proc: names of processes and of mount points are other people's.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sources/proc_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::sources;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)parse_process_stat(text);
  (void)parse_schedstat(text);
  (void)parse_syscall(text);
  (void)number_of(text, "VmRSS:");
  (void)only_number(text);
  (void)parse_machine_cpu(text);
  (void)parse_pids(text);
  const std::size_t border = text.find('\0');  // cgroup, then mountinfo
  if (border != std::string_view::npos) {
    (void)find_cgroup(text.substr(0, border), text.substr(border + 1));
  }
  return 0;
}
