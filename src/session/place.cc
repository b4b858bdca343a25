// SPDX-License-Identifier: MIT
#include "session/place.h"

#include <sys/stat.h>

#include "base/files.h"
#include "base/private_files.h"
#include "trace/manifest.h"
#include "trace/spool.h"

namespace fathom::session {
namespace {

constexpr int kMostOfOneSecond = 1000;

bool exists(const std::string& path) {
  struct stat facts {};
  return lstat(path.c_str(), &facts) == 0;  // a dangling link is in the way, too
}

// Only what Fathom made, or nothing at all, is ever removed.
bool may_remove(const std::string& path) {
  struct stat facts {};
  if (lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return false;
  const Result<std::vector<std::string>> names = list_dir(path);
  if (!names) return false;
  if (names->empty()) return true;
  const std::string spool = join_path(path, trace::kSpoolDirectory);
  return path_exists(join_path(path, trace::kManifestFile)) ||
         path_exists(join_path(spool, FATHOM_RUN_FILE));
}

Status make_one(const std::string& path) {
  Status made = make_private_dir(path);
  if (!made) made.error().hint = "choose another with -o";
  return made;
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
  return Error{Code::kIo, "no name is free for " + name, "choose one with -o"};
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
  if (safe.size() > 100) safe.resize(100);
  std::tm local{};
  localtime_r(&time, &local);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
  return "fathom-" + safe + "-" + stamp + ".fathom";
}

Status check_place(const std::string& asked, bool force) {
  if (asked.empty() || !exists(asked)) return {};
  if (!force)
    return Error{Code::kInvalid, asked + " exists",
                 "choose another directory, or --force to replace it"};
  if (may_remove(asked)) return {};
  return Error{Code::kInvalid, asked + " exists and is not a recording",
               "choose another directory"};
}

Result<std::string> make_place(const std::string& asked, bool force, std::string_view program) {
  if (asked.empty()) return make_default(program);
  FATHOM_TRY(check_place(asked, force));
  if (exists(asked)) FATHOM_TRY(remove_tree(asked));
  FATHOM_ASSIGN(const std::string path, absolute_path(asked));
  const std::string above(dir_name(path));
  if (Status made = make_dirs(above); !made) {
    made.error().hint = "choose another directory with -o";
    return std::move(made).error();
  }
  FATHOM_TRY(make_one(path));
  return real_path(path);
}

}  // namespace fathom::session
