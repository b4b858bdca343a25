// SPDX-License-Identifier: MIT
#include "session/run/kernel_io.h"

#include <string_view>

#include "base/files.h"
#include "base/text.h"

namespace fathom::session {

std::string kernel_io_of(pid_t program) {
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
  return was_read.empty() || was_written.empty() ? "" : was_read + " " + was_written;
}

}  // namespace fathom::session
