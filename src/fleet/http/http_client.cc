// SPDX-License-Identifier: MIT
// Three kinds of connection (TCP, TLS, Unix socket) with one exchange. Each request runs an event
// loop of its own until it is answered or its time is over.
#include "fleet/http/http_client.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <optional>
#include <random>
#include <thread>
#include <variant>

#include "base/hex.h"
#include "base/text.h"
#include "fleet/http/http_answer.h"
#include "fleet/http/http_url.h"

namespace fathom::fleet {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

using Plain = beast::tcp_stream;
using Secure = beast::ssl_stream<beast::tcp_stream>;
using Local = beast::basic_stream<asio::local::stream_protocol>;

constexpr auto kAwaited = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kPiece = std::size_t{64} << 10;
constexpr std::chrono::milliseconds kFirstPause{100};
constexpr std::chrono::milliseconds kLongestPause{5'000};

// By HTTP's own rule: doing it twice is doing it once.
bool may_repeat(const HttpRequest& request) {
  return request.repeatable || request.method == "GET" || request.method == "HEAD" ||
         request.method == "PUT" || request.method == "DELETE";
}

// A line end in a value would be a header of its own.
bool is_clean(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

Result<std::string> text_of(const HttpRequest& request, const HttpUrl& url,
                            const std::vector<HttpHeader>& always) {
  std::string text = request.method + " " + url.prefix + request.target +
                     " HTTP/1.1\r\nHost: " + url.authority() + "\r\nUser-Agent: fathom\r\n";
  bool clean = is_clean(request.method) && is_clean(request.target) &&
               request.target.find(' ') == std::string::npos;
  for (const auto* headers : {&always, &request.headers}) {
    for (const HttpHeader& header : *headers) {
      clean = clean && is_clean(header.name) && is_clean(header.value);
      text += header.name + ": " + header.value + "\r\n";
    }
  }
  if (!clean) return Error{Code::kInvalid, "a request cannot have a line end in its header", ""};
  const std::uint64_t size =
      request.content != nullptr ? request.content_size : request.body.size();
  if (size > 0 || request.method == "POST" || request.method == "PUT")
    text += "Content-Length: " + std::to_string(size) + "\r\n";
  return text + "\r\n";
}

// Trusts the one certificate that has the fingerprint, whoever signed it.
// The whole certificate's, so that nothing about it can be another one's.
bool has_fingerprint(X509_STORE_CTX* store, const std::string& wanted) {
  X509* const certificate = ::X509_STORE_CTX_get0_cert(store);
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> hash;
  unsigned size = 0;
  if (certificate == nullptr || ::X509_digest(certificate, ::EVP_sha256(), hash.data(), &size) != 1)
    return false;
  return same_letters(to_hex(std::span(hash).first(size)), wanted);
}

}  // namespace

struct HttpClient::Connection {
  explicit Connection(HttpOptions given) : options(std::move(given)) {}

  HttpOptions options;
  HttpUrl url;
  asio::ssl::context tls{asio::ssl::context::tls_client};
  asio::io_context io{1};
  std::variant<std::monostate, Plain, Secure, Local> stream;  // goes before the loop
  bool denied = false;                                        // by the certificate

  ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] bool is_open() const { return stream.index() != 0; }
  void close() { stream.emplace<std::monostate>(); }

  Status prepare_tls() {
    error_code error;
    ::SSL_CTX_set_min_proto_version(tls.native_handle(), TLS1_2_VERSION);
    tls.set_verify_mode(asio::ssl::verify_peer, error);
    if (!options.fingerprint.empty()) return {};
    if (options.ca_file.empty()) {
      tls.set_default_verify_paths(error);
    } else {
      tls.load_verify_file(options.ca_file, error);
    }
    if (error) return Error{Code::kInvalid, options.ca_file + " holds no certificates in PEM", ""};
    return {};
  }

  [[nodiscard]] Error away(const error_code& error) const {
    const std::string who = url.socket.empty() ? options.url : url.socket;
    const bool late = error == beast::error::timeout;
    return {Code::kUnavailable,
            who + " does not answer (" + (late ? "timed out" : error.message()) + ")",
            "is it running?"};
  }

  asio::awaitable<Status> connect() {
    if (!url.socket.empty()) {
      Local& local = stream.emplace<Local>(io);
      local.expires_after(options.connect_limit);
      const asio::local::stream_protocol::endpoint place(url.socket);
      const auto [error] = co_await local.async_connect(place, kAwaited);
      if (error) co_return away(error);
      co_return Status();
    }
    asio::ip::tcp::resolver resolver(io);
    error_code unknown;
    const auto found = resolver.resolve(url.host, url.port, unknown);
    if (unknown) co_return away(unknown);
    Plain plain(io);
    plain.expires_after(options.connect_limit);
    const auto [error, endpoint] = co_await plain.async_connect(found, kAwaited);
    if (error) co_return away(error);
    error_code ignored;
    plain.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    if (!url.tls) {
      stream.emplace<Plain>(std::move(plain));
      co_return Status();
    }
    co_return co_await shake_hands(std::move(plain));
  }

  asio::awaitable<Status> shake_hands(Plain plain) {
    Secure& secure = stream.emplace<Secure>(std::move(plain), tls);
    ::SSL_set_tlsext_host_name(secure.native_handle(), url.host.c_str());
    error_code ignored;
    secure.set_verify_callback(
        [this, named = asio::ssl::host_name_verification(url.host)](
            bool good, asio::ssl::verify_context& context) mutable {
          const bool trusted = options.fingerprint.empty()
                                   ? named(good, context)
                                   : has_fingerprint(context.native_handle(), options.fingerprint);
          denied = denied || !trusted;
          return trusted;
        },
        ignored);
    beast::get_lowest_layer(secure).expires_after(options.connect_limit);
    const auto [error] = co_await secure.async_handshake(asio::ssl::stream_base::client, kAwaited);
    if (!error) co_return Status();
    if (denied)
      co_return Error{Code::kDenied, "the certificate of " + options.url + " is not trusted",
                      "name the file of its authority, or check the server"};
    co_return away(error);
  }

  // False: the server reads no more. One that refuses may close before it has read everything: its
  // answer is there.
  template <class Stream>
  asio::awaitable<Result<bool>> write(Stream& connection, std::string_view part) {
    while (!part.empty()) {
      beast::get_lowest_layer(connection).expires_after(options.silence_limit);
      const auto [error, size] =
          co_await connection.async_write_some(asio::buffer(part.data(), part.size()), kAwaited);
      if (error && error == beast::error::timeout) co_return away(error);
      if (error) co_return false;
      part.remove_prefix(size);
    }
    co_return true;
  }

  template <class Stream>
  asio::awaitable<Status> write_content(Stream& connection, const HttpRequest& request) {
    for (std::uint64_t at = 0; at < request.content_size;) {
      const std::size_t wanted = std::min<std::uint64_t>(kPiece * 4, request.content_size - at);
      const Result<std::string> piece = request.content->read_range(at, wanted);
      if (!piece) co_return piece.error();
      if (piece->empty())
        co_return Error{Code::kCorrupt, request.content->path() + " became shorter", ""};
      const Result<bool> goes_on = co_await write(connection, *piece);
      if (!goes_on) co_return goes_on.error();
      if (!*goes_on) break;
      at += piece->size();
    }
    co_return Status();
  }

  template <class Stream>
  asio::awaitable<Status> exchange(Stream& connection, std::string_view head,
                                   const HttpRequest& request, AnswerReader& reader) {
    auto& lowest = beast::get_lowest_layer(connection);
    Result<bool> goes_on = co_await write(connection, head);
    if (goes_on && *goes_on) goes_on = co_await write(connection, request.body);
    if (!goes_on) co_return goes_on.error();
    if (*goes_on && request.content != nullptr) {
      if (Status sent = co_await write_content(connection, request); !sent) co_return sent;
    }
    std::array<char, kPiece / 4> piece;
    while (!reader.is_done() && !reader.is_stopped()) {
      lowest.expires_after(options.silence_limit);
      const auto [error, size] = co_await connection.async_read_some(asio::buffer(piece), kAwaited);
      if (error == beast::error::timeout) co_return away(error);
      if (error) co_return reader.finish();
      if (Status fed = reader.feed({piece.data(), size}); !fed) co_return fed;
    }
    co_return Status();
  }

  asio::awaitable<Status> exchange_any(std::string_view head, const HttpRequest& request,
                                       AnswerReader& reader) {
    if (auto* plain = std::get_if<Plain>(&stream))
      co_return co_await exchange(*plain, head, request, reader);
    if (auto* secure = std::get_if<Secure>(&stream))
      co_return co_await exchange(*secure, head, request, reader);
    co_return co_await exchange(*std::get_if<Local>(&stream), head, request, reader);
  }

  // Runs the loop until the coroutine has ended.
  Status run(asio::awaitable<Status> work) {
    std::optional<Status> outcome;
    asio::co_spawn(io, std::move(work), [&](const std::exception_ptr& thrown, Status status) {
      outcome = thrown ? Status(Error{Code::kIo, "the connection failed", ""}) : std::move(status);
    });
    io.restart();
    io.run();
    return outcome ? std::move(*outcome) : Status(Error{Code::kIo, "the connection failed", ""});
  }

  // One attempt. A connection that was kept open may have been closed meanwhile: then once more.
  Result<HttpAnswer> attempt(const HttpRequest& request, const TakesBytes& take) {
    FATHOM_ASSIGN(const std::string head, text_of(request, url, options.headers));
    const bool was_open = is_open();
    bool began = false;
    AnswerReader reader(request.method == "HEAD", [&](std::string_view bytes) {
      began = true;
      return take(bytes);
    });
    Status done;
    if (!was_open) done = run(connect());
    if (done) done = run(exchange_any(head, request, reader));
    if (!done || !reader.keeps_open()) close();
    if (!done && was_open && !began && may_repeat(request) &&
        done.error().code == Code::kUnavailable)
      return attempt(request, take);
    if (!done) return std::move(done).error();
    return reader.head();
  }
};

namespace {

// Milliseconds that a busy server wants us to wait.
std::chrono::milliseconds asked_pause(const HttpAnswer& answer) {
  const Result<std::int64_t> seconds = parse_int(answer.header("retry-after"));
  if (!seconds || *seconds < 0) return std::chrono::milliseconds(0);
  return std::chrono::seconds(std::min<std::int64_t>(*seconds, 60));
}

// Many clients that lost their server at the same moment must not come back at the same moment.
std::chrono::milliseconds scattered(std::chrono::milliseconds pause) {
  thread_local std::minstd_rand chance(std::random_device{}());
  return pause / 2 + std::chrono::milliseconds(static_cast<std::int64_t>(
                         chance() % static_cast<std::uint64_t>(pause.count() / 2 + 1)));
}

}  // namespace

HttpClient::HttpClient(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}
HttpClient::HttpClient(HttpClient&& other) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&& other) noexcept = default;
HttpClient::~HttpClient() = default;

