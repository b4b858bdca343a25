// SPDX-License-Identifier: MIT
// One thread and one connection at a time: whoever asks gets one short page. What a client says is
// read up to a limit of size and time, and only its first line counts.
#include "containers/live_metrics.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/os_error.h"
#include "base/text.h"
#include "containers/instructions.h"

namespace fathom::containers {
namespace {

constexpr int kTickMs = 100;
constexpr int kBacklog = 16;
constexpr std::int64_t kPatienceNs = 2'000'000'000;  // for a client's whole question
constexpr std::size_t kMostQuestion = 8192;

struct Place {
  std::string address = "127.0.0.1";
  std::string port;
};

Place place_of(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  if (colon == std::string::npos) return {.port = where};
  std::string address = where.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']'))
    address = address.substr(1, address.size() - 2);
  return {.address = address, .port = where.substr(colon + 1)};
}

std::string bound_address(int door) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  auto* const address = reinterpret_cast<sockaddr*>(&bound);
  if (::getsockname(door, address, &size) != 0 ||
      ::getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "";
  const bool is_long = bound.ss_family == AF_INET6;
  return fmt::format("{}{}{}:{}", is_long ? "[" : "", host.data(), is_long ? "]" : "", port.data());
}

Result<Fd> open_door(const std::string& where) {
  const Place place = place_of(where);
  addrinfo wanted{};
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (!is_metrics_place(where) ||
      ::getaddrinfo(place.address.c_str(), place.port.c_str(), &wanted, &found) != 0)
    return Error{Code::kInvalid,
                 "'" + escape_control(where) + "' is not an address that metrics can be served at",
                 "write it as PORT or ADDRESS:PORT"};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, ::freeaddrinfo);
  Fd door(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (!door.valid() || ::setsockopt(door.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(door.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(door.get(), kBacklog) != 0)
    return os_error(errno, "serve metrics at " + escape_control(where));
  return door;
}

bool can_read(int fd, int wait_ms) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, wait_ms) > 0;
}

// Up to the empty line behind the head.
std::string question_of(int connection) {
  std::string all;
  const std::int64_t until = now_monotonic_ns() + kPatienceNs;
  while (all.find("\r\n\r\n") == std::string::npos && all.size() < kMostQuestion &&
         now_monotonic_ns() < until) {
    std::array<char, 1024> piece;
    if (!can_read(connection, kTickMs)) continue;
    const ssize_t got = ::recv(connection, piece.data(), piece.size(), 0);
    if (got <= 0) break;
    all.append(piece.data(), static_cast<std::size_t>(got));
  }
  return all;
}

std::string response_of(std::string_view status, std::string_view body) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, body.size(), body);
}

// Letters, digits and '_' are all that a name may have.
std::string plain_name(std::string_view name) {
  std::string plain = "fathom_";
  for (const char c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    plain += fits ? c : '_';
  }
  return plain;
}

std::string label_text(std::string_view text) {
  std::string quoted;
  for (const char c : escape_control(std::string(text))) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted;
}

}  // namespace

Result<std::unique_ptr<LiveMetrics>> LiveMetrics::serve(const std::string& where) {
  auto metrics = std::make_unique<LiveMetrics>();
  FATHOM_ASSIGN(metrics->door_, open_door(where));
  metrics->address_ = bound_address(metrics->door_.get());
  metrics->thread_ =
      std::jthread([self = metrics.get()](const std::stop_token& stop) { self->work(stop); });
  return metrics;
}

void LiveMetrics::begin_run(const std::string& application, std::string_view kind) {
  const std::scoped_lock guard(mutex_);
  series_.clear();
  labels_ = fmt::format("application=\"{}\",run=\"{}\"", label_text(application), kind);
}

void LiveMetrics::take(const trace::Strings& strings, std::span<const trace::CounterRow> rows) {
  const std::scoped_lock guard(mutex_);
  for (const trace::CounterRow& row : rows) {
    if (row.pid != trace::kNull32) continue;
    series_.insert_or_assign(
        std::string(strings.view(row.name)),
        Series{.unit = std::string(strings.view(row.unit)), .value = row.value});
  }
}

// Seconds and bytes are what Prometheus' names end with.
std::string LiveMetrics::text() const {
  constexpr double kNs = 1e9;
  const std::scoped_lock guard(mutex_);
  std::string out;
  for (const auto& [name, series] : series_) {
    const bool is_time = series.unit == "ns";
    const std::string full = plain_name(name) + (is_time                  ? "_seconds"
                                                 : series.unit == "bytes" ? "_bytes"
                                                                          : "");
    out += fmt::format("# TYPE {0} untyped\n{0}{{{1}}} {2}\n", full, labels_,
                       is_time ? series.value / kNs : series.value);
  }
  return out;
}

void LiveMetrics::work(const std::stop_token& stop) const {
  while (!stop.stop_requested()) {
    if (!can_read(door_.get(), kTickMs)) continue;
    const Fd connection(::accept4(door_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.valid()) answer(connection.get());
  }
}

void LiveMetrics::answer(int connection) const {
  const timeval patience{.tv_sec = kPatienceNs / 1'000'000'000, .tv_usec = 0};
  ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const std::string question = question_of(connection);
  const bool is_known = question.starts_with("GET /metrics ") || question.starts_with("GET / ");
  const std::string response = is_known ? response_of("200 OK", text())
                                        : response_of("404 Not Found", "metrics are at /metrics\n");
  (void)::send(connection, response.data(), response.size(), MSG_NOSIGNAL);
}

void TappedSource::drain(trace::Strings& strings, trace::HostRows& rows) {
  const std::size_t before = rows.counters.rows.size();
  source_.drain(strings, rows);
  metrics_.take(strings, std::span(rows.counters.rows).subspan(before));
}

}  // namespace fathom::containers
