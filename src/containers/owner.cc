// SPDX-License-Identifier: MIT
// Marks a container with its maker's pid, start time, pid namespace and boot: a pid alone would not
// do, since the kernel gives it again.
#include "containers/owner.h"

#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "base/files.h"
#include "base/host.h"
#include "base/text.h"

namespace fathom::containers {
namespace {

// Field 22 of /proc/PID/stat, in ticks since the boot; "": there is no such process.
std::string start_of(const std::string& pid) {
  const Result<std::string> stat = read_file("/proc/" + pid + "/stat");
  const std::size_t name_end = stat ? stat->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return "";
  const std::vector<std::string_view> fields =
      split(std::string_view(*stat).substr(name_end + 1), ' ');
  constexpr std::size_t kStart = 20;  // counted from the blank behind the name
  constexpr std::size_t kState = 1;
  if (fields.size() <= kStart || fields[kState] == "Z") return "";
  return std::string(fields[kStart]);
}

std::string own_namespace() {
  struct stat facts {};
  return ::stat("/proc/self/ns/pid", &facts) == 0 ? std::to_string(facts.st_ino) : "0";
}

}  // namespace

std::string own_mark() {
  const std::string pid = std::to_string(::getpid());
  return pid + "." + start_of(pid) + "." + own_namespace() + "." + this_host().boot_id;
}

bool has_owner_ended(std::string_view mark) {
  const std::vector<std::string_view> parts = split(mark, '.');
  if (parts.size() != 4 || !parse_int(parts[0])) return false;
  if (parts[3] != this_host().boot_id) return true;
  return parts[2] == own_namespace() && start_of(std::string(parts[0])) != parts[1];
}

Status remove_abandoned(Engine& engine) {
  FATHOM_ASSIGN(const std::vector<ListedContainer> ours, engine.list(kOwnerLabel));
  Status outcome;
  for (const ListedContainer& one : ours) {
    if (!has_owner_ended(one.owner)) continue;
    Status removed = engine.remove(one.id);
    if (!removed && outcome) outcome = std::move(removed);
  }
  return outcome;
}

}  // namespace fathom::containers
