// SPDX-License-Identifier: MIT
// Non-blocking, with limits for who waits: any user may connect, so none may be able to hold up the
// others.
#include "session/watch/watch_server.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/os_error.h"

namespace fathom::session {
namespace {

constexpr int kWaiting = 1024;             // who have not been let in yet
constexpr std::size_t kMostCallers = 256;  // who were let in and have not asked
constexpr std::ptrdiff_t kMostOfUser = 32;
constexpr int kAtOnce = 64;  // are let in before those who have asked are served
constexpr std::int64_t kPatienceNs = 2'000'000'000;

Status make_folder(const std::string& path) {
  const std::string folder(dir_name(path));
  // Everybody may come to the socket, whatever the umask; nobody else may put files beside it.
  constexpr mode_t kForAll = 0755;
  if (!is_directory(folder)) {
    FATHOM_TRY(make_dirs(folder));
    if (::chmod(folder.c_str(), kForAll) != 0) return os_error(errno, "set mode of " + folder);
  }
  struct stat facts {};
  if (::stat(folder.c_str(), &facts) != 0) return os_error(errno, "look at " + folder);
  const bool is_safe = facts.st_uid == 0 || facts.st_uid == ::geteuid();
  if (is_safe) return {};
  return Error{Code::kDenied, folder + " belongs to another user",
               "choose another path with --socket"};
}

Result<Fd> listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{Code::kInvalid, "the socket's path is too long: " + path,
                 "choose a shorter one with --socket"};
  path.copy(address.sun_path, path.size());
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return os_error(errno, "make a socket");
  ::unlink(path.c_str());  // of a daemon that is gone: we have the lock
  constexpr mode_t kForAll = 0666;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), kForAll) != 0 || ::listen(fd.get(), kWaiting) != 0)
    return os_error(errno, "listen at " + path, "choose another path with --socket");
  return fd;
}

}  // namespace

Result<WatchServer> WatchServer::open(const std::string& path) {
  FATHOM_TRY(make_folder(path));
  FATHOM_ASSIGN(std::optional<trace::FileLock> lock,
                trace::FileLock::attempt(path + ".lock", trace::FileLock::Mode::kExclusive));
  if (!lock)
    return Error{Code::kDenied, "another daemon listens at " + path,
                 "stop it, or choose another path with --socket"};
  FATHOM_ASSIGN(Fd fd, listen_at(path));
  return WatchServer(path, std::move(*lock), std::move(fd));
}

WatchServer::WatchServer(std::string path, trace::FileLock lock, Fd fd)
    : path_(std::move(path)), lock_(std::move(lock)), fd_(std::move(fd)) {}

WatchServer::~WatchServer() { close(); }

void WatchServer::close() {
  if (fd_.valid()) ::unlink(path_.c_str());
  fd_.reset();
  callers_.clear();
}

void WatchServer::add_to(std::vector<pollfd>& waiting) const {
  waiting.push_back({fd_.get(), POLLIN, 0});
  for (const Caller& caller : callers_) waiting.push_back({caller.fd.get(), POLLIN, 0});
}

void WatchServer::send_away(std::vector<Caller>::iterator caller, const Answer& answer) {
  if (!serve_one(*caller, answer)) ++unserved_;
  callers_.erase(caller);
}

// Whoever has many callers here loses the one that came first.
void WatchServer::make_room(uid_t user, const Answer& answer) {
  const auto of = [](uid_t one) {
    return [one](const Caller& caller) { return caller.who.uid == one; };
  };
  if (std::ranges::count_if(callers_, of(user)) >= kMostOfUser)
    send_away(std::ranges::find_if(callers_, of(user)), answer);
  if (callers_.size() < kMostCallers) return;
  std::map<uid_t, std::size_t> counts;
  for (const Caller& caller : callers_) ++counts[caller.who.uid];
  const uid_t most =
      std::ranges::max_element(counts, {}, &std::pair<const uid_t, std::size_t>::second)->first;
  send_away(std::ranges::find_if(callers_, of(most)), answer);
}

// Whether more of them may wait.
bool WatchServer::accept_some(const Answer& answer) {
  for (int i = 0; i < kAtOnce; ++i) {
    Fd fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid()) return false;
    ucred who{};
    socklen_t size = sizeof who;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) continue;
    make_room(who.uid, answer);
    callers_.push_back({std::move(fd), who, now_monotonic_ns()});
  }
  return true;
}

// Whether we are done with the caller. The reply fits into an empty queue; who does not read it has
// had it.
bool WatchServer::serve_one(const Caller& caller, const Answer& answer) {
  std::byte packet[sizeof(fathom_watch_request) + 1];
  const ssize_t got = ::recv(caller.fd.get(), packet, sizeof packet, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    const bool late = now_monotonic_ns() - caller.came_ns > kPatienceNs;
    unserved_ += late ? 1 : 0;
    return late;
  }
  if (got <= 0) return true;
  const Result<WatchRequest> request =
      parse_watch_request(std::span(packet, static_cast<std::size_t>(got)));
  const Result<std::string> said =
      request ? answer(*request, caller.who) : Result<std::string>(request.error());
  const std::string reply =
      said ? format_watch_reply(Status(), *said) : format_watch_reply(Status(said.error()), "");
  (void)::send(caller.fd.get(), reply.data(), reply.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return true;
}

void WatchServer::serve(const Answer& answer) {
  constexpr int kRounds = 16;  // there is other work to do
  bool more = true;
  for (int round = 0; more && round < kRounds; ++round) {
    more = accept_some(answer);
    std::erase_if(callers_, [&](const Caller& caller) { return serve_one(caller, answer); });
  }
}

void WatchServer::pulse() const { (void)::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0); }

}  // namespace fathom::session
