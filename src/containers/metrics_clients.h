// SPDX-License-Identifier: MIT
// Clients of a door for metrics: several at once, in one thread. None of them is waited for, since
// all that is done with a socket returns at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace fathom::containers {

inline constexpr std::size_t kMostQuestion = 8192;  // bytes of a head
inline constexpr std::string_view kEndOfHead = "\r\n\r\n";

// Owns the connections, not the door. No failure of a client shows: its connection is closed. One
// thread.
class MetricsClients {
 public:
  static constexpr std::size_t kMost = 16;
  using Answer = std::function<std::string(std::string_view question)>;

  // `door` listens and does not block. A client has `patience_ns` to ask, and as long again to take
  // the answer; the oldest makes room for a new one.
  MetricsClients(int door, std::int64_t patience_ns, Answer answer);

  // Does what can be done now; waits at most `wait_ms` for something to do.
  void turn(int wait_ms);

 private:
  struct Client {
    Fd connection;  // closed: to be removed
    std::int64_t until_ns = 0;
    std::string question = {}, answer = {};  // no answer: it still asks
    std::size_t sent = 0;
  };
  void accept_one();
  void go_on(Client& client) const;
  void receive(Client& client) const;
  static void send(Client& client);

  int door_;
  std::int64_t patience_ns_;
  Answer answer_;
  std::vector<Client> clients_;  // the oldest first
  bool door_rests_ = false;      // nobody could be let in: not tried again at once
};

}  // namespace fathom::containers
