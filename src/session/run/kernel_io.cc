// SPDX-License-Identifier: MIT
// Reads /proc/PID/io of the zombie, so it has to be called before the process is reaped. The
// library's own bytes are subtracted where its files of the spool show them.
#include "session/run/kernel_io.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/files.h"
#include "base/proc_text.h"
#include "wire/spool.h"

namespace fathom::session {

namespace {

// What the library wrote in the program's name: the schema, where it was the first of the run. If
// it was another process, so many bytes count as seen.
std::uint64_t published_in(const std::string& spool) {
  std::uint64_t bytes = 0;
  const Result<std::vector<std::string>> names = list_dir(spool);
  if (!names) return 0;
  for (const std::string& name : *names) {
    struct stat facts {};
    if (name.starts_with(FATHOM_SCHEMA_PREFIX) &&
        ::lstat(join_path(spool, name).c_str(), &facts) == 0)
      bytes += static_cast<std::uint64_t>(facts.st_size);
  }
  return bytes;
}

}  // namespace

std::string kernel_io_of(pid_t program, const std::string& spool) {
  const Result<std::string> text = read_file("/proc/" + std::to_string(program) + "/io");
  if (!text) return "";
  const std::optional<std::uint64_t> read = number_of(*text, "rchar");
  const std::optional<std::uint64_t> written = number_of(*text, "wchar");
  if (!read || !written) return "";
  const std::uint64_t ours = std::min(*written, published_in(spool));
  return std::to_string(*read) + " " + std::to_string(*written - ours);
}

}  // namespace fathom::session
