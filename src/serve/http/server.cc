// SPDX-License-Identifier: MIT
// Accepts connections and ends well. All of it runs in one thread, so nothing here has a lock.
#include "serve/http/server.h"

#include <openssl/ssl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>

#include "base/escape.h"
#include "serve/http/connection.h"

namespace fathom::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kAwaited = asio::as_tuple(asio::use_awaitable);

constexpr std::chrono::milliseconds kPauseWithoutFiles{100};
// Written without asking anybody: there is no room for a connection that could be asked.
constexpr std::string_view kFull =
    "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Type: application/json\r\n"
    "Content-Length: 32\r\nConnection: close\r\n\r\n{\"error\":\"too many connections\"}";

Result<tcp::endpoint> resolve(const Address& address) {
  asio::io_context context;
  error_code error;
  const auto found = tcp::resolver(context).resolve(address.host, std::to_string(address.port),
                                                    tcp::resolver::passive, error);
  if (error || found.empty())
    return Error{Code::kNotFound,
                 "--listen: no address found for '" + escape_name(address.host) + "' (" +
                     error.message() + ")",
                 ""};
  return found.begin()->endpoint();
}

std::string shown(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data()
                                                                             : "localhost";
}

// What only attackers ask for is off: renegotiation costs a server more than its client,
// compression tells the length of secrets.
Status configure(asio::ssl::context& context, const TlsKeys& keys) {
  error_code error;
  ::SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  ::SSL_CTX_set_options(context.native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  context.use_certificate_chain(asio::buffer(keys.certificate), error);
  if (error)
    return Error{Code::kInvalid, "--cert holds no certificate in PEM (" + error.message() + ")",
                 ""};
  context.use_private_key(asio::buffer(keys.key), asio::ssl::context::pem, error);
  if (error)
    return Error{Code::kInvalid,
                 "--key is not the certificate's key in PEM (" + error.message() + ")", ""};
  return {};
}

}  // namespace

class Server::Core {
 public:
  Core(Router& router, Address address)
      : pool_(router.limits().workers),
        acceptor_(io_),
        signals_(io_),
        give_up_(io_),
        address_(std::move(address)) {
    state_.router = &router;
    state_.io = &io_;
    state_.pool = &pool_;
    state_.ended = [this] { end_if_done(); };
  }

  // Coroutines that are left go before what they use.
  ~Core() {
    pool_.join();
    for (const auto& [number, connection] : state_.connections) connection->close();
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  Status listen(const std::optional<TlsKeys>& keys) {
    if (keys) {
      tls_.emplace(asio::ssl::context::tls_server);
      FATHOM_TRY(configure(*tls_, *keys));
      state_.tls = &*tls_;
    }
    FATHOM_ASSIGN(const tcp::endpoint endpoint, resolve(address_));
    error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error && endpoint.address().is_v6()) {
      error_code no_ipv4;  // then IPv6 alone
      acceptor_.set_option(asio::ip::v6_only(false), no_ipv4);
    }
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    // One that comes before run() waits for it.
    if (!error) signals_.add(SIGINT, error);
    if (!error) signals_.add(SIGTERM, error);
    if (!error) return {};
    return Error{Code::kIo,
                 "cannot listen on " + shown(address_.host) + ":" + std::to_string(address_.port) +
                     ": " + error.message(),
                 "choose another port, or 0 for a free one"};
  }

  // Accepting asks nothing of the address, so a socket of another kind will do.
  Status take(UnixListener listener) {
    error_code error;
    local_ = std::move(listener);
    acceptor_.assign(tcp::v4(), local_->socket.get(), error);
    if (!error) (void)local_->socket.release();
    if (!error) signals_.add(SIGINT, error);
    if (!error) signals_.add(SIGTERM, error);
    if (!error) return {};
    return Error{Code::kIo, "cannot listen on " + local_->path.path() + ": " + error.message(), ""};
  }

  [[nodiscard]] tcp::endpoint place() const {
    error_code error;
    return local_ ? tcp::endpoint() : acceptor_.local_endpoint(error);
  }

  [[nodiscard]] std::string url(bool local) const {
    if (local_) return "http://localhost";
    error_code error;
    const tcp::endpoint endpoint = acceptor_.local_endpoint(error);
    std::string host = shown(address_.host);
    if (endpoint.address().is_unspecified())
      host = !local ? machine_name() : endpoint.address().is_v4() ? "127.0.0.1" : "[::1]";
    return (tls_ ? "https://" : "http://") + host + ":" + std::to_string(endpoint.port());
  }

