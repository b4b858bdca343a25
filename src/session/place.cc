// SPDX-License-Identifier: MIT
// Makes the recording's directory, private to its user. --force removes only what Fathom made, and
// nothing that a recorder or a program still writes. Several runs may begin at once with one -o
// (ranks of a job): hold_place lets them look and make one after the other.
#include "session/place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/files.h"
#include "base/host.h"
#include "base/os_error.h"
#include "base/private_files.h"
#include "trace/recording/replace.h"
#include "wire/rank.h"

namespace fathom::session {
namespace {

constexpr int kMostOfOneSecond = 1000;

bool exists(const std::string& path) {
  struct stat facts {};
  return lstat(path.c_str(), &facts) == 0;  // a dangling link is in the way, too
}

Status make_one(const std::string& path) {
  Status made = make_private_dir(path);
  if (!made) made.error().hint = "choose another with -o";
  return made;
}

Status make_above(const std::string& path) {
  Status made = make_dirs(std::string(dir_name(path)));
  if (!made) made.error().hint = "choose another directory with -o";
  return made;
}

// As the launcher says it; a program that nobody launched so is the only one.
std::string own_rank() {
  for (const char* name : {FATHOM_RANK_VARIABLES}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0' && value[std::strspn(value, "0123456789")] == '\0')
      return value;
  }
  return "0";
}

Result<std::string> make_default(std::string_view program) {
  const std::string name = default_name(program, std::time(nullptr));
  const std::string stem = name.substr(0, name.rfind('.'));
  for (int number = 1; number <= kMostOfOneSecond; ++number) {
    const std::string path = number == 1 ? name : stem + "-" + std::to_string(number) + ".fathom";
    if (exists(path)) continue;
    const Status made = make_one(path);
    if (made) return real_path(path);
    if (!exists(path)) return made.error();  // else somebody else was quicker
  }
  return Error{Code::kIo, "every name like " + name + " is taken", "choose one with -o"};
}

}  // namespace

std::string default_name(std::string_view program, std::time_t time) {
  std::string safe;
  for (const char c : base_name(program)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '.' || c == '_' || c == '-' || c == '+' ||
                       static_cast<unsigned char>(c) >= 0x80;
    safe += plain ? c : '_';
  }
  // A name in most file systems has 255 bytes, of which the rest needs some.
  if (safe.size() > 100) safe.resize(100);
  std::tm local{};
  localtime_r(&time, &local);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
  return "fathom-" + safe + "-" + stamp + ".fathom";
}

Result<std::string> expand_name(const std::string& asked) {
  std::string name;
  for (std::size_t at = 0; at < asked.size(); ++at) {
    if (asked[at] != '%') {
      name += asked[at];
      continue;
    }
    const char place = at + 1 < asked.size() ? asked[++at] : '\0';
    if (place == '%') {
      name += '%';
    } else if (place == 'r') {
      name += own_rank();
    } else if (place == 'h') {
      name += this_host().hostname;
    } else if (place == 'p') {
      name += std::to_string(getpid());
    } else {
      return usage_error("-o '" + asked + "' has an unknown %",
                         "use %r (rank), %h (host), %p (process ID) or %% (a percent sign)");
    }
  }
  return name;
}

Result<Fd> hold_place(const std::string& asked) {
  if (asked.empty()) return Fd();
  FATHOM_ASSIGN(const std::string path, absolute_path(asked));
  FATHOM_TRY(make_above(path));
  Fd gate(open(std::string(dir_name(path)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  constexpr std::int64_t kPatienceNs = 10'000'000'000;
  constexpr timespec kNap{0, 2'000'000};
  const std::int64_t end = now_monotonic_ns() + kPatienceNs;
  while (flock(gate.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
         now_monotonic_ns() < end)
    nanosleep(&kNap, nullptr);
  return gate;
}

Status check_place(const std::string& asked, bool force) {
  if (asked.empty() || !exists(asked)) return {};
  if (!force)
    return Error{Code::kInvalid, asked + " exists",
                 "choose another directory, or --force to replace it"};
  FATHOM_ASSIGN(const std::string path, absolute_path(asked));
  return trace::check_replaceable(path);
}

Result<std::string> make_place(const std::string& asked, bool force, std::string_view program) {
  if (asked.empty()) return make_default(program);
  FATHOM_TRY(check_place(asked, force));
  FATHOM_ASSIGN(const std::string path, absolute_path(asked));
  if (exists(path)) FATHOM_TRY(trace::remove_recording(path));
  FATHOM_TRY(make_above(path));
  FATHOM_TRY(make_one(path));
  return real_path(path);
}

}  // namespace fathom::session
