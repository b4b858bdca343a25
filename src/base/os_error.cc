// SPDX-License-Identifier: MIT
// One translation of errno into our error codes and words. Uses the *_np functions because strerror
// depends on the locale and is not thread-safe.
#include "base/os_error.h"

#include <sys/resource.h>

#include <cerrno>
#include <cstring>

namespace fathom {
namespace {

Code code_of(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
    case ESRCH:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kDenied;
    case ENOSYS:
    case EOPNOTSUPP:
      return Code::kUnsupported;
    default:
      return Code::kIo;
  }
}

// Else the file system has a limit of its own.
bool file_size_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

std::string errno_name(int number) {
  if (number == 0) return "";
  const char* name = strerrorname_np(number);
  return name != nullptr ? name : "errno " + std::to_string(number);
}

Error os_error(int number, std::string_view what, std::string hint) {
  const char* text = strerrordesc_np(number);  // unlike strerror: no locale, any thread
  if (number == ENOSPC) text = "the disk is full (No space left on device)";
  if (number == EFBIG && file_size_is_limited())
    text = "the file size limit (ulimit -f) is reached (File too large)";
  if (number == EDQUOT) text = "the disk is full for this user (Disk quota exceeded)";
  return {code_of(number), std::string(what) + ": " + (text != nullptr ? text : errno_name(number)),
          std::move(hint)};
}

}  // namespace fathom
