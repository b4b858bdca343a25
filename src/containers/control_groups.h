// SPDX-License-Identifier: MIT
// The control group of a container: of its first process, or by its id while it is being started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace fathom::containers {

// The path of a process's group, in a hierarchy that counts resources, as below the hierarchy's
// root; "" where it is gone, or is in none.
[[nodiscard]] std::string group_of(pid_t pid);
// The same from the text of /proc/PID/cgroup.
[[nodiscard]] std::string group_in(std::string_view text);

// The first process in a group's directory; 0: none.
[[nodiscard]] pid_t first_in(const std::string& directory);

// When a process began, by the monotonic clock; 0: it is gone.
[[nodiscard]] std::int64_t start_of_process(pid_t pid);

}  // namespace fathom::containers
