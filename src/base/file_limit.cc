// SPDX-License-Identifier: MIT
// Readers hold every Parquet file of a recording open, and each event of perf is a descriptor: more
// than the 1024 that processes begin with. The limit is low by default for the sake of programs
// that use select(2), which none of ours does.
#include "base/file_limit.h"

#include <sys/resource.h>

#include "base/files.h"
#include "base/text.h"

namespace fathom {
namespace {

// Beyond it, nobody may.
rlim_t most_of_machine() {
  const Result<std::string> text = read_file("/proc/sys/fs/nr_open");
  const Result<std::int64_t> number = parse_int(trim(text ? *text : std::string()));
  return number && *number > 0 ? static_cast<rlim_t>(*number) : 0;
}

}  // namespace

void raise_file_limit() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const struct rlimit most { .rlim_cur = most_of_machine(), .rlim_max = most_of_machine() };
  if (most.rlim_max > limit.rlim_max && ::setrlimit(RLIMIT_NOFILE, &most) == 0) return;  // root
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace fathom