  void run() {
    signals_.async_wait([this](const error_code& error, int /*number*/) {
      if (!error) begin_stop();
    });
    asio::co_spawn(io_, accept_all(), asio::detached);
    io_.run();
    pool_.join();  // nobody uses the store any more
  }

  void stop() {
    asio::post(io_, [this] { begin_stop(); });
  }

  void when_stopping(std::function<void()> call) { when_stopping_ = std::move(call); }

 private:
  asio::awaitable<void> accept_all() {
    asio::steady_timer pause(io_);
    while (!state_.stopping) {
      auto [error, socket] = co_await acceptor_.async_accept(kAwaited);
      if (state_.stopping) break;
      if (error) {  // no descriptors left, perhaps: some will close
        pause.expires_after(kPauseWithoutFiles);
        (void)co_await pause.async_wait(kAwaited);
        continue;
      }
      welcome(std::move(socket));
    }
  }

  // Beyond the limit a stranger is told so, if that takes no waiting: with TLS it would.
  void welcome(tcp::socket socket) {
    error_code ignored;
    if (state_.connections.size() >= state_.router->limits().connections && !make_room()) {
      state_.router->metrics().count_refusal("connections");
      socket.non_blocking(true, ignored);
      if (!tls_) socket.write_some(asio::buffer(kFull), ignored);
      return;
    }
    const bool is_ipv6 = !local_ && socket.local_endpoint(ignored).address().is_v6();
    start_connection(state_, Fd(socket.release(ignored)), is_ipv6);
  }

  // The oldest that showed no token and is waited for: silent strangers keep nobody out.
  bool make_room() {
    for (const auto& [number, connection] : state_.connections) {
      if (!connection->give_way()) continue;
      state_.router->metrics().count_refusal("gave way");
      return true;
    }
    return false;
  }

  // Connections end after what they are at; those that do not within the limit are left, and the
  // loop ends without them.
  void begin_stop() {
    if (state_.stopping) return;
    state_.stopping = true;
    if (when_stopping_) when_stopping_();
    error_code ignored;
    acceptor_.close(ignored);
    for (const auto& [number, connection] : state_.connections) connection->stop();
    give_up_.expires_after(state_.router->limits().stop_time);
    give_up_.async_wait([this](const error_code& error) {
      if (!error) io_.stop();
    });
    end_if_done();
  }

  void end_if_done() {
    if (!state_.stopping || !state_.connections.empty()) return;
    give_up_.cancel();
    signals_.cancel();
  }

  // In this order: what comes later uses what stands before it.
  ServerState state_;
  std::optional<asio::ssl::context> tls_;
  asio::thread_pool pool_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::signal_set signals_;
  asio::steady_timer give_up_;
  Address address_;
  std::function<void()> when_stopping_;
  std::optional<UnixListener> local_;  // its descriptor is the acceptor's
};

Result<bool> is_loopback(const Address& address) {
  FATHOM_ASSIGN(const tcp::endpoint endpoint, resolve(address));
  return endpoint.address().is_loopback();
}

Result<Server> Server::listen(Router& router, const Address& address,
                              const std::optional<TlsKeys>& tls) {
  auto core = std::make_unique<Core>(router, address);
  FATHOM_TRY(core->listen(tls));
  return Server(std::move(core));
}

Result<Server> Server::take(Router& router, UnixListener listener) {
  auto core = std::make_unique<Core>(router, Address{"localhost", 0});
  FATHOM_TRY(core->take(std::move(listener)));
  return Server(std::move(core));
}

Server::Server(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Server::Server(Server&& other) noexcept = default;
Server::~Server() = default;
std::string Server::url() const { return core_->url(/*local=*/false); }
std::string Server::local_url() const { return core_->url(/*local=*/true); }
std::uint16_t Server::port() const { return core_->place().port(); }
bool Server::is_open_to_all() const {
  return port() != 0 && core_->place().address().is_unspecified();
}
void Server::run() { core_->run(); }
void Server::stop() { core_->stop(); }
void Server::when_stopping(std::function<void()> call) { core_->when_stopping(std::move(call)); }

}  // namespace fathom::serve
