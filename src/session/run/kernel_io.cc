// SPDX-License-Identifier: MIT
#include "session/run/kernel_io.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "wire/spool.h"

namespace fathom::session {

namespace {

// What the library wrote in the program's name: the schema, where it was the first of the run. If
// it was another process, so many bytes count as seen.
std::int64_t published_in(const std::string& spool) {
  std::int64_t bytes = 0;
  const Result<std::vector<std::string>> names = list_dir(spool);
  if (!names) return 0;
  for (const std::string& name : *names) {
    struct stat facts {};
    if (name.starts_with(FATHOM_SCHEMA_PREFIX) &&
        ::lstat(join_path(spool, name).c_str(), &facts) == 0)
      bytes += facts.st_size;
  }
  return bytes;
}

}  // namespace

std::string kernel_io_of(pid_t program, const std::string& spool) {
  const Result<std::string> text = read_file("/proc/" + std::to_string(program) + "/io");
  if (!text) return "";
  std::string was_read;
  std::string was_written;
  for (const std::string_view line : split(*text, '\n')) {
    constexpr std::string_view kRead = "rchar: ";
    constexpr std::string_view kWritten = "wchar: ";
    if (line.starts_with(kRead)) was_read = line.substr(kRead.size());
    if (line.starts_with(kWritten)) was_written = line.substr(kWritten.size());
  }
  const Result<std::int64_t> written = parse_int(was_written);
  if (was_read.empty() || !written) return "";
  return was_read + " " + std::to_string(std::max<std::int64_t>(0, *written - published_in(spool)));
}

}  // namespace fathom::session
