// SPDX-License-Identifier: MIT
// Any bytes as files of /proc: names of processes are other people's.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/proc_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)parse_process_stat(text);
  (void)parse_schedstat(text);
  (void)parse_syscall(text);
  (void)number_of(text, "VmRSS:");
  (void)only_number(text);
  (void)parse_machine_cpu(text);
  (void)parse_pids(text);
  return 0;
}
