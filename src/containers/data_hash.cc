// SPDX-License-Identifier: MIT
// Hashes names, kinds and contents of a file or tree in the order of names. Lengths frame each
// entry, so that no text of one can be taken for another's.
#include "containers/data_hash.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <span>

#include "base/files.h"
#include "base/os_error.h"
#include "fleet/sha256.h"

namespace fathom::containers {
namespace {

class Hasher {
 public:
  explicit Hasher(const std::function<bool()>& go_on) : go_on_(go_on) {}

  Status add(const std::string& path, const std::string& name) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) return os_error(errno, "look at " + path);
    if (S_ISDIR(facts.st_mode)) return add_directory(path, name);
    if (S_ISREG(facts.st_mode)) return add_file(path, name);
    if (S_ISLNK(facts.st_mode)) return add_link(path, name);
    mark('o', name, "");  // a device, a socket: that it is there
    return {};
  }
  std::string hex() { return sum_.hex(); }

 private:
  // No text of one entry can be taken for another's.
  void mark(char kind, const std::string& name, const std::string& what) {
    sum_.add(std::string(1, kind) + std::to_string(name.size()) + ":" + name +
             std::to_string(what.size()) + ":" + what);
  }

  Status add_directory(const std::string& path, const std::string& name) {
    FATHOM_ASSIGN(const std::vector<std::string> names, list_dir(path));
    mark('d', name, std::to_string(names.size()));
    for (const std::string& one : names)
      FATHOM_TRY(add(join_path(path, one), name.empty() ? one : join_path(name, one)));
    return {};
  }

  Status add_file(const std::string& path, const std::string& name) {
    FATHOM_ASSIGN(const File file, File::open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    std::array<std::byte, std::size_t{256} << 10> piece;
    mark('f', name, "");
    std::uint64_t at = 0;
    while (true) {
      FATHOM_ASSIGN(const std::size_t got, file.pread_some(piece, at));
      if (got == 0) break;
      if (!go_on_()) return Error{Code::kDenied, "stopped by a signal", ""};
      sum_.add({reinterpret_cast<const char*>(piece.data()), got});
      at += got;
    }
    mark('e', "", std::to_string(at));
    return {};
  }

  Status add_link(const std::string& path, const std::string& name) {
    std::array<char, PATH_MAX> text;
    const ssize_t length = ::readlink(path.c_str(), text.data(), text.size());
    if (length < 0) return os_error(errno, "read " + path);
    mark('l', name, std::string(text.data(), static_cast<std::size_t>(length)));
    return {};
  }

  const std::function<bool()>& go_on_;
  fleet::Sha256 sum_;
};

}  // namespace

Result<std::string> hash_of_data(const std::string& path, const std::function<bool()>& go_on) {
  Hasher hasher(go_on);
  FATHOM_TRY(hasher.add(path, ""));
  return hasher.hex();
}

}  // namespace fathom::containers
