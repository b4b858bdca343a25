// SPDX-License-Identifier: MIT
// One connection of a client, from its first byte to its last: a coroutine that waits for bytes,
// for the pool, or for the client to take the answer, each for a bounded time.
#include "serve/http/connection.h"

#include <poll.h>

#include <array>
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "serve/http/answer_head.h"
#include "serve/http/request_reader.h"
#include "serve/http/router.h"

namespace fathom::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;

namespace {

using asio::ip::tcp;
using Secure = beast::ssl_stream<beast::tcp_stream>;
using SteadyTime = std::chrono::steady_clock::time_point;
constexpr auto kAwaited = asio::as_tuple(asio::use_awaitable);

template <class Stream>
class Connection : public OpenConnection {
 public:
  Connection(ServerState& state, Stream stream)
      : state_(&state),
        limits_(state.router->limits()),
        stream_(std::move(stream)),
        reader_(limits_),
        timer_(stream_.get_executor()),
        number_(state.welcomed++) {
    state_->connections.emplace(number_, this);
    state_->router->metrics().open_connection();
  }
  ~Connection() override {
    state_->connections.erase(number_);
    state_->router->metrics().close_connection();
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void stop() override {
    timer_.cancel();
    if (gone_) *gone_ = true;
    if (waits_for_head_) close();
  }
  void close() override { lowest().close(); }
  bool give_way() override {
    if (is_known_ || !waits_for_peer_ || gives_way_) return false;
    gives_way_ = true;
    close();
    return true;
  }

  asio::awaitable<void> serve() {
    if (!co_await shake_hands()) co_return;
    bool goes_on = true;
    for (bool first = true; goes_on && !state_->stopping; first = false) {
      goes_on = co_await read_head(first);
      if (goes_on) goes_on = co_await serve_request();
      if (goes_on) reader_.next();
    }
    co_await part();
  }

 private:
  static constexpr bool kIsTls = !std::is_same_v<Stream, beast::tcp_stream>;
  static constexpr std::size_t kPiece = std::size_t{16} << 10;
  static constexpr std::size_t kFilePiece = std::size_t{256} << 10;
  static constexpr std::size_t kMostIgnored = std::size_t{8} << 20;
  static constexpr std::chrono::seconds kParting{2};
  static constexpr std::chrono::milliseconds kLook{100};  // between two looks at a waiting client

  auto& lowest() { return beast::get_lowest_layer(stream_); }
  static SteadyTime in(std::chrono::milliseconds time) {
    return std::chrono::steady_clock::now() + time;
  }

  asio::awaitable<bool> shake_hands() {
    if constexpr (kIsTls) {
      lowest().expires_after(limits_.header_time);
      waits_for_head_ = waits_for_peer_ = true;
      const auto [error] =
          co_await stream_.async_handshake(asio::ssl::stream_base::server, kAwaited);
      waits_for_head_ = waits_for_peer_ = false;
      co_return !error;
    }
    co_return true;
  }

  // false: the peer is gone, or too slow.
  asio::awaitable<bool> read_more(SteadyTime deadline) {
    lowest().expires_at(deadline);
    waits_for_peer_ = true;
    const auto [error, size] = co_await stream_.async_read_some(asio::buffer(piece_), kAwaited);
    waits_for_peer_ = false;
    lowest().expires_never();
    if (error) co_return false;
    reader_.feed({piece_.data(), size});
    co_return true;
  }

  asio::awaitable<bool> read_head(bool first) {
    SteadyTime deadline =
        in(first || reader_.has_begun() ? limits_.header_time : limits_.idle_time);
    bool idle = !first && !reader_.has_begun();
    while (reader_.stage() == RequestReader::Stage::kHead) {
      waits_for_head_ = true;
      const bool more = co_await read_more(deadline);
      waits_for_head_ = false;
      if (!more) co_return false;
      if (std::exchange(idle, false)) deadline = in(limits_.header_time);
    }
    co_return true;
  }

  // How long so many bytes of a body may take: the least rate, but for a grace at the beginning.
  [[nodiscard]] std::chrono::milliseconds body_time(std::uint64_t size) const {
    return limits_.body_grace +
           std::chrono::milliseconds(1000 * size / limits_.body_bytes_a_second);
  }

  asio::awaitable<bool> read_body(Budget::Lease& lease) {
    const SteadyTime start = std::chrono::steady_clock::now();
    while (reader_.stage() == RequestReader::Stage::kBody) {
      const std::size_t size = reader_.body_size();
      if (!lease.resize(std::max<std::size_t>(reader_.request().length, size + kPiece)))
        co_return false;
      if (!co_await read_more(start + body_time(size))) {
        lowest().close();
        co_return true;
      }
    }
    co_return true;
  }

  // Some clients wait for a word before they send a large body.
  asio::awaitable<bool> invite_body() {
    const bool waits = reader_.request().expects_continue && !reader_.has_begun();
    if (!waits || reader_.stage() != RequestReader::Stage::kBody) co_return true;
    co_return co_await write_all("HTTP/1.1 100 Continue\r\n\r\n");
  }

  // false: the connection has served its time.
  asio::awaitable<bool> serve_request() {
    Router& router = *state_->router;
    if (reader_.stage() == RequestReader::Stage::kRefused) co_return co_await refuse_stranger();
    const RequestHead request = reader_.request();
    is_known_ = router.knows(request.head);
    const bool has_body = request.length > 0 || request.chunked;
    if (std::optional<Response> refused = router.refuse(request.head)) {
      refused->closes = has_body || !request.keeps_open;
      const bool written = co_await write(*refused, request.head);
      co_return written && !refused->closes;
    }
    if (router.takes_stream(request.head)) co_return co_await receive(request);
    Budget::Lease lease(router.budget());
    if (request.length <= limits_.body_bytes && !lease.resize(request.length))
      co_return co_await refuse_busy(request);
    reader_.welcome_body(limits_.body_bytes);
    if (!co_await invite_body()) co_return false;
    if (!co_await read_body(lease)) co_return co_await refuse_busy(request);
    if (reader_.stage() == RequestReader::Stage::kRefused) co_return co_await refuse_stranger();
    if (reader_.stage() != RequestReader::Stage::kDone) co_return false;
    co_return co_await answer(request);
  }

  asio::awaitable<bool> answer(const RequestHead& request) {
    std::string body = reader_.take_body();
    const std::size_t received = body.size();
    gone_ = std::make_shared<std::atomic<bool>>(state_->stopping);
    watch_peer();
    Response response = co_await first_answer(request.head, std::move(body));
    *gone_ = true;  // nobody looks any more
    timer_.cancel();
    state_->router->metrics().count_bytes(received, response.body.size());
    if (response.ticker) co_return co_await stream_events(response, request);
    response.closes = response.closes || !request.keeps_open || state_->stopping;
    const bool written = co_await write(response, request.head);
    co_return written && !response.closes;
  }

  // While an answer is made, nobody reads from the client: whether it still waits is asked now and
  // then.
  void watch_peer() {
    timer_.expires_after(kLook);
    timer_.async_wait([this, gone = gone_](const beast::error_code& error) {
      if (error || *gone) return;
      pollfd peer{lowest().socket().native_handle(), POLLRDHUP, 0};
      if (::poll(&peer, 1, 0) > 0 && (peer.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
        *gone = true;
      } else {
        watch_peer();
      }
    });
  }

  // What a worker that cannot be ended goes on using, when this connection may be gone.
  struct Asked {
    explicit Asked(const asio::any_io_executor& of) : executor(of), answered(of) {
      answered.expires_at(SteadyTime::max());
    }
    void take(Response response) {
      if (answer) return;
      answer = std::move(response);
      answered.cancel();
    }

    asio::any_io_executor executor;  // of the connection's thread
    asio::steady_timer answered;     // never runs out
    std::optional<Response> answer;
  };

  // The worker's, or the one that comes in place of it.
  asio::awaitable<Response> first_answer(const Head& head, std::string body) {
    const auto asked = std::make_shared<Asked>(stream_.get_executor());
    const auto take = [asked](Response response) {
      asio::post(asked->executor, [asked, response = std::move(response)]() mutable {
        asked->take(std::move(response));
      });
    };
    asio::post(*state_->pool, [router = state_->router, take, head, gone = gone_,
                               body = std::move(body)]() mutable {
      take(router->answer(head, std::move(body), gone, take));
    });
    while (!asked->answer) (void)co_await asked->answered.async_wait(kAwaited);
    co_return std::move(*asked->answer);
  }

  // What may wait for a disk runs there; this coroutine goes on when it is done.
  template <class Work>
  asio::awaitable<std::invoke_result_t<Work>> in_pool(Work work) {
    auto result =
        co_await asio::co_spawn(*state_->pool, as_coroutine(std::move(work)), asio::use_awaitable);
    co_return std::move(*result);
  }
  template <class Work>  // optional: co_spawn makes empty results
  static asio::awaitable<std::optional<std::invoke_result_t<Work>>> as_coroutine(Work work) {
    co_return work();
  }

  // A body that goes where it is kept as it comes.
  asio::awaitable<bool> receive(const RequestHead& request) {
    Router& router = *state_->router;
    Router::Opened opened = co_await in_pool([&] { return router.open_sink(request.head); });
    if (Response* refused = std::get_if<Response>(&opened))
      co_return co_await end_receiving(request, *refused);
    BodySink& sink = *std::get<0>(opened);
    reader_.welcome_body(std::numeric_limits<std::uint64_t>::max());
    if (!co_await invite_body()) co_return false;
    const SteadyTime start = std::chrono::steady_clock::now();
    std::uint64_t received = 0;
    while (true) {
      const bool whole = reader_.stage() == RequestReader::Stage::kDone;
      if (reader_.stage() == RequestReader::Stage::kRefused) co_return co_await refuse_stranger();
      if (whole || reader_.body_size() >= kFilePiece) {
        const std::string piece = reader_.take_body();
        received += piece.size();
        const Status written = co_await in_pool([&] { return sink.write(piece); });
        if (!written) {
          Response refused = refusal(written.error());
          co_return co_await end_receiving(request, refused);
        }
      }
      if (whole) break;
      const std::uint64_t size = received + reader_.body_size();
      if (!co_await read_more(start + body_time(size))) co_return false;
    }
    Response response = co_await in_pool([&] { return sink.finish(); });
    router.metrics().count_bytes(received, response.body.size());
    response.closes = !request.keeps_open || state_->stopping;
    response = router.counted(request.head, std::move(response));
    const bool written = co_await write(response, request.head);
    co_return written && !response.closes;
  }

  asio::awaitable<bool> end_receiving(const RequestHead& request, Response& response) {
    response.closes = true;
    response = state_->router->counted(request.head, std::move(response));
    co_await write(response, request.head);
    co_return false;
  }

  // What arrived was no request.
  asio::awaitable<bool> refuse_stranger() {
    const Response response = state_->router->count(reader_.refused());
    if (reader_.speaks_old_wire()) {
      co_await write_all(kOldWireLine);
    } else {
      const Head none;
      co_await write(response, none);
    }
    co_return false;
  }

  asio::awaitable<bool> refuse_busy(const RequestHead& request) {
    Response response = state_->router->count(
        refusal(429, "the server has no memory left for this body now", "memory"),
        request.head.method);
    response.closes = true;
    co_await write(response, request.head);
    co_return false;
  }

  asio::awaitable<bool> stream_events(Response& response, const RequestHead& request) {
    if (state_->streams >= limits_.streams) {
      Response full = state_->router->count(
          refusal(429, "too many clients watch events already", "streams"), request.head.method);
      full.closes = true;
      co_await write(full, request.head);
      co_return false;
    }
    ++state_->streams;
    state_->router->metrics().open_stream();
    const std::string head = answer_head(response, /*is_stream=*/true);
    bool good = co_await write_all(head);
    while (good && !state_->stopping) {
      timer_.expires_after(std::chrono::seconds(1));
      (void)co_await timer_.async_wait(kAwaited);
      const std::optional<std::string> text = co_await in_pool([&] { return response.ticker(); });
      if (!text) break;
      const std::string chunk = as_chunk(*text);
      good = co_await write_all(chunk);
    }
    if (good) co_await write_all(kLastChunk);
    --state_->streams;
    state_->router->metrics().close_stream();
    co_return false;
  }

  // No temporary that has a destructor stands beside a co_await here: g++ 12 ends some twice.
  asio::awaitable<bool> write(const Response& response, const Head& head) {
    std::string text = answer_head(response, /*is_stream=*/false);
    const bool bare = head.method == "HEAD";
    const bool small = !response.body.file && response.body.size() < kPiece;
    if (small && !bare) text += response.body.text;
    if (!co_await write_all(text)) co_return false;
    if (small || bare) co_return true;
    if (response.body.file) co_return co_await write_file(response.body);
    co_return co_await write_all(response.body.text);
  }

  // Piece by piece, each within its time: who does not read is let go.
  asio::awaitable<bool> write_all(std::string_view text) {
    while (!text.empty()) {
      const std::string_view piece = text.substr(0, 4 * kPiece);
      lowest().expires_after(limits_.write_time);
      waits_for_peer_ = true;
      const auto [error, size] =
          co_await asio::async_write(stream_, asio::buffer(piece.data(), piece.size()), kAwaited);
      waits_for_peer_ = false;
      lowest().expires_never();
      if (error) co_return false;
      text.remove_prefix(size);
    }
    co_return true;
  }

  asio::awaitable<bool> write_file(const Body& body) {
    for (std::uint64_t done = 0; done < body.length;) {
      const std::size_t size = std::min<std::uint64_t>(kFilePiece, body.length - done);
      const Result<std::string> piece =
          co_await in_pool([&] { return body.file->read_range(body.offset + done, size); });
      if (!piece || piece->size() != size) co_return false;
      if (!co_await write_all(*piece)) co_return false;
      done += size;
    }
    co_return true;
  }

  // Closing with bytes unread would reset the connection, and the peer might never see the answer.
  asio::awaitable<void> part() {
    waits_for_peer_ = true;
    if constexpr (kIsTls) {
      lowest().expires_after(kParting);
      (void)co_await stream_.async_shutdown(kAwaited);
    } else {
      beast::error_code ignored;
      stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
      const SteadyTime deadline = in(kParting);
      waits_for_head_ = true;  // a stop need not wait
      for (std::size_t ignored_bytes = 0; ignored_bytes < kMostIgnored && !state_->stopping;) {
        lowest().expires_at(deadline);
        const auto [error, size] = co_await stream_.async_read_some(asio::buffer(piece_), kAwaited);
        if (error) break;
        ignored_bytes += size;
      }
    }
    lowest().close();
  }

  ServerState* state_;
  Limits limits_;
  Stream stream_;
  RequestReader reader_;
  asio::steady_timer timer_;
  std::array<char, kPiece> piece_;
  std::shared_ptr<std::atomic<bool>> gone_;  // of the request that is being answered
  std::uint64_t number_;
  bool waits_for_head_ = false;
  bool waits_for_peer_ = false;  // to send, or to take what is sent
  bool is_known_ = false;        // the last request came with a token, or the cookie of one
  bool gives_way_ = false;
};

template <class Stream>
void start(ServerState& state, Stream stream) {
  auto connection = std::make_shared<Connection<Stream>>(state, std::move(stream));
  // The handler holds it: the coroutine begins after this function has ended.
  asio::co_spawn(*state.io, connection->serve(),
                 [&state, connection](const std::exception_ptr& /*thrown*/) {
                   asio::post(*state.io, [&state] { state.ended(); });
                 });
}

}  // namespace

void start_connection(ServerState& state, Fd socket, bool is_ipv6) {
  tcp::socket taken(*state.io);
  beast::error_code error;
  taken.assign(is_ipv6 ? tcp::v6() : tcp::v4(), socket.get(), error);
  if (error) return;
  (void)socket.release();
  taken.set_option(tcp::no_delay(true), error);
  if (state.tls != nullptr) {
    start(state, Secure(beast::tcp_stream(std::move(taken)), *state.tls));
  } else {
    start(state, beast::tcp_stream(std::move(taken)));
  }
}

}  // namespace fathom::serve
