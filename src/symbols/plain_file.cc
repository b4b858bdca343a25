// SPDX-License-Identifier: MIT
// Opens first and checks the open file afterwards, so that nobody can exchange it in between.
// O_NONBLOCK keeps a FIFO from holding us up.
#include "symbols/plain_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/os_error.h"

namespace fathom::symbols {

Result<Fd> open_plain_file(int folder, const std::string& name, uid_t owner) {
  Fd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid() && errno == ELOOP) return Error{Code::kDenied, name + " is a link", ""};
  if (!fd.valid()) return os_error(errno, "open " + name);
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return os_error(errno, "look at " + name);
  if (!S_ISREG(facts.st_mode)) return Error{Code::kDenied, name + " is no plain file", ""};
  if (facts.st_uid != owner && facts.st_uid != 0)
    return Error{Code::kDenied, name + " belongs to another user", ""};
  return fd;
}

}  // namespace fathom::symbols
