// SPDX-License-Identifier: MIT
#include "containers/engine_stream.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/os_error.h"
#include "fleet/http_answer.h"

namespace fathom::containers {
namespace {

Result<Fd> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{Code::kInvalid, "the path of the engine's socket is too long", ""};
  path.copy(address.sun_path, path.size());
  Fd line(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!line.valid() ||
      ::connect(line.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    Error error = os_error(errno, "reach the engine at " + path);
    error.code = Code::kUnavailable;
    return error;
  }
  return line;
}

Error gone() { return {Code::kUnavailable, "the engine has gone away", ""}; }

}  // namespace

EngineStream::EngineStream(Fd line, std::unique_ptr<fleet::AnswerReader> reader)
    : line_(std::move(line)), reader_(std::move(reader)) {}
EngineStream::EngineStream(EngineStream&&) noexcept = default;
EngineStream& EngineStream::operator=(EngineStream&&) noexcept = default;
EngineStream::~EngineStream() = default;

Result<EngineStream> EngineStream::open(const std::string& socket, const std::string& target,
                                        const Takes& take) {
  FATHOM_ASSIGN(Fd line, connect_to(socket));
  const std::string request = "POST " + target +
                              " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: fathom\r\n"
                              "Content-Length: 0\r\n\r\n";
  // A request is shorter than any socket's buffer.
  if (::send(line.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size()))
    return gone();
  return EngineStream(std::move(line), std::make_unique<fleet::AnswerReader>(false, take));
}

bool EngineStream::has_ended() const { return ended_; }

int EngineStream::status() const { return reader_->has_head() ? reader_->head().status : 0; }

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
    ended_ = reader_->is_done();
    if (static_cast<std::size_t>(got) < piece.size()) return {};
  }
  return {};
}

Status EngineStream::wait_until(int limit_ms, const std::function<bool()>& is_there) {
  constexpr std::int64_t kMsNs = 1'000'000;
  const std::int64_t end = now_monotonic_ns() + limit_ms * kMsNs;
  while (!is_there() && !ended_) {
    const std::int64_t left = (end - now_monotonic_ns()) / kMsNs;
    pollfd waiting{line_.get(), POLLIN, 0};
    if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left)) == 0) return gone();
    FATHOM_TRY(read());
  }
  return is_there() ? Status() : Status(gone());
}

Status EngineStream::wait_for_head(int limit_ms) {
  return wait_until(limit_ms, [this] { return reader_->has_head(); });
}

Status EngineStream::wait_for_end(int limit_ms) {
  return wait_until(limit_ms, [this] { return ended_; });
}

}  // namespace fathom::containers
