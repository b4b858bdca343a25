// SPDX-License-Identifier: MIT
// Decides when names in a recording may make us open files here: only for the owner's own
// recording, of this boot, and modules unchanged since.
#include "trace/recording/trust.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/host.h"

namespace fathom::trace {
namespace {

std::int64_t ns_of(const timespec& time) { return time.tv_sec * 1000000000 + time.tv_nsec; }

// When something of the spool was written last.
std::int64_t last_written_ns(const Spool& spool) {
  std::int64_t latest = 0;
  const Result<std::vector<std::string>> names = spool.files().names();
  if (!names) return latest;
  for (const std::string& name : *names) {
    struct stat facts {};
    const bool there =
        ::fstatat(spool.files().fd(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && S_ISREG(facts.st_mode)) latest = std::max(latest, ns_of(facts.st_mtim));
  }
  return latest;
}

}  // namespace

bool is_ours(const Directory& recording, const Spool& spool) {
  const std::string& boot = this_host().boot_id;
  return recording.is_ours() && spool.files().is_ours() && !boot.empty() && spool.boot_id() == boot;
}

Status check_owner(const std::string& recording) {
  FATHOM_ASSIGN(const Directory directory, Directory::open(recording));
  FATHOM_ASSIGN(const Directory spool, directory.directory(kSpoolDirectory));
  if (directory.is_ours() && spool.is_ours()) return {};
  return Error{Code::kDenied, recording + " belongs to another user",
               "only its owner can pack it; you can read it as it is"};
}

NameResolver for_unchanged_modules(NameResolver resolver, const Spool& spool) {
  const auto fits = [latest = last_written_ns(spool)](const std::string& module) {
    struct stat facts {};
    return ::stat(module.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           ns_of(facts.st_ctim) <= latest;
  };
  NameResolver careful;
  if (resolver.function) {
    careful.function = [fits, ask = std::move(resolver.function)](const std::string& module,
                                                                  std::uint64_t offset) {
      return fits(module) ? ask(module, offset) : std::string();
    };
  }
  if (resolver.frames) {
    careful.frames = [fits, ask = std::move(resolver.frames)](const CodePlace& place) {
      return fits(place.module) ? ask(place) : NamedPlace{};
    };
  }
  return careful;
}

}  // namespace fathom::trace
