// SPDX-License-Identifier: MIT
// Opens the door and answers questions; who asks, and for how long, is in metrics_clients.h. The
// head is read by the reader of `fathom server`; bodies are nobody's business here.
#include "containers/metrics_door.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/escape.h"
#include "base/os_error.h"
#include "containers/metrics_clients.h"
#include "fleet/http/listen_address.h"
#include "fleet/http/prometheus.h"
#include "fleet/http/request_head.h"

namespace fathom::containers {
namespace {

constexpr int kTickMs = 100;
constexpr int kBacklog = 16;

struct Bound {
  std::string host, port;
  [[nodiscard]] bool is_unspecified() const { return host == "0.0.0.0" || host == "::"; }
  [[nodiscard]] std::string text() const {
    return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
  }
};

// What the kernel chose for port 0.
Bound bound_address(int door) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  auto* const address = reinterpret_cast<sockaddr*>(&bound);
  if (::getsockname(door, address, &size) != 0 ||
      ::getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return {};
  return {host.data(), port.data()};
}

Result<Fd> listen_at(const fleet::Address& address) {
  addrinfo wanted{};
  wanted.ai_flags = AI_NUMERICSERV | AI_PASSIVE;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int failed = ::getaddrinfo(address.host.c_str(), port.c_str(), &wanted, &found);
  if (failed != 0)
    return Error{Code::kNotFound,
                 fmt::format("no address found for '{}' to serve metrics at ({})",
                             escape_name(address.host), ::gai_strerror(failed)),
                 ""};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, ::freeaddrinfo);
  Fd door(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (!door.valid() || ::setsockopt(door.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(door.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(door.get(), kBacklog) != 0)
    return os_error(errno, fmt::format("serve metrics at {}:{}", escape_name(address.host), port));
  return door;
}

std::string answer_of(int status, std::string_view body) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Connection: close\r\n\r\n{}",
      status, fleet::status_words(status), fleet::kPrometheusType, body.size(),
      status == 405 ? "Allow: GET\r\n" : "", body);
}

}  // namespace

std::string metrics_answer(std::string_view question, const fleet::HostNames& hosts,
                           const MetricsText& text) {
  const std::size_t end = question.find(kEndOfHead);
  if (end == std::string_view::npos && question.size() >= kMostQuestion)
    return answer_of(431, "the header is too large\n");
  if (end == std::string_view::npos) return answer_of(400, "this is not HTTP/1.1\n");
  const fleet::HeadOutcome read = fleet::parse_head(question.substr(0, end + kEndOfHead.size()));
  const fleet::HttpHead& head = read.request.head;
  if (read.fault) return answer_of(read.fault->status, std::string(read.fault->what) + "\n");
  if (!hosts.fit(head))
    return answer_of(421, "the header Host is not the address that metrics are served at\n");
  const std::string_view path = std::string_view(head.target).substr(0, head.target.find('?'));
  if (path != "/metrics" && path != "/") return answer_of(404, "metrics are at /metrics\n");
  if (head.method != "GET") return answer_of(405, "metrics can be read (GET)\n");
  return answer_of(200, text());
}

Result<MetricsDoor> MetricsDoor::open(const std::string& where, std::string_view option) {
  MetricsDoor door;
  FATHOM_ASSIGN(const fleet::Address address, fleet::parse_address(where, option));
  FATHOM_ASSIGN(door.door_, listen_at(address));
  const Bound bound = bound_address(door.door_.get());
  door.address_ = bound.text();
  door.has_chosen_port_ = address.port == 0;
  door.hosts_ = fleet::host_names_for(bound.host, bound.is_unspecified());
  door.hosts_.add(address.host);
  return door;
}

std::string MetricsDoor::sentence() const {
  return "metrics are served at http://" + address_ + "/metrics";
}

void MetricsDoor::serve(const std::stop_token& stop, const MetricsText& text,
                        std::int64_t patience_ns) const {
  MetricsClients clients(door_.get(), patience_ns, [&](std::string_view question) {
    return metrics_answer(question, hosts_, text);
  });
  while (!stop.stop_requested()) clients.turn(kTickMs);
}

}  // namespace fathom::containers
