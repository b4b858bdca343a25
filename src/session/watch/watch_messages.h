// SPDX-License-Identifier: MIT
// What is said between the daemon `fathom watch` and those who turn to it (wire/watch.h).
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/watch.h"

namespace fathom::session {

// A request whose fields were checked; whether it may be made is asked next (may_ask).
struct WatchRequest {
  fathom_watch_verb verb = FATHOM_WATCH_CONNECT;
  pid_t process = 0;  // attach, detach
};

// A packet of anybody. kInvalid where it is none of ours, or of another version.
Result<WatchRequest> parse_watch_request(std::span<const std::byte> packet);
std::string format_watch_request(const WatchRequest& request);

// The text is cut where it is too long.
std::string format_watch_reply(const Status& outcome, std::string_view text);
// The text that was asked for; a refusal is kDenied with the daemon's own words.
Result<std::string> parse_watch_reply(std::span<const std::byte> packet);

// Whether who asks may ask that. `owner_of` tells whose a process is, and fails where there is
// none.
Status may_ask(const WatchRequest& request, const ucred& who, uid_t daemon,
               const std::function<Result<uid_t>(pid_t)>& owner_of);
Result<uid_t> owner_of_process(pid_t process);

// Where a daemon of this user listens, and where it looks for one: FATHOM_SOCKET, root's, its own.
std::string own_watch_socket();
std::string find_watch_socket();

// Asks the daemon at `path` and waits for its answer, ten seconds at most.
Result<std::string> ask_daemon(const std::string& path, const WatchRequest& request);
// Who listens at `path`, as the kernel tells: an answer could name any process.
Result<pid_t> daemon_at(const std::string& path);

}  // namespace fathom::session
