// SPDX-License-Identifier: MIT
// Speaks HTTP over the engine's Unix socket with poll() and short slices, so that each wait sees
// its limit, the caller's wish to stop, and a pending signal.
#include "containers/engine_stream.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/clock.h"
#include "base/os_error.h"
#include "base/text.h"
#include "fleet/http/http_answer.h"

namespace fathom::containers {
namespace {

constexpr std::int64_t kMsNs = 1'000'000;
constexpr int kConnectMs = 5'000;
constexpr int kSilenceMs = 120'000;  // of an engine that takes no more bytes
constexpr int kSliceMs = 200;        // between two looks for signals
constexpr int kSignalMs = 5'000;     // an engine that is alive answers within this time

Error cannot_reach(int number, const std::string& path) {
  if (number == EACCES || number == EPERM)
    return {Code::kUnavailable,
            "no permission to use the container engine at " + escape_control(path),
            "join the group of its socket (usermod -aG docker USER), or run this as root"};
  Error error = os_error(number, "reach the engine at " + path);
  error.code = Code::kUnavailable;
  return error;
}

// An engine that takes nobody in has a full queue: it is tried for a while.
Result<Fd> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{Code::kInvalid, "the path of the engine's socket is too long", ""};
  path.copy(address.sun_path, path.size());
  Fd line(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const std::int64_t end = now_monotonic_ns() + kConnectMs * kMsNs;
  while (line.valid() &&
         ::connect(line.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno != EAGAIN || now_monotonic_ns() > end) return cannot_reach(errno, path);
    ::poll(nullptr, 0, kSliceMs);
  }
  if (!line.valid()) return cannot_reach(errno, path);
  return line;
}

// Signals wait in a queue (session::SignalQueue), which is read by whoever is in charge.
bool is_told_to_end() {
  sigset_t waiting;
  sigemptyset(&waiting);
  sigpending(&waiting);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    if (sigismember(&waiting, number) == 1) return true;
  }
  return false;
}

// A line end or a blank in a target would be a request of its own.
bool is_clean(std::string_view target) {
  return std::ranges::none_of(
      target, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; });
}

std::string head_of(const fleet::HttpRequest& request) {
  std::string head = request.method + " " + request.target +
                     " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: fathom\r\n";
  for (const fleet::HttpHeader& header : request.headers)
    head += header.name + ": " + header.value + "\r\n";
  return head + "Content-Length: " + std::to_string(request.body.size()) + "\r\n\r\n";
}

Error gone() { return {Code::kUnavailable, "the engine closed the connection", ""}; }

Status send_all(int line, std::string_view bytes) {
  std::int64_t end = now_monotonic_ns() + kSilenceMs * kMsNs;
  while (!bytes.empty()) {
    const ssize_t sent = ::send(line, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      end = now_monotonic_ns() + kSilenceMs * kMsNs;
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) return {};  // its answer says why it reads no more
    if (now_monotonic_ns() > end || is_told_to_end()) return gone();
    pollfd waiting{line, POLLOUT, 0};
    ::poll(&waiting, 1, kSliceMs);
  }
  return {};
}

}  // namespace

EngineStream::EngineStream(Fd line, std::unique_ptr<fleet::AnswerReader> reader)
    : line_(std::move(line)), reader_(std::move(reader)) {}
EngineStream::EngineStream(EngineStream&&) noexcept = default;
EngineStream& EngineStream::operator=(EngineStream&&) noexcept = default;
EngineStream::~EngineStream() = default;

Result<EngineStream> EngineStream::open(const std::string& socket,
                                        const fleet::HttpRequest& request, const Takes& take) {
  if (!is_clean(request.target))
    return Error{Code::kInvalid, "a request to the engine cannot have a line end in it", ""};
  FATHOM_ASSIGN(Fd line, connect_to(socket));
  FATHOM_TRY(send_all(line.get(), head_of(request)));
  FATHOM_TRY(send_all(line.get(), request.body));
  return EngineStream(std::move(line), std::make_unique<fleet::AnswerReader>(false, take));
}

bool EngineStream::has_ended() const { return ended_; }

int EngineStream::status() const { return reader_->has_head() ? reader_->head().status : 0; }

// What is there, and no more: whoever polls other things goes on with them.
Status EngineStream::read() {
  std::array<char, std::size_t{64} << 10> piece;
  while (!ended_) {
    const ssize_t got = ::recv(line_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (got <= 0) {
      ended_ = true;
      return reader_->finish() ? Status() : Status(gone());
    }
    FATHOM_TRY(reader_->feed({piece.data(), static_cast<std::size_t>(got)}));
    ended_ = reader_->is_done() || reader_->is_stopped();
    if (static_cast<std::size_t>(got) < piece.size()) return {};
  }
  return {};
}

// A signal ends a wait only when an engine had its time to answer: what was begun is rather
// finished than left half done.
Status EngineStream::wait_until(int limit_ms, const std::function<bool()>& is_there,
                                const std::function<bool()>& go_on) {
  const std::int64_t begin = now_monotonic_ns();
  while (!is_there() && !ended_) {
    const std::int64_t waited = (now_monotonic_ns() - begin) / kMsNs;
    const bool is_late = waited >= limit_ms || (waited >= kSignalMs && is_told_to_end());
    if (is_late || (go_on && !go_on())) return gone();
    pollfd waiting{line_.get(), POLLIN, 0};
    ::poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(kSliceMs, limit_ms - waited)));
    FATHOM_TRY(read());
  }
  return is_there() ? Status() : Status(gone());
}

Status EngineStream::wait_for_head(int limit_ms) {
  return wait_until(limit_ms, [this] { return reader_->has_head(); });
}

Status EngineStream::wait_for_end(int limit_ms, const std::function<bool()>& go_on) {
  return wait_until(
      limit_ms, [this] { return ended_; }, go_on);
}

}  // namespace fathom::containers
