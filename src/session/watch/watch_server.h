// SPDX-License-Identifier: MIT
// The socket at which a daemon listens. Everybody may turn to it; nobody can make it wait, and no
// user can crowd out another one's programs: who comes and does not ask takes the place of his own.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "session/watch/watch_messages.h"
#include "trace/spool/spool.h"

namespace fathom::session {

// One thread, and nothing here waits: the caller polls what add_to() gives, then calls serve().
class WatchServer {
 public:
  // What is said to who asks; an Error is sent as a refusal.
  using Answer = std::function<Result<std::string>(const WatchRequest&, const ucred& who)>;

  // Takes the lock beside the path, and replaces a socket that a dead daemon left. kDenied where
  // another daemon listens there, or where somebody else owns the folder.
  static Result<WatchServer> open(const std::string& path);
  WatchServer(WatchServer&& other) noexcept = default;
  WatchServer& operator=(WatchServer&& other) noexcept = default;
  ~WatchServer();

  [[nodiscard]] const std::string& path() const { return path_; }
  // To be waited for, besides others.
  void add_to(std::vector<pollfd>& waiting) const;
  // Answers whoever has asked by now.
  void serve(const Answer& answer);
  // Callers that were sent away without having asked, since the last call.
  [[nodiscard]] std::int64_t take_unserved() { return std::exchange(unserved_, 0); }
  // Removes the socket and hangs up on everybody. The lock stays ours until this object goes.
  void close();
  // Tells those who come that we are at work (FATHOM_WATCH_PULSE_S).
  void pulse() const;

 private:
  struct Caller {
    Fd fd;
    ucred who{};
    std::int64_t came_ns = 0;
  };
  WatchServer(std::string path, trace::FileLock lock, Fd fd);
  bool accept_some(const Answer& answer);
  void make_room(uid_t user, const Answer& answer);
  void send_away(std::vector<Caller>::iterator caller, const Answer& answer);
  bool serve_one(const Caller& caller, const Answer& answer);

  std::string path_;
  trace::FileLock lock_;
  Fd fd_;
  std::vector<Caller> callers_;  // who have not asked yet
  std::int64_t unserved_ = 0;
};

}  // namespace fathom::session
