// SPDX-License-Identifier: MIT
// The door to the network: listens, reads requests within the limits, gives them to the router, and
// writes answers as fast as clients take them. Boost is in the .cc alone.
//
// One thread moves bytes; a pool of others answers, since a store may wait for its disk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "fleet/http/listen_address.h"
#include "serve/http/limits.h"
#include "serve/http/router.h"
#include "serve/http/unix_socket.h"

namespace fathom::serve {

using fleet::Address;

// Whether only this machine can reach it.
Result<bool> is_loopback(const Address& address);

struct TlsKeys {
  std::string certificate;  // PEM, with those that lead to an authority
  std::string key;          // PEM
};

// Owns the socket that listens, its connections and the threads that answer; the router must
// outlive it. One thread calls run(), which returns when all of it has ended.
class Server {
 public:
  // From now on connections wait; nobody is answered before run().
  static Result<Server> listen(Router& router, const Address& address,
                               const std::optional<TlsKeys>& tls);
  // The same at a socket of the file system, which listens already.
  static Result<Server> take(Router& router, UnixListener listener);
  Server(Server&& other) noexcept;
  Server& operator=(Server&&) = delete;
  ~Server();

  [[nodiscard]] std::string url() const;        // for others: with this machine's name
  [[nodiscard]] std::string local_url() const;  // for this machine
  [[nodiscard]] std::uint16_t port() const;     // 0: a socket of the file system
  [[nodiscard]] bool is_open_to_all() const;    // listens at every address of the machine

  // Until SIGINT, SIGTERM or stop(); then requests under way are finished.
  void run();
  void stop();  // from any thread
  // Called by run() as soon as it is to end.
  void when_stopping(std::function<void()> call);

 private:
  class Core;
  explicit Server(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace fathom::serve
