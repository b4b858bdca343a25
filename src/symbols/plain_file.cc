// SPDX-License-Identifier: MIT
#include "symbols/plain_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/files.h"
#include "base/os_error.h"

namespace fathom::symbols {

Result<std::string> read_plain_file(const std::string& path, uid_t owner, std::uint64_t most) {
  const std::string folder(dir_name(path));
  const std::string name(base_name(path));
  const Fd place(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!place.valid()) return os_error(errno, "open " + folder);
  Fd fd(::openat(place.get(), name.c_str(),
                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid() && errno == ELOOP) return Error{Code::kDenied, path + " is a link", ""};
  if (!fd.valid()) return os_error(errno, "open " + path);
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return os_error(errno, "look at " + path);
  if (!S_ISREG(facts.st_mode)) return Error{Code::kDenied, path + " is no plain file", ""};
  if (facts.st_uid != owner && facts.st_uid != 0)
    return Error{Code::kDenied, path + " belongs to another user", ""};
  if (static_cast<std::uint64_t>(facts.st_size) > most)
    return Error{Code::kUnsupported, path + " is too large", ""};
  const File file = File::adopt(std::move(fd), path);
  return file.read_range(0, static_cast<std::size_t>(facts.st_size));
}

}  // namespace fathom::symbols
