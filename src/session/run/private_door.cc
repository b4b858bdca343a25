// SPDX-License-Identifier: MIT
// Binds the socket by its path and removes the file with it. A door that cannot be made is no error
// here: its path stays empty, and broker.cc goes on without it.
#include "session/run/private_door.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "session/private_places.h"
#include "wire/broker.h"

namespace fathom::session {
namespace {

constexpr int kWaiting = 128;  // who have not been let in yet
constexpr mode_t kPrivate = 0600;
constexpr mode_t kForAnyUser = 0666;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

Fd make_socket() { return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

// A recorder that was killed leaves its socket's file. Nobody listens there.
void remove_abandoned(const std::string& place) {
  const Result<std::vector<std::string>> names = list_dir(place);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(FATHOM_BROKER_DOOR)) continue;
    const std::string path = join_path(place, name);
    const sockaddr_un address = address_of(path);
    const Fd line = make_socket();
    if (line.valid() &&
        ::connect(line.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
        errno == ECONNREFUSED)
      ::unlink(path.c_str());
  }
}

}  // namespace

PrivateDoor::PrivateDoor(const std::string& name) {
  const std::string place = make_private_place();
  if (place.empty()) return;
  remove_abandoned(place);
  listen(join_path(place, FATHOM_BROKER_DOOR + name), kPrivate);
}

PrivateDoor PrivateDoor::at(const std::string& path) {
  PrivateDoor door;
  door.listen(path, kForAnyUser);
  return door;
}

void PrivateDoor::listen(const std::string& path, mode_t mode) {
  const sockaddr_un address = address_of(path);
  if (path.size() >= sizeof address.sun_path) return;
  Fd door = make_socket();
  if (!door.valid() ||
      ::bind(door.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return;
  path_ = path;
  door_ = std::move(door);
  if (::chmod(path.c_str(), mode) != 0 || ::listen(door_.get(), kWaiting) != 0) close();
}

PrivateDoor::~PrivateDoor() { close(); }

void PrivateDoor::close() {
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
  door_.reset();
}

}  // namespace fathom::session
