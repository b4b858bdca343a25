// SPDX-License-Identifier: MIT
// Packs and checks the messages between programs and the daemon. A message has one size and one
// version; anything else is refused.
#include "session/watch/watch_messages.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/files.h"
#include "base/os_error.h"
#include "base/plural.h"
#include "base/utf8.h"

namespace fathom::session {
namespace {

// A daemon that begins its next recording waits for the disk, which may be busy with other things.
constexpr int kPatienceMs = 30'000;
constexpr char kVersions[] = "the program and the daemon must be of one version";

// Other verbs are about whoever asks, or about the daemon.
bool names_a_process(fathom_watch_verb verb) {
  return verb == FATHOM_WATCH_ATTACH || verb == FATHOM_WATCH_DETACH;
}

bool is_verb(std::uint16_t verb) {
  return verb >= FATHOM_WATCH_CONNECT && verb <= FATHOM_WATCH_DETACH;
}

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

Error no_daemon(const std::string& path) {
  return {Code::kNotFound, "no daemon listens at " + path,
          "start one with 'fathom watch', name it with --socket or FATHOM_SOCKET, or record "
          "without one: fathom attach PID -o DIR"};
}

Result<Fd> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{Code::kInvalid, "the socket's path is too long: " + path,
                 "choose a shorter one with --socket"};
  path.copy(address.sun_path, path.size());
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return os_error(errno, "make a socket");
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return fd;
  // A daemon that was killed leaves its socket behind.
  if (errno == ENOENT || errno == ECONNREFUSED) return no_daemon(path);
  return os_error(errno, "connect to the daemon at " + path);
}

}  // namespace

Result<WatchRequest> parse_watch_request(std::span<const std::byte> packet) {
  fathom_watch_request request{};
  if (packet.size() != sizeof request)
    return Error{Code::kInvalid, "a request must have " + counted(sizeof request, "byte"), ""};
  std::memcpy(&request, packet.data(), sizeof request);
  if (request.magic != FATHOM_WATCH_MAGIC)
    return Error{Code::kInvalid, "this is not a request of Fathom's", ""};
  if (request.version != FATHOM_WATCH_VERSION)
    return Error{Code::kInvalid, "the request has another version", kVersions};
  if (!is_verb(request.verb)) return Error{Code::kInvalid, "the request is unknown", kVersions};
  const auto verb = static_cast<fathom_watch_verb>(request.verb);
  // A number where none belongs is refused, too: it may come to mean something.
  if (names_a_process(verb) ? request.pid <= 0 : request.pid != 0)
    return Error{Code::kInvalid, "the request names no process", ""};
  return WatchRequest{verb, request.pid};
}

std::string format_watch_request(const WatchRequest& request) {
  return bytes_of(fathom_watch_request{FATHOM_WATCH_MAGIC, FATHOM_WATCH_VERSION,
                                       static_cast<std::uint16_t>(request.verb), request.process,
                                       0});
}

std::string format_watch_reply(const Status& outcome, std::string_view text) {
  if (!outcome) text = outcome.error().message;
  text = text.substr(0, FATHOM_WATCH_TEXT);
  const auto answer =
      static_cast<std::uint16_t>(outcome ? FATHOM_WATCH_DONE : FATHOM_WATCH_REFUSED);
  return bytes_of(fathom_watch_reply{FATHOM_WATCH_MAGIC, FATHOM_WATCH_VERSION, answer,
                                     static_cast<std::uint32_t>(text.size()), 0})
      .append(text);
}

Result<std::string> parse_watch_reply(std::span<const std::byte> packet) {
  fathom_watch_reply reply{};
  if (packet.size() < sizeof reply)
    return Error{Code::kInvalid, "the daemon's answer is incomplete", "try again"};
  std::memcpy(&reply, packet.data(), sizeof reply);
  if (reply.magic != FATHOM_WATCH_MAGIC || reply.version != FATHOM_WATCH_VERSION)
    return Error{Code::kUnsupported, "the daemon has another version", kVersions};
  if (reply.bytes != packet.size() - sizeof reply)
    return Error{Code::kInvalid, "the daemon's answer is incomplete", "try again"};
  std::string text(reinterpret_cast<const char*>(packet.data()) + sizeof reply, reply.bytes);
  if (reply.answer == FATHOM_WATCH_DONE) return text;
  return Error{Code::kDenied, escape_invalid_utf8(text), ""};
}

