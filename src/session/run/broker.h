// SPDX-License-Identifier: MIT
// Hands descriptors of the spool to processes of the run that may not open it themselves: those
// that became another user, or changed their root (wire/broker.h, docs/formats/broker.md). Who asks
// must know a secret that stands in the program's environment alone. They get the run's header to
// read, and pools to write: nothing that reaches another process's pools.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "session/run/private_door.h"
#include "wire/broker.h"
#include "wire/spool.h"

namespace fathom::session {

// For its owner's thread; a thread of its own answers from start() to stop(). Whoever asks wrongly
// is hung up on: nothing of that is an error here.
class Broker {
 public:
  // Where the second socket is made, and by which path programs find it.
  struct Door {
    std::string path;
    std::string told;
  };
  // `directory` is the recording's. Whoever connects waits until start(). Without a `door`, the
  // second socket lies in this user's private place.
  static Result<std::unique_ptr<Broker>> open(const std::string& directory,
                                              const std::optional<Door>& door = {});
  ~Broker() { stop(); }
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  [[nodiscard]] std::string variable() const;  // NAME=value, for the program
  Status start();
  void stop();

 private:
  struct Caller {
    Fd line;
    std::int64_t came_ns;
    Fd mark;  // for a thread to sign, so that the kernel tells its number here
  };
  struct Reply {
    fathom_broker_reply head{};
    Fd fd;
  };
  Broker() = default;
  Status listen();
  void serve(const std::stop_token& stop);
  void wait();
  void accept_some(int door);
  void close_doors();
  bool serve_one(Caller& caller);  // whether it is done with
  Reply answer(std::span<const std::byte> packet, Caller& caller);
  static bool tell_numbers(const fathom_broker_request& request, Caller& caller, Reply& reply);
  Fd open_header(std::uint64_t schema, bool& wants_schema) const;
  [[nodiscard]] bool keep_schema(std::uint64_t hash, std::string_view text) const;
  [[nodiscard]] Fd give_pool(const fathom_broker_request& request, std::int32_t pid) const;
  [[nodiscard]] Fd make_pool(const fathom_broker_request& request, std::int32_t pid) const;
  bool change_header(const std::function<bool(fathom_run_header&)>& change) const;
  bool book(std::int64_t bytes) const;  // in the run's budget; negative: gives back

  std::string name_, ask_, answer_;
  Fd spool_;  // its directory
  Fd door_;
  std::optional<PrivateDoor> private_door_;
  std::string told_;  // its path, as programs see it; "": there is none
  Fd wake_;
  std::vector<Caller> callers_;    // the thread's
  std::vector<std::byte> packet_;  // the thread's
  std::jthread thread_;
};

}  // namespace fathom::session