Result<HttpClient> HttpClient::make(HttpOptions options) {
  FATHOM_ASSIGN(HttpUrl url, parse_http_url(options.url));
  auto connection = std::make_unique<Connection>(std::move(options));
  connection->url = std::move(url);
  if (connection->url.tls) FATHOM_TRY(connection->prepare_tls());
  return HttpClient(std::move(connection));
}

Result<HttpAnswer> HttpClient::ask(const HttpRequest& request) {
  const auto end = std::chrono::steady_clock::now() + connection_->options.patience;
  std::chrono::milliseconds pause = kFirstPause;
  while (true) {
    std::string body;
    bool is_large = false;
    const std::size_t most = connection_->options.most_bytes;
    Result<HttpAnswer> answer = connection_->attempt(request, [&](std::string_view bytes) {
      is_large = bytes.size() > most - body.size();
      if (!is_large) body += bytes;
      return !is_large;
    });
    if (is_large)
      return Error{Code::kCorrupt, "the answer of " + connection_->options.url + " is too large",
                   ""};
    if (answer) answer->body = std::move(body);
    const bool busy = answer ? answer->status == 429 || answer->status == 503
                             : answer.error().code == Code::kUnavailable;
    const std::chrono::milliseconds wait =
        std::max(scattered(pause), answer ? asked_pause(*answer) : std::chrono::milliseconds(0));
    if (!busy || !may_repeat(request) || std::chrono::steady_clock::now() + wait >= end)
      return answer;
    std::this_thread::sleep_for(wait);
    pause = std::min(2 * pause, kLongestPause);
  }
}

Result<HttpAnswer> HttpClient::stream(const HttpRequest& request, const TakesBytes& take) {
  return connection_->attempt(request, take);
}

}  // namespace fathom::fleet
