// SPDX-License-Identifier: MIT
// The memory that this process may really use. Inside a container the machine's size is a lie: the
// smallest limit of the control groups from here up to the root counts.
#include "base/memory.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace fathom {
namespace {

// Groups above bound those below.
std::uint64_t least_of_groups(const std::string& top, std::string group, const std::string& file) {
  std::uint64_t least = UINT64_MAX;
  for (;;) {
    const Result<std::string> text = read_file(std::string(top).append(group).append(file));
    const Result<std::int64_t> most = parse_int(text ? trim(*text) : "");  // or "max"
    if (most && *most > 0) least = std::min(least, static_cast<std::uint64_t>(*most));
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

}  // namespace

std::uint64_t own_memory(std::string_view row) {
  const Result<std::string> text = read_file("/proc/self/status");
  const std::size_t at = text ? text->find(row) : std::string::npos;
  if (at == std::string::npos) return 0;
  const std::string_view rest = trim(std::string_view(*text).substr(at + row.size()));
  const Result<std::int64_t> kib = parse_int(rest.substr(0, rest.find(' ')));
  return kib ? static_cast<std::uint64_t>(*kib) * 1024 : 0;
}

std::uint64_t usable_memory(const std::string& root) {
  auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
               static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const Result<std::string> read = read_file(root + "/proc/self/cgroup");
  const std::string groups = read ? *read : "";
  for (const std::string_view line : split(groups, '\n')) {
    const std::vector<std::string_view> parts =
        split(line, ':');  // "0::/user.slice", "4:memory:/x"
    if (parts.size() != 3 || (!parts[1].empty() && parts[1] != "memory")) continue;
    const bool unified = parts[1].empty();
    const std::string top = root + (unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    bytes = std::min(bytes, least_of_groups(top, std::string(parts[2]),
                                            unified ? "/memory.max" : "/memory.limit_in_bytes"));
  }
  return bytes;
}

}  // namespace fathom
