// SPDX-License-Identifier: MIT
// One connection of a client, from its first byte to its last. All run in the thread of
// `ServerState::io`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

#include "base/files.h"
#include "serve/http/router.h"

namespace boost::asio {
class io_context;
class thread_pool;
namespace ssl {
class context;
}
}  // namespace boost::asio

namespace fathom::serve {

// What the server asks of a connection.
class OpenConnection {
 public:
  virtual ~OpenConnection() = default;
  virtual void stop() = 0;   // as soon as what is under way is done
  virtual void close() = 0;  // now
  // Closes it if that harms nobody who has a token: none was shown, and it is the peer's turn.
  virtual bool give_way() = 0;

 protected:
  OpenConnection() = default;
  OpenConnection(const OpenConnection&) = default;
  OpenConnection& operator=(const OpenConnection&) = default;
};

// What the server and its connections share. Only the thread of `io` touches it; it belongs to the
// server, which outlives every connection.
struct ServerState {
  Router* router = nullptr;
  boost::asio::io_context* io = nullptr;
  boost::asio::thread_pool* pool = nullptr;                   // where requests are answered
  boost::asio::ssl::context* tls = nullptr;                   // nullptr: without TLS
  std::map<std::uint64_t, OpenConnection*> connections = {};  // those that live, oldest first
  std::uint64_t welcomed = 0;                                 // so many connections until now
  std::size_t streams = 0;                                    // of events
  bool stopping = false;
  std::function<void()> ended = {};  // called after the end of each connection
};

// Serves it until it ends.
void start_connection(ServerState& state, Fd socket, bool is_ipv6);

}  // namespace fathom::serve
