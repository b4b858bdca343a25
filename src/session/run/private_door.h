// SPDX-License-Identifier: MIT
// The broker's second socket, which has a path: in another network namespace nobody finds one with
// an abstract name. It lies in this user's private place, and not in the spool, which people copy
// and remove.
#pragma once

#include <string>

#include "base/files.h"

namespace fathom::session {

// Owned by the broker; the socket's file goes with it.
class PrivateDoor {
 public:
  PrivateDoor() = default;
  // Listens where this user has a private place; where not, there is no such door.
  explicit PrivateDoor(const std::string& name);
  ~PrivateDoor();
  PrivateDoor(const PrivateDoor&) = delete;
  PrivateDoor& operator=(const PrivateDoor&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }  // "": there is none
  [[nodiscard]] int fd() const { return door_.get(); }
  void close();

 private:
  std::string path_;
  Fd door_;
};

}  // namespace fathom::session
