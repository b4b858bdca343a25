// SPDX-License-Identifier: MIT
// The broker's second socket, which has a path: in another network namespace nobody finds one with
// an abstract name. It lies in this user's private place, and not in the spool, which people copy
// and remove; or where a container finds it.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "base/files.h"

namespace fathom::session {

// Owned by the broker; the socket's file goes with it.
class PrivateDoor {
 public:
  PrivateDoor() = default;
  // Listens where this user has a private place; where not, there is no such door.
  explicit PrivateDoor(const std::string& name);
  // Listens there. In a folder that others cannot reach: whoever finds it may knock.
  static PrivateDoor at(const std::string& path);
  ~PrivateDoor();
  PrivateDoor(const PrivateDoor&) = delete;
  PrivateDoor& operator=(const PrivateDoor&) = delete;
  PrivateDoor(PrivateDoor&& other) noexcept
      : path_(std::exchange(other.path_, {})), door_(std::move(other.door_)) {}
  PrivateDoor& operator=(PrivateDoor&&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }  // "": there is none
  [[nodiscard]] int fd() const { return door_.get(); }
  void close();

 private:
  void listen(const std::string& path, mode_t mode);
  std::string path_;
  Fd door_;
};

}  // namespace fathom::session
