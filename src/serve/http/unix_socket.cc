// SPDX-License-Identifier: MIT
// The kernel makes the name with the mode of the socket itself, which is set before: there is no
// moment in which others could connect, and the umask of other threads is left alone.
#include "serve/http/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/escape.h"
#include "base/os_error.h"
#include "base/own_file.h"

namespace fathom::serve {
namespace {

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return usage_error("--socket: the path '" + escape_name(path) + "' is too long for a socket",
                       "use a path of at most 107 bytes");
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Result<Fd> make_socket() {
  Fd made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.valid()) return os_error(errno, "make a socket");
  return made;
}

bool binds(const Fd& socket, const sockaddr_un& address) {
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// A socket of this user's that nobody listens at.
bool is_left_over(const std::string& path, const sockaddr_un& address) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISSOCK(facts.st_mode) || facts.st_uid != ::geteuid())
    return false;
  const Result<Fd> probe = make_socket();
  if (!probe) return false;
  return ::connect(probe->get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
             0 &&
         errno == ECONNREFUSED;
}

}  // namespace

Result<UnixListener> listen_at(const std::string& path) {
  FATHOM_ASSIGN(const std::string whole, absolute_path(path));
  FATHOM_ASSIGN(const sockaddr_un address, address_of(whole));
  FATHOM_ASSIGN(const std::string above, real_path(std::string(dir_name(whole))));
  if (!is_way_kept(above))
    return Error{Code::kDenied, "--socket: other users could replace " + escape_name(whole),
                 "choose a directory of your own"};
  FATHOM_ASSIGN(Fd socket, make_socket());
  if (::fchmod(socket.get(), S_IRUSR | S_IWUSR) != 0) return os_error(errno, "make a socket");
  bool bound = binds(socket, address);
  if (!bound && errno == EADDRINUSE && is_left_over(whole, address)) {
    ::unlink(whole.c_str());
    bound = binds(socket, address);
  }
  if (!bound && errno == EADDRINUSE)
    return Error{Code::kExists, "--socket: " + escape_name(whole) + " already exists",
                 "choose another path, or remove it if no program listens there"};
  if (!bound) return os_error(errno, "listen at " + escape_name(whole));
  TemporaryPath kept(whole);
  if (::listen(socket.get(), SOMAXCONN) != 0) return os_error(errno, "listen at " + whole);
  return UnixListener{std::move(socket), std::move(kept)};
}

}  // namespace fathom::serve
