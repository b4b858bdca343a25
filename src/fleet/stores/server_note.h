// SPDX-License-Identifier: MIT
// What a server leaves for commands of the same user on the same machine: its URL, a token, and the
// fingerprint of its certificate, in $XDG_RUNTIME_DIR/fathom/server.json or, where there is no such
// directory, ~/.config/fathom/server.json. The server holds a lock on the file while it lives, so
// that a note of one that was killed is recognised; a good stop removes it.
#pragma once

#include <optional>
#include <string>

#include "base/files.h"
#include "base/result.h"

namespace fathom::fleet {

struct ServerNote {
  std::string url;
  std::string token;
  std::string fingerprint;  // "" without TLS
};

// nullopt where no server of this user runs here.
[[nodiscard]] std::optional<ServerNote> find_server_note();

// A note that is there as long as this object, which owns the lock: it has to live as long as the
// server listens.
class LeftNote {
 public:
  // kExists where another server of this user has left one.
  static Result<LeftNote> leave(const ServerNote& note);
  LeftNote(LeftNote&&) = default;
  LeftNote& operator=(LeftNote&&) = delete;
  ~LeftNote();

 private:
  explicit LeftNote(File file) : file_(std::move(file)) {}
  File file_;
};

}  // namespace fathom::fleet
