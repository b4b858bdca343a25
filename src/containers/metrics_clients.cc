// SPDX-License-Identifier: MIT
// One new client is let in each turn, after the others have had theirs: whoever asks at once is
// answered before a crowd behind it can take its place.
#include "containers/metrics_clients.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <exception>
#include <utility>

#include "base/clock.h"

namespace fathom::containers {
namespace {

bool comes_again(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

MetricsClients::MetricsClients(int door, std::int64_t patience_ns, Answer answer)
    : door_(door), patience_ns_(patience_ns), answer_(std::move(answer)) {
  clients_.reserve(kMost);
}

void MetricsClients::turn(int wait_ms) {
  std::array<pollfd, kMost + 1> waiting{};
  waiting[0] = {door_rests_ ? -1 : door_, POLLIN, 0};
  for (std::size_t i = 0; i < clients_.size(); i++) {
    const Client& client = clients_[i];
    const short events = client.answer.empty() ? POLLIN : POLLOUT;
    waiting[i + 1] = {client.connection.get(), events, 0};
  }
  (void)::poll(waiting.data(), clients_.size() + 1, wait_ms);
  for (std::size_t i = 0; i < clients_.size(); i++) {
    if (waiting[i + 1].revents != 0) go_on(clients_[i]);
  }
  const std::int64_t now = now_monotonic_ns();
  std::erase_if(clients_, [now](const Client& client) {
    return !client.connection.valid() || now >= client.until_ns;
  });
  door_rests_ = false;
  if (waiting[0].revents != 0) accept_one();
}

void MetricsClients::accept_one() {
  Fd connection(::accept4(door_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  door_rests_ = !connection.valid();
  if (door_rests_) return;
  if (clients_.size() == kMost) clients_.erase(clients_.begin());
  clients_.push_back({std::move(connection), now_monotonic_ns() + patience_ns_});
}

void MetricsClients::go_on(Client& client) const {
  try {
    if (client.answer.empty()) receive(client);
    if (!client.answer.empty()) send(client);
  } catch (const std::exception&) {  // no memory: this client gets no answer
    client.connection.reset();
  }
}

// The question ends with the empty line behind the head, or where it cannot go on.
void MetricsClients::receive(Client& client) const {
  std::array<char, kMostQuestion> piece;
  const ssize_t got = ::recv(client.connection.get(), piece.data(),
                             kMostQuestion - client.question.size(), MSG_DONTWAIT);
  if (got < 0) {
    if (!comes_again(errno)) client.connection.reset();
    return;
  }
  client.question.append(piece.data(), static_cast<std::size_t>(got));
  if (got > 0 && client.question.size() < kMostQuestion &&
      client.question.find(kEndOfHead) == std::string::npos)
    return;
  client.answer = answer_(client.question);
  client.until_ns = now_monotonic_ns() + patience_ns_;  // making it may have taken long
}

void MetricsClients::send(Client& client) {
  const std::string_view rest = std::string_view(client.answer).substr(client.sent);
  const ssize_t sent =
      ::send(client.connection.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) client.sent += static_cast<std::size_t>(sent);
  const bool failed = sent < 0 && !comes_again(errno);
  if (failed || client.sent == client.answer.size()) client.connection.reset();
}

}  // namespace fathom::containers