// By what the kernel says of the caller (SO_PEERCRED), never by what the message says: everybody
// may have himself recorded, and his own processes; the daemon's user and root may have all.
Status may_ask(const WatchRequest& request, const ucred& who, uid_t daemon,
               const std::function<Result<uid_t>(pid_t)>& owner_of) {
  const bool is_master = who.uid == 0 || who.uid == daemon;
  // The kernel gives 0 for a process that our pid namespace does not hold.
  if (who.pid <= 0)
    return Error{Code::kDenied, "the process is in a container that cannot be seen from here", ""};
  if (!names_a_process(request.verb)) {
    const bool of_itself =
        request.verb == FATHOM_WATCH_CONNECT || request.verb == FATHOM_WATCH_DISCONNECT;
    if (of_itself || is_master) return {};
    return Error{Code::kDenied, "only the daemon's user and root may do this", ""};
  }
  FATHOM_ASSIGN(const uid_t owner, owner_of(request.process));
  if (is_master || owner == who.uid) return {};
  return Error{Code::kDenied,
               "process " + std::to_string(request.process) + " belongs to another user", ""};
}

Result<uid_t> owner_of_process(pid_t process) {
  struct stat facts {};
  if (::stat(("/proc/" + std::to_string(process)).c_str(), &facts) == 0) return facts.st_uid;
  return Error{Code::kNotFound, "there is no process " + std::to_string(process), ""};
}

std::string own_watch_socket() {
  const char* own = std::getenv("XDG_RUNTIME_DIR");
  if (::geteuid() == 0) return FATHOM_WATCH_SOCKET;
  if (own != nullptr && *own == '/') return std::string(own) + FATHOM_WATCH_OWN_SOCKET;
  return "/run/user/" + std::to_string(::geteuid()) + FATHOM_WATCH_OWN_SOCKET;
}

std::string find_watch_socket() {
  const char* named = std::getenv(FATHOM_WATCH_VARIABLE);
  if (named != nullptr && *named != '\0') return named;
  return path_exists(FATHOM_WATCH_SOCKET) ? FATHOM_WATCH_SOCKET : own_watch_socket();
}

Result<std::string> ask_daemon(const std::string& path, const WatchRequest& request) {
  FATHOM_ASSIGN(const Fd fd, connect_to(path));
  const std::string words = format_watch_request(request);
  if (::send(fd.get(), words.data(), words.size(), MSG_NOSIGNAL) < 0)
    return os_error(errno, "ask the daemon at " + path);
  pollfd waiting{fd.get(), POLLIN, 0};
  if (::poll(&waiting, 1, kPatienceMs) <= 0)
    return Error{Code::kIo, "the daemon at " + path + " does not answer",
                 "'fathom watch status' shows whether it works"};
  std::string packet(sizeof(fathom_watch_reply) + FATHOM_WATCH_TEXT, '\0');
  const ssize_t got = ::recv(fd.get(), packet.data(), packet.size(), 0);
  if (got <= 0)
    return Error{Code::kIo, "the daemon at " + path + " ended before it answered",
                 "start it again"};
  return parse_watch_reply(std::as_bytes(std::span(packet.data(), static_cast<std::size_t>(got))));
}

Result<pid_t> daemon_at(const std::string& path) {
  FATHOM_ASSIGN(const Fd fd, connect_to(path));
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    return os_error(errno, "find the daemon at " + path);
  if (who.pid > 0) return who.pid;
  return Error{Code::kNotFound, "the daemon at " + path + " cannot be seen from here", ""};
}

}  // namespace fathom::session
