// SPDX-License-Identifier: MIT
// /proc alone tells it of a process that is not a child, and without taking the report away from
// who waits for it.
#include "session/stopped.h"

#include <string>

#include "base/files.h"

namespace fathom::session {

bool is_stopped(pid_t pid) {
  const Result<std::string> text = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t close = text ? text->rfind(") ") : std::string::npos;
  return close != std::string::npos && (*text)[close + 2] == 'T';
}

}  // namespace fathom::session
