// SPDX-License-Identifier: MIT
// The control group of a container: of its first process, or by its id while it is being started.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace fathom::containers {

// The path of a process's group, in a hierarchy that counts resources, as below the hierarchy's
// root; "" where it is gone, or is in none.
[[nodiscard]] std::string group_of(pid_t pid);
// The same from the text of /proc/PID/cgroup.
[[nodiscard]] std::string group_in(std::string_view text);

// The first process in a group's directory; 0: none.
[[nodiscard]] pid_t first_in(const std::string& directory);

// As the kernel calls it; "": it is gone.
[[nodiscard]] std::string name_of_process(pid_t pid);
// Whether this is the process of an engine's runtime (runc, crun), which is to become the
// application.
[[nodiscard]] bool is_runtime(std::string_view name);

}  // namespace fathom::containers
